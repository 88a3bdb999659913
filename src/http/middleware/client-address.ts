/** The address of a client, behind proxies too. */
import type { IncomingMessage } from 'node:http';
import { type Address, type AddressBlocks, parseAddress } from '../../domain/access/address-blocks.ts';

/**
 * The client's address: the socket's peer, or, behind trusted proxies, the first address of `X-Forwarded-For`
 * from the right that is not one of them.
 * @returns undefined when a trusted proxy sends no address that can be read
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: AddressBlocks,
): Address | undefined {
  const socketAddress = peer === undefined ? undefined : parseAddress(peer.replace(/%.*$/, ''));
  if (socketAddress === undefined || !trusted.has(socketAddress)) return socketAddress;
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    const address = parseAddress(hop.trim());
    if (address === undefined || !trusted.has(address)) return address;
  }
  return undefined;
}

/**
 * The same as text, for records.
 * @returns null for an address that is not known
 */
export function clientAddressText(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: AddressBlocks,
): string | null {
  const { remoteAddress: peer } = socket;
  // Every response with personal data comes through here, and most services trust no proxy: no parsing.
  if (trusted.texts.length === 0) return peer?.replace(/^::ffff:(?=[0-9.]+$)|%.*$/g, '') ?? null;
  return clientAddress(peer, headers['x-forwarded-for']?.toString(), trusted)?.toString() ?? null;
}

/**
 * Allowlists of a key: the addresses and the websites from which clients may use the key
 * (docs/api.md#authentication). Also finds the client's address, even behind proxies.
 */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiKey } from '../../access/api-keys.ts';
import {
  type Address,
  type AddressBlocks,
  parseAddress,
  parseAddressBlocks,
} from '../../values/address-blocks.ts';
import { PERMISSION_DENIED, refusal } from '../declare/response.ts';
import type { Middleware } from '../declare/route.ts';

/**
 * Returns the client's address: the peer of the socket or, behind trusted proxies, the rightmost address of
 * `X-Forwarded-For` that is not a trusted proxy.
 * @returns undefined if a trusted proxy sends an address that cannot be parsed
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

/** Returns the client's address for records, or null if the address is unknown. */
export function clientAddressText(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: AddressBlocks,
): string | null {
  const { remoteAddress: peer } = socket;
  // Without trusted proxies, the usual case, the address is not parsed. This saves time in every response
  // with personal data.
  if (trusted.texts.length === 0) return peer?.replace(/^::ffff:(?=[0-9.]+$)|%.*$/g, '') ?? null;
  return clientAddress(peer, headers['x-forwarded-for']?.toString(), trusted)?.toString() ?? null;
}

const WRONG_ADDRESS = refusal(403, PERMISSION_DENIED, {}, 'address');
const WRONG_HOST = refusal(403, PERMISSION_DENIED, {}, 'host');

export function checkAllowlists(trustedProxies: AddressBlocks): Middleware {
  // The object of a key stays the same until keys change, so the blocks are parsed once.
  const parsed = new WeakMap<ApiKey, AddressBlocks>();
  function blocksOf(key: ApiKey): AddressBlocks {
    let blocks = parsed.get(key);
    if (blocks === undefined) {
      const allowed = parseAddressBlocks(key.allowedAddresses);
      // Commands store only valid blocks. If the database contains another text, no address is allowed.
      blocks = 'has' in allowed ? allowed : { texts: [], has: () => false };
      parsed.set(key, blocks);
    }
    return blocks;
  }

  return ({ caller, incoming }) => {
    if (caller === undefined) return undefined;
    if (caller.allowedAddresses.length > 0) {
      const forwardedFor = incoming.headers['x-forwarded-for'];
      const peer = incoming.socket.remoteAddress;
      const address = clientAddress(peer, forwardedFor?.toString(), trustedProxies);
      if (address === undefined || !blocksOf(caller).has(address)) return WRONG_ADDRESS;
    }
    return caller.allowedHosts.length > 0 && !admitsHost(caller, incoming.headers) ? WRONG_HOST : undefined;
  };
}

type NamingHeaders = Pick<IncomingHttpHeaders, 'origin' | 'referer' | 'host'>;

/** True if the key's host allowlist contains the host in the headers; false without an allowlist. */
export function admitsHost({ allowedHosts }: Pick<ApiKey, 'allowedHosts'>, headers: NamingHeaders): boolean {
  if (allowedHosts.length === 0) return false;
  const domain = requestDomain(headers) ?? '';
  return allowedHosts.some((pattern) => matchesHost(pattern, domain));
}

/**
 * Returns the host in the first of the headers `Origin`, `Referer` and `Host` that is present. Clients can
 * send any headers, so the check prevents only accidental misuse.
 */
export function requestDomain(headers: NamingHeaders): string | undefined {
  const url =
    headers.origin ?? headers.referer ?? (headers.host === undefined ? undefined : `http://${headers.host}`);
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.toLowerCase().replace(/\.$/, '') || undefined;
}

/** The pattern `*.example.rw` matches only subdomains of `example.rw` (docs/keys.md#create). */
export function matchesHost(pattern: string, domain: string): boolean {
  return pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

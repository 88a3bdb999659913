/** IP addresses and CIDR blocks, used for allowlists of keys and for trusted proxies. */
import ipaddr from 'ipaddr.js';
import { FieldError } from './errors.ts';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Converts an IPv4-mapped IPv6 address to IPv4 (docs/keys.md#create). */
export function parseAddress(text: string): Address | undefined {
  // Refuses a zone index (`%eth0`), because it names a link of this machine instead of a client. Refuses
  // short forms such as `127.1` and octal numbers, because programs interpret them differently.
  if (text.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) {
    return undefined;
  }
  return ipaddr.process(text);
}

/** Public IPv6 addresses. Outside this range, ipaddr.js classifies addresses such as 4000::1 as unicast. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** False also for private and reserved addresses in other notations (IPv4-mapped, NAT64, 6to4, Teredo). */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined || address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_IPV6);
}

export interface AddressBlocks {
  /** Canonical texts, in the order of the input. */
  readonly texts: readonly string[];
  has(address: Address): boolean;
}

type Block = readonly [Address, bits: number];

/** @param texts addresses and CIDR blocks; empty texts are skipped */
export function parseAddressBlocks(texts: readonly string[]): AddressBlocks | FieldError {
  const blocks: Block[] = [];
  for (const text of texts.map((part) => part.trim()).filter((part) => part !== '')) {
    const block = parseBlock(text);
    if (block === undefined)
      return new FieldError(`"${text}" is not an IP address or CIDR block (example: 10.0.0.0/8).`);
    blocks.push(block);
  }
  return {
    texts: blocks.map(([address, bits]) => `${address.toString()}/${bits}`),
    has: (address) =>
      blocks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)),
  };
}

function parseBlock(text: string): Block | undefined {
  const [base = '', length, ...rest] = text.split('/');
  const address = parseAddress(base);
  if (address === undefined || rest.length > 0) return undefined;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (length === undefined) return [address, width];
  if (!/^[0-9]{1,3}$/.test(length)) return undefined;
  // The prefix length of an IPv4-mapped block includes 96 bits of the IPv6 address.
  const bits = Number(length) - (base.includes(':') && width === 32 ? 96 : 0);
  return bits >= 0 && bits <= width ? [address, bits] : undefined;
}

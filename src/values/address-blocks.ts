/** IP addresses and CIDR blocks, for allowlists of keys and trusted proxies. */
import ipaddr from 'ipaddr.js';
import { FieldError } from './errors.ts';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses an address into comparable form; IPv4-mapped IPv6 counts as IPv4 (docs/keys.md#create). */
export function parseAddress(text: string): Address | undefined {
  // Refused forms: a zone index (`%eth0`), as it names a link of this machine and not a client; short forms
  // such as `127.1` and octal numbers, as programs interpret them differently.
  if (text.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) {
    return undefined;
  }
  return ipaddr.process(text);
}

/** Range of all public IPv6 addresses. Others are outside, such as IPv4 addresses written as IPv6. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for a public Internet address: neither private, loopback, link-local, shared, reserved nor multicast,
 * nor a form that maps to one of these (IPv4-mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined || address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_IPV6);
}

export interface AddressBlocks {
  /** Canonical texts, in the order given. */
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
  // The prefix length of a mapped block counts from the start of the IPv6 address.
  const bits = Number(length) - (base.includes(':') && width === 32 ? 96 : 0);
  return bits >= 0 && bits <= width ? [address, bits] : undefined;
}

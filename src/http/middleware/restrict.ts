/** Where a key may be used from: its address and host allowlists (docs/api.md#authentication). */
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressBlocks, parseAddressBlocks } from '../../domain/access/address-blocks.ts';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import { PERMISSION_DENIED } from '../declare/errors.ts';
import { refusal } from '../declare/response.ts';
import { clientAddress } from './client-address.ts';
import type { Middleware } from './middleware.ts';

const WRONG_ADDRESS = refusal(403, PERMISSION_DENIED, {}, 'address');
const WRONG_HOST = refusal(403, PERMISSION_DENIED, {}, 'host');

export function restrict(trustedProxies: AddressBlocks): Middleware {
  // A key object stays the same until a change of keys is seen, so its blocks are parsed once.
  const parsed = new WeakMap<ApiKey, AddressBlocks>();
  function blocksOf(key: ApiKey): AddressBlocks {
    let blocks = parsed.get(key);
    if (blocks === undefined) {
      const found = parseAddressBlocks(key.allowedAddresses);
      // The command stores canonical blocks only. If a file holds anything else, it admits nobody.
      blocks = 'has' in found ? found : { texts: [], has: () => false };
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

/** Whether the host allowlist has the host of the request; one without hosts has none. */
export function admitsHost({ allowedHosts }: Pick<ApiKey, 'allowedHosts'>, headers: NamingHeaders): boolean {
  if (allowedHosts.length === 0) return false;
  const domain = requestDomain(headers) ?? '';
  return allowedHosts.some((pattern) => matchesHost(pattern, domain));
}

/** The host of `Origin`, else of `Referer`, else `Host`: clients choose these, so this only stops misuse. */
export function requestDomain(headers: NamingHeaders): string | undefined {
  const url =
    headers.origin ?? headers.referer ?? (headers.host === undefined ? undefined : `http://${headers.host}`);
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.toLowerCase().replace(/\.$/, '') || undefined;
}

/** `*.example.rw` matches any depth below, not the domain itself (docs/keys.md#create). */
export function matchesHost(pattern: string, domain: string): boolean {
  return pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

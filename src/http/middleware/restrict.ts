/** Where a key may be used from: its address and host allowlists (contract section 3). */
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressBlocks, parseAddressBlocks } from '../../domain/address-blocks.ts';
import type { ApiKey } from '../../domain/api-keys.ts';
import { HttpError, PERMISSION_DENIED } from '../errors.ts';
import type { Call, Middleware } from './call.ts';
import { clientAddress } from './client-address.ts';

export function restrict(trustedProxies: AddressBlocks): Middleware {
  // A key object stays the same until a change of keys is seen, so its blocks are parsed once.
  const parsed = new WeakMap<ApiKey, AddressBlocks>();
  function blocksOf(key: ApiKey): AddressBlocks {
    let blocks = parsed.get(key);
    if (blocks === undefined) {
      const found = parseAddressBlocks(key.allowedAddresses);
      // The command stores canonical blocks only. Should a file hold anything else, nobody is let in by it.
      blocks = 'has' in found ? found : { texts: [], has: () => false };
      parsed.set(key, blocks);
    }
    return blocks;
  }

  return ({ caller, message }: Call) => {
    if (caller === undefined) return;
    if (caller.allowedAddresses.length > 0) {
      const forwardedFor = message.headers['x-forwarded-for'];
      const peer = message.socket.remoteAddress;
      const address = clientAddress(peer, forwardedFor?.toString(), trustedProxies);
      if (address === undefined || !blocksOf(caller).has(address))
        throw new HttpError(403, PERMISSION_DENIED);
    }
    if (caller.allowedHosts.length > 0) {
      const domain = requestDomain(message.headers);
      if (domain === undefined || !caller.allowedHosts.some((pattern) => matchesHost(pattern, domain))) {
        throw new HttpError(403, PERMISSION_DENIED);
      }
    }
  };
}

/** The host of `Origin`, else of `Referer`, else `Host`: a guard against misuse, as a client chooses these. */
export function requestDomain(
  headers: Pick<IncomingHttpHeaders, 'origin' | 'referer' | 'host'>,
): string | undefined {
  const url =
    headers.origin ?? headers.referer ?? (headers.host === undefined ? undefined : `http://${headers.host}`);
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.toLowerCase().replace(/\.$/, '') || undefined;
}

/** `*.example.rw` matches any depth below, not the domain itself (contract section 13). */
export function matchesHost(pattern: string, domain: string): boolean {
  return pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

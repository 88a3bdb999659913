/** Names of webhook targets may lead to public addresses only, unless the operator allows others. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../domain/access/address-blocks.ts';
import { hostOf, isAddress } from '../domain/webhooks/target.ts';

export type Resolve = (
  host: string,
  options: { readonly all: true; readonly family?: number | undefined },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A name leads to an address that is not public. */
export class PrivateAddressError extends Error {}

/** Resolves names, and refuses those of which an address is not public: where the connection is made. */
export const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (host, { family, all }, done) => {
    const options = { all: true, family: typeof family === 'number' ? family : undefined } as const;
    resolve(host, options, (error, addresses) => {
      if (error !== null) done(error, []);
      else if (!addresses.every(({ address }) => isPublicAddress(address)))
        done(new PrivateAddressError(), []);
      else if (all === true) done(null, addresses);
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };

/**
 * Whether a name leads to a private address now, for a warning before the first delivery.
 * @returns undefined when it cannot be resolved
 */
export function leadsToPrivateAddress(
  url: URL,
  resolve: Resolve = systemLookup as Resolve,
): Promise<boolean | undefined> {
  const host = hostOf(url);
  if (isAddress(host)) return Promise.resolve(!isPublicAddress(host));
  return new Promise((settle) =>
    resolve(host, { all: true }, (error, addresses) =>
      settle(error === null ? !addresses.every(({ address }) => isPublicAddress(address)) : undefined),
    ),
  );
}

/** Checks URLs of webhooks and addresses of their hosts (docs/webhooks.md#targets); types of messages. */

import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { EVENT_TYPES } from '../registry/changes/event-types.ts';
import { isPublicAddress } from '../values/address-blocks.ts';
import { FieldError } from '../values/errors.ts';

// Resolution of host names: all addresses must be public, unless the operator allows private addresses

export type Resolve = (
  host: string,
  options: { readonly all: true; readonly family?: number | undefined },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Error of a host name with at least one address that is not public. */
export class PrivateAddressError extends Error {}

/** Returns a function that resolves a host, or fails if an address of the host is not public. */
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

/** @returns true if an address of the host is not public; undefined if the name cannot be resolved */
export const leadsToPrivateAddress = (url: URL): Promise<boolean | undefined> =>
  new Promise((settle) =>
    publicLookup(systemLookup as Resolve)(hostOf(url), { all: true }, (error) => {
      if (error === null) settle(false);
      else settle(error instanceof PrivateAddressError ? true : undefined);
    }),
  );

const MAX_LENGTH = 2_000;

/** Returns a name, or an address without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** @param allowsPrivate allows plain HTTP and private addresses */
export function parseTarget(text: string, allowsPrivate: boolean): URL | FieldError {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol) || text.length > MAX_LENGTH)
    return new FieldError('Expected a URL such as https://portal.example.rw/hooks/registry.');
  if (url.username !== '' || url.password !== '')
    return new FieldError('A URL with a user name or a password is refused: deliveries are signed instead.');
  if (url.hash !== '') return new FieldError('A URL with a fragment (#…) is refused: it is never sent.');
  if (allowsPrivate) return url;
  if (url.protocol !== 'https:')
    return new FieldError('Expected https://. To send over plain HTTP, add --allow-private.');
  if (isIP(hostOf(url)) !== 0 && !isPublicAddress(hostOf(url)))
    return new FieldError(
      'This address is not a public one. To send inside your own network, add --allow-private.',
    );
  return url;
}

// Types of webhook messages (docs/webhooks.md#messages)

/** Types of messages about an import or its undo. One such message is sent instead of one for each event. */
export const IMPORT_TYPES = ['import.completed', 'import.undone'] as const;
export const WEBHOOK_TYPES = [...EVENT_TYPES, ...IMPORT_TYPES, 'feed.restarted'] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

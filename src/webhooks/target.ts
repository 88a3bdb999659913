/**
 * Validates webhook URLs (docs/webhooks.md#targets), and declares the types of messages. For host names,
 * webhooks/post.ts checks the resolved addresses.
 */

import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { EVENT_TYPES } from '../registry/changes/append-and-expire-events.ts';
import { isPublicAddress } from '../values/address-blocks.ts';
import { FieldError } from '../values/errors.ts';

// Name resolution: targets need public addresses unless the operator allows private addresses

export type Resolve = (
  host: string,
  options: { readonly all: true; readonly family?: number | undefined },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Error of a name that resolves to an address that is not public. */
export class PrivateAddressError extends Error {}

/** Returns a resolver that refuses a name if an address of the name is not public. */
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
 * Resolves the host of a URL when an endpoint is added.
 * @returns true if an address is not public; undefined if the name cannot be resolved
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

const MAX_LENGTH = 2_000;

/** Returns the host of a URL, with IPv6 addresses without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** True for an IP address, false for a name. */
const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host) || host.includes(':');

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
  if (isAddress(hostOf(url)) && !isPublicAddress(hostOf(url)))
    return new FieldError(
      'This address is not a public one. To send inside your own network, add --allow-private.',
    );
  return url;
}

// Types of webhook messages (docs/webhooks.md#messages)

/** Types of messages that replace all events of an import, or of its undo. */
export const IMPORT_TYPES = ['import.completed', 'import.undone'] as const;
export const WEBHOOK_TYPES = [...EVENT_TYPES, ...IMPORT_TYPES, 'feed.restarted'] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

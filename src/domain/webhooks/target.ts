/**
 * URLs to which webhooks may be sent (docs/webhooks.md#targets). Names are checked where they are resolved:
 * webhooks/public-lookup.ts.
 */
import { isPublicAddress } from '../access/address-blocks.ts';
import { FieldError } from '../values/errors.ts';

const MAX_LENGTH = 2_000;

/** The host of a URL as it is resolved: IPv6 addresses without their brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Whether a host is an address itself, and needs no resolving. */
export const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host) || host.includes(':');

/** @param allowsPrivate whether plain HTTP and private addresses are allowed */
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

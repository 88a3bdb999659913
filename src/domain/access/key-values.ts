/** What the values of a key may be (docs/keys.md#keys). */
import { DAY_SECONDS, parseDate, parseDateTime, startOfDay, type TimeZone } from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { SCOPES, type Scope } from './api-keys.ts';
import { MAX_LIMIT } from './sliding-window.ts';

export function parseScopes(names: readonly string[]): readonly Scope[] | FieldError {
  return names.every((name) => (SCOPES as readonly string[]).includes(name))
    ? [...new Set(names as Scope[])]
    : new FieldError(`Known scopes: ${SCOPES.join(', ')}.`);
}

const DOMAIN = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Domains in lower case, without the dot that may end them. */
export function parseHosts(texts: readonly string[]): readonly string[] | FieldError {
  const hosts = [...new Set(texts.map((text) => text.toLowerCase().replace(/\.$/, '')))];
  return hosts.every((host) => DOMAIN.test(host))
    ? hosts
    : new FieldError('Expected a domain such as portal.example.rw or *.example.rw, without a port.');
}

/** Requests in a window. */
export const parseRequestLimit = (limit: number): number | FieldError =>
  Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
    ? limit
    : new FieldError(`Expected a number from 1 to ${MAX_LIMIT}.`);

/** Epoch seconds at which a key ends: a date counts through its last second in the zone. */
export function parseKeyExpiry(text: string, zone: TimeZone): number | FieldError {
  // Its end would be shown with five digits in some zone.
  if (text.startsWith('9999'))
    return new FieldError('A key cannot end in 9999. Without an end it never does.');
  const date = parseDate(text);
  if (!(date instanceof FieldError)) return startOfDay(date, zone) + DAY_SECONDS;
  const instant = parseDateTime(text, zone);
  return instant instanceof FieldError
    ? new FieldError('Expected a date such as 2026-12-31, or a date-time.')
    : instant;
}

/** The expiry of a new key. @param now epoch seconds */
export function parseNewExpiry(text: string, zone: TimeZone, now: number): number | FieldError {
  const end = parseKeyExpiry(text, zone);
  return typeof end === 'number' && end <= now
    ? new FieldError('This is over already. Choose a day from today on.')
    : end;
}

/** Who holds a key. */
export function parseKeyName(text: string): string | FieldError {
  const name = text.trim();
  return name === '' || name.length > 100 || /\p{C}/u.test(name)
    ? new FieldError('Expected a name of 1 to 100 characters.')
    : name;
}

const MAX_STATED = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** What a reader says of a reading, its purpose or for whom, as the access ledger records it. */
export const parseStated = (text: string): string | FieldError =>
  text.trim() === '' || [...text].length > MAX_STATED || UNPRINTABLE.test(text)
    ? new FieldError(`Expected one text of 1 to ${MAX_STATED} printable characters.`)
    : text;

const UNIT_SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: DAY_SECONDS };
const LONGEST_OVERLAP_DAYS = 90;

/** How long a secret stays valid beside a new one, in seconds: `90s`, `30m`, `24h` or `7d`. */
export function parseOverlap(text: string): number | FieldError {
  const match = /^([0-9]{1,6})([smhd])$/.exec(text);
  const seconds =
    match === null ? Number.NaN : Number(match[1]) * (UNIT_SECONDS[match[2] as string] as number);
  return seconds <= LONGEST_OVERLAP_DAYS * DAY_SECONDS
    ? seconds
    : new FieldError(`Expected a time such as 24h or 7d, at most ${LONGEST_OVERLAP_DAYS}d.`);
}

/** Parsers of command-line values; an invalid one ends the command with status 2. */
import { InvalidArgumentError } from 'commander';
import { parseAddressBlocks } from '../../domain/access/address-blocks.ts';
import { SCOPES, type Scope } from '../../domain/access/api-keys.ts';
import { MAX_LIMIT } from '../../domain/access/sliding-window.ts';
import {
  DAY_SECONDS,
  parseDate,
  parseDateTime,
  startOfDay,
  type TimeZone,
} from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { parseWebhookTypes, type WebhookType } from '../../domain/webhooks/types.ts';

/**
 * Values with commas between them. An empty one is an error: in `"$A,$B"` it is a variable that is not set.
 */
function split(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) throw new InvalidArgumentError('A value between the commas is empty.');
  return parts;
}

const withNew = <T>(before: readonly T[], added: readonly T[]): readonly T[] => [
  ...new Set([...before, ...added]),
];

/** `--scope members:read,members:write`, or the option repeated. */
export function collectScopes(text: string, before: readonly Scope[] = []): readonly Scope[] {
  const scopes = split(text).map((name) => {
    const scope = SCOPES.find((known) => known === name);
    if (scope === undefined) throw new InvalidArgumentError(`Known scopes: ${SCOPES.join(', ')}.`);
    return scope;
  });
  return withNew(before, scopes);
}

/** Addresses and CIDR blocks in canonical form. */
export function collectAddresses(text: string, before: readonly string[] = []): readonly string[] {
  const blocks = parseAddressBlocks(split(text));
  if (blocks instanceof FieldError) throw new InvalidArgumentError(blocks.message);
  return withNew(before, blocks.texts);
}

const DOMAIN = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Domains in lower case, without the dot that may end them. */
export function collectHosts(text: string, before: readonly string[] = []): readonly string[] {
  const hosts = split(text).map((part) => {
    const host = part.toLowerCase().replace(/\.$/, '');
    if (!DOMAIN.test(host)) {
      throw new InvalidArgumentError(
        'Expected a domain such as portal.example.rw or *.example.rw, without a port.',
      );
    }
    return host;
  });
  return withNew(before, hosts);
}

/** Codes of cooperatives, which have no lower-case letters. */
export const collectCodes = (text: string, before: readonly string[] = []): readonly string[] =>
  withNew(
    before,
    split(text).map((code) => code.toUpperCase()),
  );

/** Types of webhooks, or kinds such as `member.*`. */
export function collectTypes(text: string, before: readonly WebhookType[] = []): readonly WebhookType[] {
  const types = parseWebhookTypes(split(text));
  if (types instanceof FieldError) throw new InvalidArgumentError(types.message);
  return withNew(before, types);
}

export function parseLimit(text: string): number {
  const limit = /^[0-9]{1,8}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT)
    throw new InvalidArgumentError(`Expected a number from 1 to ${MAX_LIMIT}.`);
  return limit;
}

/** @param what has the id, and where it is shown */
export const parseIdOf =
  (what: string) =>
  (text: string): number => {
    if (/^[1-9][0-9]{0,11}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`Expected the id of ${what} shows it.`);
  };

/** Epoch seconds at which a key ends: a date counts through its last second in the zone. */
export function parseExpiry(text: string, zone: TimeZone): number {
  // Its end would be shown with five digits in some zone.
  if (text.startsWith('9999'))
    throw new InvalidArgumentError('A key cannot end in 9999. Without an end it never does.');
  const date = parseDate(text);
  if (!(date instanceof FieldError)) return startOfDay(date, zone) + DAY_SECONDS;
  const instant = parseDateTime(text, zone);
  if (instant instanceof FieldError) {
    throw new InvalidArgumentError('Expected a date such as 2026-12-31, or a date-time.');
  }
  return instant;
}

const UNIT_SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: DAY_SECONDS };
const LONGEST_OVERLAP_DAYS = 90;

/** Seconds of `90s`, `30m`, `24h` or `7d`. */
export function parseDuration(text: string): number {
  const match = /^([0-9]{1,6})([smhd])$/.exec(text);
  const seconds =
    match === null ? Number.NaN : Number(match[1]) * (UNIT_SECONDS[match[2] as string] as number);
  if (!(seconds <= LONGEST_OVERLAP_DAYS * DAY_SECONDS)) {
    throw new InvalidArgumentError(`Expected a time such as 24h or 7d, at most ${LONGEST_OVERLAP_DAYS}d.`);
  }
  return seconds;
}

/** Who holds a key. */
export function parseName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 100 || /\p{C}/u.test(name)) {
    throw new InvalidArgumentError('Expected a name of 1 to 100 characters.');
  }
  return name;
}

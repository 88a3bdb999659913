/** API keys: their text, scopes and restrictions. */

import { DAY_SECONDS, parseDate, parseDateTime, startOfDay, type TimeZone } from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { type Message, say } from '../values/message.ts';
import { MAX_LIMIT, type RateLimits } from './sliding-window.ts';

// Visibility: the rows of all cooperatives, or of some

/** Ids of the cooperatives whose rows are visible; null for all. */
export type Visible = readonly number[] | null;

export const isVisible = (visible: Visible, cooperativeId: number): boolean =>
  visible === null || visible.includes(cooperativeId);

/**
 * Returns the cooperatives of a list.
 * @param cooperativeId the cooperative that the list asks for; undefined for all
 * @returns undefined for all; empty if the requested one is not visible
 */
export function visibleGroups(
  visible: Visible,
  cooperativeId: number | undefined,
): readonly number[] | undefined {
  if (cooperativeId === undefined) return visible ?? undefined;
  return isVisible(visible, cooperativeId) ? [cooperativeId] : [];
}

/** Returns the store narrowed to the visible rows. */
export type StoreOf<Store> = (visible: Visible) => Store;

export const SCOPES = [
  'cooperatives:read',
  'cooperatives:write',
  'members:read',
  'members:write',
  'members:financials',
  'loans:read',
  'loans:write',
  'payments:read',
  'payments:write',
  'webhooks:receive',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The permissions of each scope, for the documents. */
export const SCOPE_MEANINGS: { readonly [scope in Scope]: string } = {
  'cooperatives:read': 'reading cooperatives',
  'cooperatives:write': 'creating and replacing cooperatives',
  'members:read': 'looking up persons, listing and reading members',
  'members:write':
    'creating and replacing members; together with `members:financials`, also adding their deliveries and ' +
    'savings transactions',
  'members:financials':
    'the deliveries and savings transactions of a member; ' +
    'together with `members:read`, also the production, loan and savings blocks of the lookups',
  'loans:read': 'listing and reading loans',
  'loans:write': 'recording and replacing loans',
  'payments:read': 'listing and reading payments on loans',
  'payments:write': 'recording and replacing payments on loans, which change what is paid on them',
  'webhooks:receive': 'following the sequence of changes: `/events`, and webhooks',
};

export interface ApiKeyValues {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Addresses and CIDR blocks in canonical form; empty for any address. */
  readonly allowedAddresses: readonly string[];
  /** Domains in lower case, with `*.` in front for subdomains of any depth; empty for any host. */
  readonly allowedHosts: readonly string[];
  /** True if the key finds a person by the full national ID only. */
  readonly isLookupOnly: boolean;
  /** True if the key may also export everything that its scopes let it read. */
  readonly mayExport: boolean;
  /** Everything outside these does not exist for the key. */
  readonly cooperatives: Visible;
  /** Purpose recorded with its readings, unless a request states another; null for none. */
  readonly purpose: string | null;
  /** True if each request for personal data must state its own purpose. */
  readonly requiresPurpose: boolean;
  readonly limits: RateLimits;
  /** Epoch seconds from which the key is refused; null for never. */
  readonly expiresAt: number | null;
}

/** Default values of a new key. */
export const UNRESTRICTED: Omit<ApiKeyValues, 'name' | 'scopes' | 'limits'> = {
  allowedAddresses: [],
  allowedHosts: [],
  isLookupOnly: false,
  mayExport: false,
  cooperatives: null,
  purpose: null,
  requiresPurpose: false,
  expiresAt: null,
};

export interface ApiKey extends ApiKeyValues {
  readonly id: number;
  readonly isActive: boolean;
  /** Visible prefixes of the currently valid secrets: two during a rotation's overlap. */
  readonly prefixes: readonly string[];
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const hasExpired = (key: ApiKey, nowSeconds: number): boolean =>
  key.expiresAt !== null && key.expiresAt <= nowSeconds;

const KEY_STATES = ['active', 'disabled', 'expired'] as const;

export function stateOfKey(key: ApiKey, nowSeconds: number): (typeof KEY_STATES)[number] {
  if (!key.isActive) return 'disabled';
  return hasExpired(key, nowSeconds) ? 'expired' : 'active';
}

const KEY_TAG = 'crs_';
const RANDOM_CHARACTERS = 30;
const CHECK_CHARACTERS = 6;
/** Length of every key. */
export const API_KEY_LENGTH = KEY_TAG.length + RANDOM_CHARACTERS + CHECK_CHARACTERS;
const PREFIX_CHARACTERS = KEY_TAG.length + 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// Random bytes from here on are dropped, so that every one of the 62 characters is equally likely.
const UNBIASED_BYTES = 256 - (256 % BASE62.length);
const API_KEY = /^crs_[0-9A-Za-z]{36}$/;

/**
 * Composes a new key: `crs_`, 30 base62 characters, and 6 for the checksum of the preceding text
 * (docs/api.md#authentication).
 * @param randomBytes returns that many bytes from a cryptographic generator
 * @param crc32 CRC-32 of the ASCII text
 */
export function composeApiKey(
  randomBytes: (count: number) => Uint8Array,
  crc32: (text: string) => number,
): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < UNBIASED_BYTES && random.length < RANDOM_CHARACTERS) random += BASE62[byte % BASE62.length];
    }
  }
  return KEY_TAG + random + checksum(KEY_TAG + random, crc32);
}

/** True if the text has the format and checksum of a key: a typo needs no lookup in the store. */
export function isApiKey(text: string, crc32: (text: string) => number): boolean {
  return API_KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECK_CHARACTERS), crc32));
}

/** Returns the part of a key that may be shown and stored. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_CHARACTERS);

function checksum(text: string, crc32: (text: string) => number): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECK_CHARACTERS; i++) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

// Reasons of refusals by key or rate limit: one word each, for the log, metrics and `keys`

/** Meaning of each reason, as the documents list them. */
export const REFUSALS = {
  missing_key: 'there is no `Authorization: Bearer` header',
  malformed_header: 'the header has no key behind `Bearer`, or spaces in it',
  malformed_key: 'the text is not a key: mistyped, or cut short',
  unknown_key: 'no key has this secret: one of another registry, or one that a rotation has ended',
  disabled: 'the key is disabled',
  expired: 'the key has expired',
  address: 'the address of the client is not in the address allowlist',
  host: 'the host is not in the host allowlist',
  scope: 'the key lacks the scope that `cause` names',
  export: 'the key may not export',
  lookup_only: 'the key is for lookups only',
  cooperatives: 'the key is for some cooperatives, and the route is not for such keys',
  purpose: 'the request does not say why it reads, which the key must',
  throttled_hour: 'the requests of the hour are used up',
  throttled_day: 'the requests of the day are used up',
} as const;

export type Refusal = keyof typeof REFUSALS;

// Validates the values of a key (docs/keys.md#keys).

export function parseScopes(names: readonly string[]): readonly Scope[] | FieldError {
  return names.every((name) => (SCOPES as readonly string[]).includes(name))
    ? [...new Set(names as Scope[])]
    : new FieldError(`Known scopes: ${SCOPES.join(', ')}.`);
}

const DOMAIN = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Parses domains: in lower case, without a trailing dot. */
export function parseHosts(texts: readonly string[]): readonly string[] | FieldError {
  const hosts = [...new Set(texts.map((text) => text.toLowerCase().replace(/\.$/, '')))];
  return hosts.every((host) => DOMAIN.test(host))
    ? hosts
    : new FieldError('Expected a domain such as portal.example.rw or *.example.rw, without a port.');
}

export const parseRequestLimit = (limit: number): number | FieldError =>
  Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
    ? limit
    : // MAX_LIMIT, written out as the translations have it.
      new FieldError('Expected a number from 1 to 10000000.');

/** Returns the epoch seconds at which a key ends: a date counts through its last second in the zone. */
export function parseKeyExpiry(text: string, zone: TimeZone): number | FieldError {
  // In some time zones, its end would be shown with a five-digit year.
  if (text.startsWith('9999'))
    return new FieldError('A key cannot end in 9999. Without an end it never does.');
  const date = parseDate(text);
  if (!(date instanceof FieldError)) return startOfDay(date, zone) + DAY_SECONDS;
  const instant = parseDateTime(text, zone);
  return instant instanceof FieldError
    ? new FieldError('Expected a date such as 2026-12-31, or a date-time.')
    : instant;
}

/** Parses the expiry of a new key. @param now epoch seconds */
export function parseNewExpiry(text: string, zone: TimeZone, now: number): number | FieldError {
  const end = parseKeyExpiry(text, zone);
  return typeof end === 'number' && end <= now
    ? new FieldError('This is over already. Choose a day from today on.')
    : end;
}

/** Parses the name of a key, which says who holds it. */
export function parseKeyName(text: string): string | FieldError {
  const name = text.trim();
  return name === '' || name.length > 100 || /\p{C}/u.test(name)
    ? new FieldError('Expected a name of 1 to 100 characters.')
    : name;
}

const MAX_STATED = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Validates a stated purpose or end user, as the access ledger records it. */
export const parseStated = (text: string): string | FieldError =>
  text.trim() === '' || [...text].length > MAX_STATED || UNPRINTABLE.test(text)
    ? new FieldError(`Expected one text of 1 to ${MAX_STATED} printable characters.`)
    : text;

const UNIT_SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: DAY_SECONDS };
const LONGEST_OVERLAP_DAYS = 90;

/** Parses the seconds for which a secret stays valid beside a new one: `90s`, `30m`, `24h` or `7d`. */
export function parseOverlap(text: string): number | FieldError {
  const match = /^([0-9]{1,6})([smhd])$/.exec(text);
  const seconds =
    match === null ? Number.NaN : Number(match[1]) * (UNIT_SECONDS[match[2] as string] as number);
  return seconds <= LONGEST_OVERLAP_DAYS * DAY_SECONDS
    ? seconds
    : new FieldError(`Expected a time such as 24h or 7d, at most ${LONGEST_OVERLAP_DAYS}d.`);
}

// Warnings about values that are allowed but make no sense: requests would be refused, or return nothing

/** Further facts that a warning may depend on. */
interface KeyContext {
  /** Epoch seconds. */
  readonly now: number;
  readonly others: readonly Pick<ApiKey, 'id' | 'name'>[];
}

type Rule = (key: ApiKeyValues, context: KeyContext) => Message | undefined;

const only = (isWrong: boolean, warning: Message): Message | undefined => (isWrong ? warning : undefined);

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Scopes that a `--lookup-only` key cannot use. */
const CLOSED_TO_LOOKUPS: readonly Scope[] = [
  'members:write',
  'loans:read',
  'loans:write',
  'payments:read',
  'payments:write',
  'webhooks:receive',
];

const RULES: readonly Rule[] = [
  ({ expiresAt }, { now }) =>
    only(
      expiresAt !== null && expiresAt <= now,
      say('The key has expired already: every request is refused.'),
    ),
  ({ name }, { others }) => {
    const same = others.find((other) => sameName(other.name, name));
    return same && say('Key {id} has the same name.', { id: same.id });
  },
  ({ limits: { perHour, perDay } }) =>
    only(
      perHour > perDay,
      say('The limit of an hour, {perHour}, is above that of a day, {perDay}, which counts.', {
        perHour,
        perDay,
      }),
    ),
  ({ scopes }) =>
    only(
      scopes.includes('members:financials') && !scopes.includes('members:read'),
      say('members:financials without members:read adds nothing to lookups, which the key may not make.'),
    ),
  ({ scopes }) => {
    const blind = scopes.filter(
      (scope) => scope.endsWith(':write') && !scopes.includes(scope.replace('write', 'read') as Scope),
    );
    return only(
      blind.length > 0,
      say('{scopes} without reading: the key cannot read what it has written.', { scopes: blind }),
    );
  },
  ({ mayExport, scopes }) =>
    only(
      mayExport && !scopes.some((scope) => scope.endsWith(':read')),
      say('The key may export, and has no scope for reading that there would be an export of.'),
    ),
  ({ purpose, requiresPurpose }) =>
    only(
      purpose !== null && requiresPurpose,
      say('The purpose is never recorded: each request must state its own.'),
    ),
  ({ isLookupOnly, mayExport }) =>
    only(
      isLookupOnly && mayExport,
      say('The key may export, and is for lookups only: it can export nothing.'),
    ),
  ({ isLookupOnly, scopes }) => {
    const closed = scopes.filter((scope) => CLOSED_TO_LOOKUPS.includes(scope));
    return only(
      isLookupOnly && closed.length > 0,
      say('The key is for lookups only: it cannot use {scopes}.', { scopes: closed }),
    );
  },
];

/** Returns one warning for each combination that makes no sense. */
export const warningsOf = (key: ApiKeyValues, context: KeyContext): readonly Message[] =>
  RULES.flatMap((rule) => rule(key, context) ?? []);

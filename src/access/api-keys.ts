/** API keys: their text, scopes and restrictions. */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DAY_SECONDS } from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR, type RateLimits } from './rate-limiter.ts';

/** Ids of the cooperatives whose rows are visible; null for all. */
export type Visible = readonly number[] | null;

export const isVisible = (visible: Visible, cooperativeId: number): boolean =>
  visible === null || visible.includes(cooperativeId);

/**
 * @param cooperativeId requested cooperative; undefined for all
 * @returns undefined for all; empty if the requested cooperative is not visible
 */
export function visibleCooperatives(
  visible: Visible,
  cooperativeId: number | undefined,
): readonly number[] | undefined {
  if (cooperativeId === undefined) return visible ?? undefined;
  return isVisible(visible, cooperativeId) ? [cooperativeId] : [];
}

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

export const SCOPE_MEANINGS: { readonly [scope in Scope]: string } = {
  'cooperatives:read': 'reads cooperatives',
  'cooperatives:write': 'creates and changes cooperatives',
  'members:read': 'looks up persons, lists and reads members',
  'members:write':
    'creates and changes members; together with `members:financials`, also adds their deliveries and ' +
    'savings transactions',
  'members:financials':
    'reads the deliveries and savings transactions of a member; ' +
    'together with `members:read`, also the production, loan and savings blocks of lookups',
  'loans:read': 'lists and reads loans',
  'loans:write': 'records and changes loans',
  'payments:read': 'lists and reads payments on loans',
  'payments:write': 'records and changes payments; each changes the paid amount of its loan',
  'webhooks:receive': 'follows the sequence of changes, with `/events` and webhooks',
};

export interface ApiKeyValues {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Addresses and CIDR blocks in canonical form; empty for any address. */
  readonly allowedAddresses: readonly string[];
  /** Lower-case domains, with a leading `*.` for subdomains of any depth; empty for any host. */
  readonly allowedHosts: readonly string[];
  /** True if the key can find persons only by their full national ID. */
  readonly isLookupOnly: boolean;
  /** True if the key may also export all data that its scopes allow it to read. */
  readonly mayExport: boolean;
  /** Cooperatives whose rows the key sees. Responses to the key treat all other rows as missing. */
  readonly cooperatives: Visible;
  /** Purpose that the ledger records if a request states none; null for no purpose. */
  readonly purpose: string | null;
  readonly requiresPurpose: boolean;
  readonly limits: RateLimits;
  /** Epoch seconds from which the key is refused; null if the key never expires. */
  readonly expiresAt: number | null;
}

export const seesFinancials = (key: Pick<ApiKeyValues, 'scopes'> | undefined): boolean =>
  key?.scopes.includes('members:financials') === true;

export const NEW_KEY: ApiKeyValues = {
  name: '',
  scopes: [],
  allowedAddresses: [],
  allowedHosts: [],
  isLookupOnly: false,
  mayExport: false,
  cooperatives: null,
  purpose: null,
  requiresPurpose: false,
  limits: { perHour: DEFAULT_PER_HOUR, perDay: DEFAULT_PER_DAY },
  expiresAt: null,
};

export interface ApiKey extends ApiKeyValues {
  readonly id: number;
  readonly isActive: boolean;
  /** Beginnings of the valid secrets: two during the overlap of a rotation. */
  readonly prefixes: readonly string[];
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const hasExpired = (key: ApiKey, nowSeconds: number): boolean =>
  key.expiresAt !== null && key.expiresAt <= nowSeconds;

export function stateOfKey(key: ApiKey, nowSeconds: number): 'active' | 'disabled' | 'expired' {
  if (!key.isActive) return 'disabled';
  return hasExpired(key, nowSeconds) ? 'expired' : 'active';
}

const KEY_TAG = 'crs_';
const RANDOM_CHARACTERS = 30;
const CHECK_CHARACTERS = 6;
export const API_KEY_LENGTH = KEY_TAG.length + RANDOM_CHARACTERS + CHECK_CHARACTERS;
const PREFIX_CHARACTERS = KEY_TAG.length + 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const API_KEY = /^crs_[0-9A-Za-z]{36}$/;

/**
 * Makes a key: `crs_`, 30 base62 characters, and a 6-character checksum of the preceding text
 * (docs/api.md#authentication). The key is shown once and never stored.
 */
export function issueSecret(): { text: string; hash: Uint8Array; prefix: string } {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62[randomInt(BASE62.length)]);
  const unchecked = KEY_TAG + random.join('');
  const text = unchecked + checksum(unchecked);
  return { text, hash: hash('sha256', text, 'buffer'), prefix: prefixOf(text) };
}

/** Returns the hash as hexadecimal text, because a lookup by bytes would take four times as long. */
export const hashKeyAsText = (key: string): string => hash('sha256', key, 'hex');

/** True if the text has the format and checksum of a key. Other texts need no lookup in the store. */
export const isApiKey = (text: string): boolean =>
  API_KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECK_CHARACTERS)));

/** Returns the beginning of a key, which may be shown and stored. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_CHARACTERS);

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECK_CHARACTERS; i++) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/** Reasons for refusals, with their meanings. The log, the metrics and `keys` use these names. */
export const REFUSALS = {
  missing_key: 'the request has no `Authorization: Bearer` header',
  malformed_header: 'no key follows `Bearer`, or the key contains spaces',
  malformed_key: 'the text is not a key, or a key was mistyped or cut short',
  unknown_key: 'no key has this secret, for example because a rotation ended it',
  disabled: 'the key is disabled',
  expired: 'the key has expired',
  address: "the client's address is not in the allowlist",
  host: 'the host is not in the allowlist',
  scope: 'the key lacks the scope that `cause` names',
  export: 'the key may not export',
  lookup_only: 'the key is for lookups only',
  cooperatives: 'the key is for some cooperatives, and the route excludes such keys',
  purpose: 'the key requires a purpose, and the request states none',
  throttled_hour: 'the request exceeds the hourly limit',
  throttled_day: 'the request exceeds the daily limit',
} as const;

export type Refusal = keyof typeof REFUSALS;

/** False for other reasons, such as a busy database. */
export const isRefusal = (reason: string | undefined): reason is Refusal =>
  reason !== undefined && reason in REFUSALS;

const MAX_STATED = 200;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Validates the purpose or end user that a client has sent for the access ledger. */
export const parseStated = (text: string): string | FieldError =>
  text.trim() === '' || [...text].length > MAX_STATED || UNPRINTABLE.test(text)
    ? new FieldError(`Expected one text of 1 to ${MAX_STATED} printable characters.`)
    : text;

const UNIT_SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: DAY_SECONDS };
const LONGEST_OVERLAP_DAYS = 90;

/** @param text such as `90s`, `30m`, `24h` or `7d` @returns seconds */
export function parseOverlap(text: string): number | FieldError {
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN);
  return seconds <= LONGEST_OVERLAP_DAYS * DAY_SECONDS
    ? seconds
    : new FieldError(`Expected a time such as 24h or 7d, at most ${LONGEST_OVERLAP_DAYS}d.`);
}

/** API keys: their text, scopes and restrictions. */
import type { RateLimits } from './sliding-window.ts';
import type { Visible } from './visible.ts';

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

/** What each scope allows, for the documents. */
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
  /** Addresses and CIDR blocks in canonical form; empty: from anywhere. */
  readonly allowedAddresses: readonly string[];
  /** Domains in lower case, `*.` in front for any depth below; empty: for any host. */
  readonly allowedHosts: readonly string[];
  /** Finds a person by the full national ID only. */
  readonly isLookupOnly: boolean;
  /** May also export everything that its scopes let it read. */
  readonly mayExport: boolean;
  /** Everything else does not exist for the key. */
  readonly cooperatives: Visible;
  /** Recorded with its readings, unless a request states another; null: none. */
  readonly purpose: string | null;
  /** Each request for a reading of persons states its own. */
  readonly requiresPurpose: boolean;
  readonly limits: RateLimits;
  /** Epoch seconds; the key is refused from then on. */
  readonly expiresAt: number | null;
}

/** A new key has these values unless others are given. */
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
  /** Visible beginnings of the secrets that are valid now: two during a rotation's overlap. */
  readonly prefixes: readonly string[];
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const hasExpired = (key: ApiKey, nowSeconds: number): boolean =>
  key.expiresAt !== null && key.expiresAt <= nowSeconds;

export const KEY_STATES = ['active', 'disabled', 'expired'] as const;

export function stateOfKey(key: ApiKey, nowSeconds: number): (typeof KEY_STATES)[number] {
  if (!key.isActive) return 'disabled';
  return hasExpired(key, nowSeconds) ? 'expired' : 'active';
}

const KEY_TAG = 'crs_';
const RANDOM_CHARACTERS = 30;
const CHECK_CHARACTERS = 6;
/** Characters of every key. */
export const API_KEY_LENGTH = KEY_TAG.length + RANDOM_CHARACTERS + CHECK_CHARACTERS;
const PREFIX_CHARACTERS = KEY_TAG.length + 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// Random bytes from here on are dropped: the rest divides evenly by 62, so every character is equally likely.
const UNBIASED_BYTES = 256 - (256 % BASE62.length);
const API_KEY = /^crs_[0-9A-Za-z]{36}$/;

/**
 * A new key text: `crs_`, 30 base62 characters, and 6 of the checksum over what precedes
 * (docs/api.md#authentication).
 * @param randomBytes gives that many bytes from a cryptographic generator
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

/** Whether the text has the form of a key and the right checksum: a typo needs no look into the store. */
export function isApiKey(text: string, crc32: (text: string) => number): boolean {
  return API_KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECK_CHARACTERS), crc32));
}

/** The part of a key that may be shown and stored. */
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

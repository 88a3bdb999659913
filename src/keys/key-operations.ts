/** Issues and changes API keys, for commands and the desk, with checks and warnings (docs/keys.md#keys). */

import type { ApiKeyStore } from '../access/api-key-store.ts';
import {
  type ApiKey,
  type ApiKeyValues,
  issueSecret,
  NEW_KEY,
  parseOverlap,
  parseStated,
  SCOPES,
  type Scope,
} from '../access/api-keys.ts';
import { MAX_LIMIT } from '../access/rate-limiter.ts';
import { parseAddressBlocks } from '../values/address-blocks.ts';
import { DAY_SECONDS, parseDate, parseDateTime, startOfDay, type TimeZone } from '../values/date-time.ts';
import { onlyGiven } from '../values/declared-fields.ts';
import { FieldError, FieldErrorList, invalidFields, notFound } from '../values/errors.ts';
import { warningsOf } from './key-text.ts';

/** Unchecked values. Undefined leaves a value unchanged, and null removes a restriction. */
export interface KeyChanges {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly allowedAddresses?: readonly string[] | null | undefined;
  readonly allowedHosts?: readonly string[] | null | undefined;
  readonly isLookupOnly?: boolean | undefined;
  readonly mayExport?: boolean | undefined;
  /** Ids of existing cooperatives. */
  readonly cooperatives?: readonly number[] | null | undefined;
  readonly purpose?: string | null | undefined;
  readonly requiresPurpose?: boolean | undefined;
  readonly perHour?: number | undefined;
  readonly perDay?: number | undefined;
  /** Last day in the registry's zone, or the instant at which the key ends. */
  readonly expires?: string | null | undefined;
}

export type NewKey = KeyChanges & { readonly name: string; readonly scopes: readonly string[] };

function parseKeyName(text: string): string | FieldError {
  const name = text.trim();
  return name === '' || name.length > 100 || /\p{C}/u.test(name)
    ? new FieldError('Expected a name of 1 to 100 characters.')
    : name;
}

function parseScopes(names: readonly string[]): readonly Scope[] | FieldError {
  if (names.length === 0) return new FieldError('Name at least one.');
  return names.every((name) => (SCOPES as readonly string[]).includes(name))
    ? [...new Set(names as Scope[])]
    : new FieldError(`Known scopes: ${SCOPES.join(', ')}.`);
}

function parseBlocks(texts: readonly string[]): readonly string[] | FieldError {
  const blocks = parseAddressBlocks(texts);
  return blocks instanceof FieldError ? blocks : [...new Set(blocks.texts)];
}

const DOMAIN = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

function parseHosts(texts: readonly string[]): readonly string[] | FieldError {
  const hosts = [...new Set(texts.map((text) => text.toLowerCase().replace(/\.$/, '')))];
  return hosts.every((host) => DOMAIN.test(host))
    ? hosts
    : new FieldError('Expected a domain such as portal.example.rw or *.example.rw, without a port.');
}

const parseRequestLimit = (limit: number): number | FieldError =>
  Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
    ? limit
    : // The sentence contains MAX_LIMIT as digits, because translations are found by the entire sentence.
      new FieldError('Expected a number from 1 to 10000000.');

/** @param text a date, for the end of that day in the zone, or an instant @returns epoch seconds */
function parseKeyExpiry(text: string, zone: TimeZone): number | FieldError {
  // In some time zones, the end of a day in 9999 would be displayed in the year 10000.
  if (text.startsWith('9999'))
    return new FieldError('A key cannot expire in 9999. Without an expiry date it never expires.');
  const date = parseDate(text);
  if (!(date instanceof FieldError)) return startOfDay(date, zone) + DAY_SECONDS;
  const instant = parseDateTime(text, zone);
  return instant instanceof FieldError
    ? new FieldError('Expected a date such as 2026-12-31, or a date-time.')
    : instant;
}

/** @param stored undefined for a new key @throws RegistryError `invalid` with the faults of all fields */
function parseChanges(
  changes: KeyChanges,
  stored: ApiKey | undefined,
  now: number,
  zone: TimeZone,
): Partial<ApiKeyValues> {
  const faults = new FieldErrorList();
  const read = <Name extends keyof KeyChanges, T>(
    name: Name,
    parse: (value: NonNullable<KeyChanges[Name]>) => T | FieldError,
    unrestricted?: T | null,
  ) => {
    const value = changes[name];
    if (value === undefined || value === null) return value === null ? unrestricted : undefined;
    const parsed = parse(value);
    if (!(parsed instanceof FieldError)) return parsed;
    faults.add(name, parsed.message);
    return undefined;
  };
  const parseEnd = (text: string) => {
    const end = parseKeyExpiry(text, zone);
    return stored === undefined && typeof end === 'number' && end <= now
      ? new FieldError('This is in the past. Choose today or a later day.')
      : end;
  };
  const values = onlyGiven({
    name: read('name', parseKeyName),
    scopes: read('scopes', parseScopes),
    allowedAddresses: read('allowedAddresses', parseBlocks, []),
    allowedHosts: read('allowedHosts', parseHosts, []),
    isLookupOnly: changes.isLookupOnly,
    mayExport: changes.mayExport,
    cooperatives: changes.cooperatives,
    purpose: read('purpose', parseStated, null),
    requiresPurpose: changes.requiresPurpose,
    limits: {
      ...(stored ?? NEW_KEY).limits,
      ...onlyGiven({
        perHour: read('perHour', parseRequestLimit),
        perDay: read('perDay', parseRequestLimit),
      }),
    },
    expiresAt: read('expires', parseEnd, null),
  });
  faults.throwIfAny();
  return values as Partial<ApiKeyValues>;
}

export type KeyOperations = ReturnType<typeof createKeys>;

/**
 * Returns operations on keys. Each operation takes effect from the next request, or throws a RegistryError:
 * `invalid` with the invalid fields, or `not_found` for an unknown id.
 * @param openKeys opens the store, and may create its file; so `create` calls it only after all checks
 */
export function createKeys(openKeys: () => ApiKeyStore, now: number, zone: TimeZone) {
  function withWarnings({ id, ...values }: ApiKey) {
    const others = openKeys()
      .list(now)
      .filter((other) => other.id !== id);
    return { id, warnings: warningsOf(values, { now, others }) };
  }

  return {
    create(newKey: NewKey) {
      const values = { ...NEW_KEY, ...parseChanges(newKey, undefined, now, zone) };
      const secret = issueSecret();
      return { ...withWarnings(openKeys().create(values, secret, now)), secret: secret.text };
    },
    /** Stores the values in `changes`. A list replaces the stored list. */
    update(id: number, changes: KeyChanges) {
      const values = parseChanges(changes, existing(openKeys().find(id, now)), now, zone);
      return withWarnings(existing(openKeys().update(id, values, now)));
    },
    activate(id: number, isActive: boolean) {
      existing(openKeys().update(id, { isActive }, now));
      return { id };
    },
    /** @param overlap how long the old secret stays valid, such as `24h`; undefined to end it at once */
    rotate(id: number, overlap: string | undefined) {
      const seconds = overlap === undefined ? 0 : parseOverlap(overlap);
      if (seconds instanceof FieldError) throw invalidFields({ overlap: [seconds.message] });
      const secret = issueSecret();
      existing(openKeys().rotate(id, secret, seconds, now));
      return { id, secret: secret.text };
    },
  };
}

/** @throws RegistryError `not_found` */
function existing(key: ApiKey | undefined): ApiKey {
  if (key === undefined) throw notFound();
  return key;
}

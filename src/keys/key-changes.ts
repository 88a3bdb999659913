/** What a command or a form says of a key → its values. */

import {
  type ApiKey,
  type ApiKeyValues,
  parseHosts,
  parseKeyExpiry,
  parseKeyName,
  parseNewExpiry,
  parseRequestLimit,
  parseScopes,
  parseStated,
  type Scope,
} from '../access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../access/sliding-window.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import { parseAddressBlocks } from '../values/address-blocks.ts';
import type { TimeZone } from '../values/date-time.ts';
import { onlyGiven } from '../values/declared-fields.ts';
import { FieldError, FieldErrorList } from '../values/errors.ts';

/** What a key may do; null takes a restriction away. */
export interface KeyChanges {
  /** Who holds it: 1 to 100 characters. */
  readonly name?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  /** Addresses and CIDR blocks that it may come from. */
  readonly allowedAddresses?: readonly string[] | null | undefined;
  /** Domains that it may be used for, `*.` in front for all below. */
  readonly allowedHosts?: readonly string[] | null | undefined;
  /** It finds persons by the full national ID, and shows nobody otherwise. */
  readonly isLookupOnly?: boolean | undefined;
  /** It takes away all rows that its scopes show, at once. */
  readonly mayExport?: boolean | undefined;
  /** Ids of the cooperatives that it sees, known to exist; null for all. */
  readonly cooperatives?: readonly number[] | null | undefined;
  /** Recorded with its readings where a request states none: 1 to 200 characters; null for none. */
  readonly purpose?: string | null | undefined;
  /** Requests that show persons are refused without `X-Purpose`. */
  readonly requiresPurpose?: boolean | undefined;
  /** Requests in an hour, and in a day. */
  readonly perHour?: number | undefined;
  readonly perDay?: number | undefined;
  /** Its last day in the registry's zone, or the instant at which it ends; null for never. */
  readonly expires?: string | null | undefined;
}

export interface NewKey extends KeyChanges {
  readonly name: string;
  readonly scopes: readonly Scope[];
}

export interface ReadingDependencies {
  readonly clock: Clock;
  readonly zone: TimeZone;
}

/**
 * @param stored undefined for a new key
 * @throws RegistryError `invalid` with all faults
 */
export function readKeyChanges(
  given: KeyChanges,
  stored: ApiKey | undefined,
  { clock, zone }: ReadingDependencies,
): Partial<ApiKeyValues> {
  const faults = new FieldErrorList();
  const read = <T, U>(
    name: keyof KeyChanges,
    value: T | null | undefined,
    parse: (value: T) => U | FieldError,
  ) => {
    if (value === undefined || value === null) return undefined;
    const parsed = parse(value);
    if (!(parsed instanceof FieldError)) return parsed;
    faults.add(name, parsed.message);
    return undefined;
  };
  const now = nowSeconds(clock);
  const parseEnd = (text: string) =>
    stored === undefined ? parseNewExpiry(text, zone, now) : parseKeyExpiry(text, zone);
  const limits = stored?.limits ?? { perHour: DEFAULT_PER_HOUR, perDay: DEFAULT_PER_DAY };
  const values = {
    name: read('name', given.name, parseKeyName),
    scopes: read('scopes', given.scopes, parseNames),
    allowedAddresses:
      given.allowedAddresses === null ? [] : read('allowedAddresses', given.allowedAddresses, parseBlocks),
    allowedHosts: given.allowedHosts === null ? [] : read('allowedHosts', given.allowedHosts, parseHosts),
    isLookupOnly: given.isLookupOnly,
    mayExport: given.mayExport,
    cooperatives: given.cooperatives,
    purpose: given.purpose === null ? null : read('purpose', given.purpose, parseStated),
    requiresPurpose: given.requiresPurpose,
    limits: {
      ...limits,
      ...onlyGiven({
        perHour: read('perHour', given.perHour, parseRequestLimit),
        perDay: read('perDay', given.perDay, parseRequestLimit),
      }),
    },
    expiresAt: given.expires === null ? null : read('expires', given.expires, parseEnd),
  };
  faults.throwIfAny();
  return onlyGiven(values);
}

const parseNames = (names: readonly string[]): readonly Scope[] | FieldError =>
  names.length === 0 ? new FieldError('Name at least one.') : parseScopes(names);

function parseBlocks(texts: readonly string[]): readonly string[] | FieldError {
  const blocks = parseAddressBlocks(texts);
  return blocks instanceof FieldError ? blocks : [...new Set(blocks.texts)];
}

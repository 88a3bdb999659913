/** What embedding programs say of a key → its values, by the rules of the commands. */

import { parseAddressBlocks } from '../../domain/access/address-blocks.ts';
import type { ApiKey, ApiKeyValues, Scope } from '../../domain/access/api-keys.ts';
import {
  parseHosts,
  parseKeyExpiry,
  parseKeyName,
  parseNewExpiry,
  parseRequestLimit,
  parseScopes,
  parseStated,
} from '../../domain/access/key-values.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../../domain/access/sliding-window.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { FieldError, FieldErrorList } from '../../domain/values/errors.ts';
import { onlyGiven } from '../../domain/values/given.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import { checkOptions, type Id, toId } from './arguments.ts';

/** What a key may do; null, or an empty array, takes a restriction away. */
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
  /** Ids of the cooperatives that it sees; null for all. */
  readonly cooperatives?: readonly Id[] | null | undefined;
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
  readonly hasCooperative: (id: number) => Promise<boolean>;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

const TYPES = {
  name: 'string',
  scopes: 'array',
  allowedAddresses: 'array',
  allowedHosts: 'array',
  isLookupOnly: 'boolean',
  mayExport: 'boolean',
  cooperatives: 'array',
  purpose: 'string',
  requiresPurpose: 'boolean',
  perHour: 'number',
  perDay: 'number',
  expires: 'string',
} as const;
const TYPES_OF_NEW = { ...TYPES, name: 'string!', scopes: 'array!' } as const;

/** Options that null takes away. */
const NULLABLE = ['allowedAddresses', 'allowedHosts', 'cooperatives', 'purpose', 'expires'];

/**
 * @param stored undefined for a new key
 * @throws RegistryError `invalid` with all faults
 */
export async function readKeyChanges(
  given: KeyChanges,
  stored: ApiKey | undefined,
  { hasCooperative, clock, zone }: ReadingDependencies,
): Promise<Partial<ApiKeyValues>> {
  checkOptions(withoutNulls(given), stored === undefined ? TYPES_OF_NEW : TYPES);
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
  const cooperatives = given.cooperatives?.map((id) => toId('cooperatives', id));
  if (cooperatives?.length === 0) faults.add('cooperatives', 'Name at least one, or null for all.');
  for (const id of cooperatives ?? [])
    if (!(await hasCooperative(id))) faults.add('cooperatives', `There is no cooperative with the id ${id}.`);
  const values = {
    name: read('name', given.name, parseKeyName),
    scopes: read('scopes', given.scopes, parseNames),
    allowedAddresses:
      given.allowedAddresses === null ? [] : read('allowedAddresses', given.allowedAddresses, parseBlocks),
    allowedHosts: given.allowedHosts === null ? [] : read('allowedHosts', given.allowedHosts, parseDomains),
    isLookupOnly: given.isLookupOnly,
    mayExport: given.mayExport,
    cooperatives: given.cooperatives === null ? null : cooperatives,
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

const withoutNulls = (given: unknown): unknown =>
  typeof given !== 'object' || given === null || Array.isArray(given)
    ? (given ?? {})
    : Object.fromEntries(
        Object.entries(given).filter(([name, value]) => value !== null || !NULLABLE.includes(name)),
      );

/** A parser of lists, for programs without types too. */
const ofTexts =
  <T>(parse: (texts: readonly string[]) => T | FieldError) =>
  (texts: readonly string[]): T | FieldError =>
    texts.every((text) => typeof text === 'string') ? parse(texts) : new FieldError('Expected strings.');

const parseNames = ofTexts((names): readonly Scope[] | FieldError =>
  names.length === 0 ? new FieldError('Name at least one.') : parseScopes(names),
);
const parseDomains = ofTexts(parseHosts);
const parseBlocks = ofTexts((texts): readonly string[] | FieldError => {
  const blocks = parseAddressBlocks(texts);
  return blocks instanceof FieldError ? blocks : [...new Set(blocks.texts)];
});

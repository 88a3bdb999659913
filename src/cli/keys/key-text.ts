/** Keys as texts: one in full, or a table of all. */
import { codesOf, usesOf } from '../../app/shown-keys.ts';
import { type ApiKey, stateOfKey } from '../../domain/access/api-keys.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { counted } from '../../domain/values/text.ts';
import type { KeyUse } from '../../store/contract/api-keys.ts';
import { formatFields, formatRows } from '../terminal/output.ts';

/** What is needed beside keys to show them. */
export interface Showing {
  /** Epoch seconds. */
  readonly now: number;
  readonly zone: TimeZone;
  /** Of cooperatives, by id. */
  readonly codes: ReadonlyMap<number, string>;
  /** Of all keys. */
  readonly uses: readonly KeyUse[];
}

/** What may be shown of a key: never its secret. */
export function describeKey(key: ApiKey, showing: Showing) {
  const { now, zone, uses, codes } = showing;
  const at = (seconds: number): string => formatDateTime(seconds, zone);
  const [admitted] = usesOf(key, uses, 'admitted');
  return {
    id: String(key.id),
    name: key.name,
    prefixes: key.prefixes,
    scopes: key.scopes,
    allowed_addresses: key.allowedAddresses,
    allowed_hosts: key.allowedHosts,
    lookup_only: key.isLookupOnly,
    allow_export: key.mayExport,
    cooperatives: codesOf(key, codes),
    purpose: key.purpose,
    require_purpose: key.requiresPurpose,
    per_hour: key.limits.perHour,
    per_day: key.limits.perDay,
    state: stateOfKey(key, now),
    is_active: key.isActive,
    last_used_at: admitted === undefined ? null : at(admitted.lastAt),
    refused_last_day: usesOf(key, uses, 'refused').map(({ name, requests, lastAt }) => ({
      reason: name,
      requests,
      last_at: at(lastAt),
    })),
    deprecated_uses: usesOf(key, uses, 'deprecated').map(({ name, requests, lastAt }) => ({
      name,
      requests,
      last_used_at: at(lastAt),
    })),
    expires_at: key.expiresAt === null ? null : at(key.expiresAt),
    created_at: at(key.createdAt),
    updated_at: at(key.updatedAt),
  };
}

/** A line for each property. */
export function formatKey(shown: ShownKey): string {
  return formatFields([
    ['id', shown.id],
    ['name', shown.name],
    ['state', shown.state],
    ['starts with', shown.prefixes.join(', ')],
    ['scopes', shown.scopes.join(', ')],
    ['addresses', shown.allowed_addresses.join(', ') || 'any'],
    ['hosts', shown.allowed_hosts.join(', ') || 'any'],
    ['lookup only', shown.lookup_only ? 'yes' : 'no'],
    ['sees', cooperativesText(shown.cooperatives)],
    ['exports', shown.allow_export ? 'yes' : 'no'],
    ['purpose', purposeText(shown)],
    ['requests', `${shown.per_hour} an hour, ${shown.per_day} a day`],
    ['expires', shown.expires_at ?? 'never'],
    ['last used', shown.last_used_at ?? 'never'],
    ...shown.refused_last_day.map(({ reason, requests, last_at }): [string, string] => [
      'refused',
      `${reason}: ${counted(requests, 'request')} in the last day, last at ${last_at}`,
    ]),
    ...shown.deprecated_uses.map((use): [string, string] => [
      'deprecated',
      `${use.name}: ${counted(use.requests, 'request')}, last at ${use.last_used_at}`,
    ]),
  ]);
}

type ShownKey = ReturnType<typeof describeKey>;

/** A row for each key. */
export const formatKeys = (keys: readonly ShownKey[]): string =>
  formatRows(keys, {
    ID: 'id',
    NAME: 'name',
    STATE: 'state',
    'STARTS WITH': 'prefixes',
    SCOPES: 'scopes',
    'PER HOUR/DAY': (key) => `${key.per_hour}/${key.per_day}`,
    ONLY: narrowingText,
    EXPORTS: (key) => (key.allow_export ? 'yes' : ''),
    ADDRESSES: (key) => inShort(key.allowed_addresses),
    HOSTS: (key) => inShort(key.allowed_hosts),
    EXPIRES: 'expires_at',
    'LAST USED': (key) => key.last_used_at ?? 'never',
    REFUSED: refusedText,
    DEPRECATED: deprecatedText,
  });

/** The first of an allowlist, which may be long: `keys show` has all. */
const inShort = (texts: readonly string[]): string =>
  texts.length > 2 ? `${texts[0]} +${texts.length - 1}` : texts.join(' ');

const requestsOf = (uses: readonly { readonly requests: number }[]): number =>
  uses.reduce((sum, { requests }) => sum + requests, 0);

/** How often the key was refused in the last day, and why most often; empty for one that never was. */
function refusedText({ refused_last_day: refused }: ShownKey): string {
  const [most] = refused.toSorted((a, b) => b.requests - a.requests);
  return most === undefined ? '' : `${requestsOf(refused)} (${most.reason})`;
}

/** How often, and when last, the key used something deprecated; empty for one that never did. */
function deprecatedText({ deprecated_uses: uses }: ShownKey): string {
  const last = uses
    .map(({ last_used_at }) => last_used_at.slice(0, 10))
    .sort()
    .at(-1);
  return last === undefined ? '' : `${counted(requestsOf(uses), 'request')} until ${last}`;
}

const cooperativesText = (codes: readonly string[] | null): string => {
  if (codes === null) return 'all cooperatives';
  return codes.length === 0 ? 'no cooperative' : codes.join(', ');
};

const purposeText = ({ purpose, require_purpose: isRequired }: ShownKey): string =>
  isRequired ? 'said by each request' : (purpose ?? 'none');

/** What a narrow key is limited to; empty for others. */
function narrowingText({ lookup_only: isLookupOnly, cooperatives }: ShownKey): string {
  const lookups = isLookupOnly ? ['lookups'] : [];
  return [...lookups, ...(cooperatives === null ? [] : [cooperativesText(cooperatives)])].join(' of ');
}

/** Keys as texts: one in full, or a table of all. */
import { type ApiKey, hasExpired, prefixOf } from '../../domain/access/api-keys.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { counted } from '../../domain/values/text.ts';
import type { DeprecatedUse } from '../../store/ports/api-keys.ts';
import { formatFields, formatTable } from '../terminal/output.ts';

/** What is needed beside keys to show them. */
export interface Showing {
  /** Epoch seconds. */
  readonly now: number;
  readonly zone: TimeZone;
  /** Of cooperatives, by id. */
  readonly codes: ReadonlyMap<number, string>;
  /** Of all keys. */
  readonly deprecatedUses: readonly DeprecatedUse[];
}

/** One that was undone has no code any more, and no other will have its id. */
const codesOf = ({ cooperatives }: ApiKey, { codes }: Showing): string[] | null =>
  cooperatives?.map((id) => codes.get(id) ?? `#${id}`) ?? null;

const usesOf = ({ id }: ApiKey, { deprecatedUses, zone }: Showing) =>
  deprecatedUses
    .filter(({ keyId }) => keyId === id)
    .map(({ name, requests, lastUsedAt }) => ({
      ...{ name, requests },
      last_used_at: formatDateTime(lastUsedAt, zone),
    }));

/** What may be shown of a key: never its secret. */
export function describeKey(key: ApiKey, showing: Showing) {
  const { now, zone } = showing;
  return {
    id: String(key.id),
    name: key.name,
    prefixes: key.prefixes,
    scopes: key.scopes,
    allowed_addresses: key.allowedAddresses,
    allowed_hosts: key.allowedHosts,
    lookup_only: key.isLookupOnly,
    allow_export: key.mayExport,
    cooperatives: codesOf(key, showing),
    per_hour: key.limits.perHour,
    per_day: key.limits.perDay,
    state: stateOf(key, now),
    is_active: key.isActive,
    deprecated_uses: usesOf(key, showing),
    expires_at: key.expiresAt === null ? null : formatDateTime(key.expiresAt, zone),
    created_at: formatDateTime(key.createdAt, zone),
    updated_at: formatDateTime(key.updatedAt, zone),
  };
}

/** The same of a key whose secret was just issued, with the secret. */
export const describeIssuedKey = (key: ApiKey, secret: string, showing: Showing) => ({
  ...describeKey(key, showing),
  key: secret,
  prefix: prefixOf(secret),
});

/** A line for each property. */
export function formatKey(key: ApiKey, showing: Showing): string {
  const shown = describeKey(key, showing);
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
    ['requests', `${shown.per_hour} an hour, ${shown.per_day} a day`],
    ['expires', shown.expires_at ?? 'never'],
    ...shown.deprecated_uses.map((use): [string, string] => [
      'deprecated',
      `${use.name}: ${counted(use.requests, 'request')}, last at ${use.last_used_at}`,
    ]),
  ]);
}

/** A row for each key. */
export function formatKeys(keys: readonly ApiKey[], showing: Showing): string {
  const rows = keys.map((key) => [
    String(key.id),
    key.name,
    stateOf(key, showing.now),
    key.prefixes.join(' '),
    key.scopes.join(' '),
    `${key.limits.perHour}/${key.limits.perDay}`,
    narrowingText(key, showing),
    key.mayExport ? 'yes' : '',
    deprecatedText(key, showing),
  ]);
  const headings = ['ID', 'NAME', 'STATE', 'STARTS WITH', 'SCOPES', 'PER HOUR/DAY', 'ONLY', 'EXPORTS'];
  // A column that is nearly always empty is shown when it is not.
  return formatTable(showing.deprecatedUses.length === 0 ? headings : [...headings, 'DEPRECATED'], rows);
}

/** How often, and when last, the key used something deprecated; empty for one that never did. */
function deprecatedText(key: ApiKey, showing: Showing): string {
  const uses = usesOf(key, showing);
  const requests = uses.reduce((sum, use) => sum + use.requests, 0);
  const last = uses
    .map(({ last_used_at }) => last_used_at.slice(0, 10))
    .sort()
    .at(-1);
  return last === undefined ? '' : `${counted(requests, 'request')} until ${last}`;
}

const cooperativesText = (codes: readonly string[] | null): string => {
  if (codes === null) return 'all cooperatives';
  return codes.length === 0 ? 'no cooperative' : codes.join(', ');
};

/** What a narrow key is limited to; empty for others. */
function narrowingText(key: ApiKey, showing: Showing): string {
  const codes = codesOf(key, showing);
  const parts = [
    ...(key.isLookupOnly ? ['lookups'] : []),
    ...(codes === null ? [] : [cooperativesText(codes)]),
  ];
  return parts.join(' of ');
}

function stateOf(key: ApiKey, now: number): string {
  if (!key.isActive) return 'disabled';
  return hasExpired(key, now) ? 'expired' : 'active';
}

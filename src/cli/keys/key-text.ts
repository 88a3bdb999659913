/** Keys as texts: one in full, or a table of all. */
import { type ApiKey, stateOfKey } from '../../domain/access/api-keys.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { counted } from '../../domain/values/text.ts';
import type { KeyUse } from '../../store/ports/api-keys.ts';
import { formatFields, formatTable } from '../terminal/output.ts';

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

/** One that was undone has no code any more, and no other will have its id. */
const codesOf = ({ cooperatives }: ApiKey, { codes }: Showing): string[] | null =>
  cooperatives?.map((id) => codes.get(id) ?? `#${id}`) ?? null;

const usesOf = ({ id }: ApiKey, kind: KeyUse['kind'], { uses, zone }: Showing) =>
  uses
    .filter((use) => use.keyId === id && use.kind === kind)
    .map(({ name, requests, lastAt }) => ({ name, requests, at: formatDateTime(lastAt, zone) }));

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
    purpose: key.purpose,
    require_purpose: key.requiresPurpose,
    per_hour: key.limits.perHour,
    per_day: key.limits.perDay,
    state: stateOfKey(key, now),
    is_active: key.isActive,
    last_used_at: usesOf(key, 'admitted', showing)[0]?.at ?? null,
    refused_last_day: usesOf(key, 'refused', showing).map(({ name, requests, at }) => ({
      ...{ reason: name, requests },
      last_at: at,
    })),
    deprecated_uses: usesOf(key, 'deprecated', showing).map(({ at, ...use }) => ({
      ...use,
      last_used_at: at,
    })),
    expires_at: key.expiresAt === null ? null : formatDateTime(key.expiresAt, zone),
    created_at: formatDateTime(key.createdAt, zone),
    updated_at: formatDateTime(key.updatedAt, zone),
  };
}

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
    ['purpose', purposeText(key)],
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

/** The columns of the list; a column that may be left out is shown when a key has something in it. */
const COLUMNS: readonly {
  readonly heading: string;
  readonly isOptional?: true;
  readonly cell: (key: ApiKey, showing: Showing) => string;
}[] = [
  { heading: 'ID', cell: ({ id }) => String(id) },
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'STATE', cell: (key, { now }) => stateOfKey(key, now) },
  { heading: 'STARTS WITH', cell: ({ prefixes }) => prefixes.join(' ') },
  { heading: 'SCOPES', cell: ({ scopes }) => scopes.join(' ') },
  { heading: 'PER HOUR/DAY', cell: ({ limits }) => `${limits.perHour}/${limits.perDay}` },
  { heading: 'ONLY', cell: narrowingText },
  { heading: 'EXPORTS', cell: ({ mayExport }) => (mayExport ? 'yes' : '') },
  { heading: 'ADDRESSES', isOptional: true, cell: (key) => inShort(key.allowedAddresses) },
  { heading: 'HOSTS', isOptional: true, cell: (key) => inShort(key.allowedHosts) },
  {
    ...{ heading: 'EXPIRES', isOptional: true },
    cell: ({ expiresAt }, { zone }) => (expiresAt === null ? '' : formatDateTime(expiresAt, zone)),
  },
  { heading: 'LAST USED', cell: (key, showing) => usesOf(key, 'admitted', showing)[0]?.at ?? 'never' },
  { heading: 'REFUSED', isOptional: true, cell: refusedText },
  { heading: 'DEPRECATED', isOptional: true, cell: deprecatedText },
];

/** A row for each key. */
export function formatKeys(keys: readonly ApiKey[], showing: Showing): string {
  const all = COLUMNS.map((column) => ({ ...column, cells: keys.map((key) => column.cell(key, showing)) }));
  const shown = all.filter(
    ({ isOptional, cells }) => isOptional !== true || cells.some((cell) => cell !== ''),
  );
  return formatTable(
    shown.map(({ heading }) => heading),
    keys.map((_, row) => shown.map(({ cells }) => cells[row] as string)),
  );
}

/** The first of an allowlist, which may be long: `keys show` has all. */
const inShort = (texts: readonly string[]): string =>
  texts.length > 2 ? `${texts[0]} +${texts.length - 1}` : texts.join(' ');

/** How often the key was refused in the last day, and why most often; empty for one that never was. */
function refusedText(key: ApiKey, showing: Showing): string {
  const refused = usesOf(key, 'refused', showing).sort((a, b) => b.requests - a.requests);
  const requests = refused.reduce((sum, use) => sum + use.requests, 0);
  return requests === 0 ? '' : `${requests} (${refused[0]?.name})`;
}

/** How often, and when last, the key used something deprecated; empty for one that never did. */
function deprecatedText(key: ApiKey, showing: Showing): string {
  const uses = usesOf(key, 'deprecated', showing);
  const requests = uses.reduce((sum, use) => sum + use.requests, 0);
  const last = uses
    .map(({ at }) => at.slice(0, 10))
    .sort()
    .at(-1);
  return last === undefined ? '' : `${counted(requests, 'request')} until ${last}`;
}

const cooperativesText = (codes: readonly string[] | null): string => {
  if (codes === null) return 'all cooperatives';
  return codes.length === 0 ? 'no cooperative' : codes.join(', ');
};

const purposeText = ({ purpose, requiresPurpose }: ApiKey): string =>
  requiresPurpose ? 'said by each request' : (purpose ?? 'none');

/** What a narrow key is limited to; empty for others. */
function narrowingText(key: ApiKey, showing: Showing): string {
  const codes = codesOf(key, showing);
  const parts = [
    ...(key.isLookupOnly ? ['lookups'] : []),
    ...(codes === null ? [] : [cooperativesText(codes)]),
  ];
  return parts.join(' of ');
}

/** Text about keys for commands and the desk: one key in full, a table of all keys, and warnings. */

import { hasKeys, type KeyUse, openKeys } from '../access/api-key-store.ts';
import { type ApiKey, type ApiKeyValues, type Scope, stateOfKey } from '../access/api-keys.ts';
import type { Storage } from '../sqlite/storage.ts';
import { formatFields, formatRows } from '../terminal/output.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { Message, say } from '../values/message.ts';
import { counted } from '../values/text.ts';

export const usesOf = (
  { id }: Pick<ApiKey, 'id'>,
  uses: readonly KeyUse[],
  kind: KeyUse['kind'],
): readonly KeyUse[] => uses.filter((use) => use.keyId === id && use.kind === kind);

const requestsOf = (uses: readonly { readonly requests: number }[]): number =>
  uses.reduce((sum, { requests }) => sum + requests, 0);

/** Counts the refused requests of the last day. */
export const refusalsOf = (key: Pick<ApiKey, 'id'>, uses: readonly KeyUse[]): number =>
  requestsOf(usesOf(key, uses, 'refused'));

/** Returns null for all cooperatives, and an id like `#7` for a cooperative whose creation was undone. */
export const codesOf = (
  { cooperatives }: Pick<ApiKey, 'cooperatives'>,
  codes: ReadonlyMap<number, string>,
): string[] | null => cooperatives?.map((id) => codes.get(id) ?? `#${id}`) ?? null;

export interface KeyContext {
  /** Epoch seconds. */
  readonly now: number;
  readonly zone: TimeZone;
  /** Codes of cooperatives, by id. */
  readonly codes: ReadonlyMap<number, string>;
  readonly uses: readonly KeyUse[];
}

export function describeKey(key: ApiKey, context: KeyContext) {
  const { now, zone, uses, codes } = context;
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

export function formatKey(key: KeyDescription): string {
  return formatFields([
    ['id', key.id],
    ['name', key.name],
    ['state', key.state],
    ['starts with', key.prefixes.join(', ')],
    ['scopes', key.scopes.join(', ')],
    ['addresses', key.allowed_addresses.join(', ') || 'any'],
    ['hosts', key.allowed_hosts.join(', ') || 'any'],
    ['lookup only', key.lookup_only ? 'yes' : 'no'],
    ['sees', cooperativesText(key.cooperatives)],
    ['exports', key.allow_export ? 'yes' : 'no'],
    ['purpose', purposeText(key)],
    ['requests', `${key.per_hour} an hour, ${key.per_day} a day`],
    ['expires', key.expires_at ?? 'never'],
    ['last used', key.last_used_at ?? 'never'],
    ...key.refused_last_day.map(({ reason, requests, last_at }): [string, string] => [
      'refused',
      `${reason}: ${counted(requests, 'request')} in the last day, last at ${last_at}`,
    ]),
    ...key.deprecated_uses.map((use): [string, string] => [
      'deprecated',
      `${use.name}: ${counted(use.requests, 'request')}, last at ${use.last_used_at}`,
    ]),
  ]);
}

type KeyDescription = ReturnType<typeof describeKey>;

export const formatKeys = (keys: readonly KeyDescription[]): string =>
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

/** Abbreviates a long allowlist. Only `keys show` prints all entries. */
const inShort = (texts: readonly string[]): string =>
  texts.length > 2 ? `${texts[0]} +${texts.length - 1}` : texts.join(' ');

function refusedText({ refused_last_day: refused }: KeyDescription): string {
  const [most] = refused.toSorted((a, b) => b.requests - a.requests);
  return most === undefined ? '' : `${requestsOf(refused)} (${most.reason})`;
}

function deprecatedText({ deprecated_uses: uses }: KeyDescription): string {
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

const purposeText = ({ purpose, require_purpose: isRequired }: KeyDescription): string =>
  isRequired ? 'said by each request' : (purpose ?? 'none');

function narrowingText({ lookup_only: isLookupOnly, cooperatives }: KeyDescription): string {
  const lookups = isLookupOnly ? ['lookups'] : [];
  return [...lookups, ...(cooperatives === null ? [] : [cooperativesText(cooperatives)])].join(' of ');
}

export type KeyNames = ReadonlyMap<number, string>;

export function readKeyNames(storage: Storage, nowSeconds: number): KeyNames {
  if (!hasKeys(storage)) return new Map();
  const store = openKeys(storage, 'manage');
  try {
    return new Map(store.list(nowSeconds).map(({ id, name }) => [id, name]));
  } finally {
    store.close();
  }
}

/** Scopes that have no effect on a lookup-only key. */
const CLOSED_TO_LOOKUPS: readonly Scope[] = [
  'members:write',
  'loans:read',
  'loans:write',
  'payments:read',
  'payments:write',
  'webhooks:receive',
];

/** Warns about values that are allowed but useless. @param others all other keys */
export function warningsOf(
  key: ApiKeyValues,
  { now, others }: { readonly now: number; readonly others: readonly { id: number; name: string }[] },
): readonly Message[] {
  const { scopes, mayExport, isLookupOnly, limits } = key;
  const namesake = others.find(({ name }) => name.toLowerCase() === key.name.toLowerCase());
  const blind = scopes.filter(
    (scope) => scope.endsWith(':write') && !scopes.includes(scope.replace('write', 'read') as Scope),
  );
  const closed = isLookupOnly ? scopes.filter((scope) => CLOSED_TO_LOOKUPS.includes(scope)) : [];
  const warnings: readonly (Message | false | undefined)[] = [
    key.expiresAt !== null &&
      key.expiresAt <= now &&
      say('The key has expired already: every request is refused.'),
    namesake && say('Key {id} has the same name.', { id: namesake.id }),
    limits.perHour > limits.perDay &&
      say('The limit of an hour, {perHour}, is above the limit of a day, {perDay}, which applies.', {
        ...limits,
      }),
    scopes.includes('members:financials') &&
      !scopes.includes('members:read') &&
      say('members:financials without members:read adds nothing to lookups, which the key may not make.'),
    blind.length > 0 &&
      say('{scopes} without reading: the key cannot read what it has written.', { scopes: blind }),
    mayExport &&
      !scopes.some((scope) => scope.endsWith(':read')) &&
      say('The key may export, but has no scope for reading that an export needs.'),
    key.purpose !== null &&
      key.requiresPurpose &&
      say('This purpose is never recorded: each request must state its own.'),
    isLookupOnly &&
      mayExport &&
      say('The key may export, but is for lookups only: it cannot export anything.'),
    closed.length > 0 && say('The key is for lookups only: it cannot use {scopes}.', { scopes: closed }),
  ];
  return warnings.filter((warning) => warning instanceof Message);
}

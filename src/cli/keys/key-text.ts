/** Keys as texts: one in full, or a table of all. */
import { type ApiKey, hasExpired, prefixOf } from '../../domain/access/api-keys.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { formatFields, formatTable } from '../terminal/output.ts';

/** What may be shown of a key: never its secret. @param now epoch seconds */
export function describeKey(key: ApiKey, now: number, zone: TimeZone) {
  return {
    id: String(key.id),
    name: key.name,
    prefixes: key.prefixes,
    scopes: key.scopes,
    allowed_addresses: key.allowedAddresses,
    allowed_hosts: key.allowedHosts,
    per_hour: key.limits.perHour,
    per_day: key.limits.perDay,
    state: stateOf(key, now),
    is_active: key.isActive,
    expires_at: key.expiresAt === null ? null : formatDateTime(key.expiresAt, zone),
    created_at: formatDateTime(key.createdAt, zone),
    updated_at: formatDateTime(key.updatedAt, zone),
  };
}

/** The same of a key whose secret was just issued, with the secret. */
export const describeIssuedKey = (
  key: ApiKey,
  secret: string,
  { now, zone }: { now: number; zone: TimeZone },
) => ({
  ...describeKey(key, now, zone),
  key: secret,
  prefix: prefixOf(secret),
});

/** A line for each property. @param now epoch seconds */
export function formatKey(key: ApiKey, now: number, zone: TimeZone): string {
  const shown = describeKey(key, now, zone);
  return formatFields([
    ['id', shown.id],
    ['name', shown.name],
    ['state', shown.state],
    ['starts with', shown.prefixes.join(', ')],
    ['scopes', shown.scopes.join(', ')],
    ['addresses', shown.allowed_addresses.join(', ') || 'any'],
    ['hosts', shown.allowed_hosts.join(', ') || 'any'],
    ['requests', `${shown.per_hour} an hour, ${shown.per_day} a day`],
    ['expires', shown.expires_at ?? 'never'],
  ]);
}

/** A row for each key. @param now epoch seconds */
export function formatKeys(keys: readonly ApiKey[], now: number): string {
  const rows = keys.map((key) => [
    String(key.id),
    key.name,
    stateOf(key, now),
    key.prefixes.join(' '),
    key.scopes.join(' '),
    `${key.limits.perHour}/${key.limits.perDay}`,
  ]);
  return formatTable(['ID', 'NAME', 'STATE', 'STARTS WITH', 'SCOPES', 'PER HOUR/DAY'], rows);
}

function stateOf(key: ApiKey, now: number): string {
  if (!key.isActive) return 'disabled';
  return hasExpired(key, now) ? 'expired' : 'active';
}

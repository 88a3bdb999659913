/** Keys as texts: a new secret, and what is shown of a key. */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type ApiKey, composeApiKey, prefixOf } from '../domain/api-keys.ts';
import { formatDateTime, type TimeZone } from '../domain/date-time.ts';
import { hashApiKey } from '../http/middleware/authenticate.ts';

/** A new key text with what is stored of it. */
export function issueSecret(): { text: string; hash: Uint8Array; prefix: string } {
  const text = composeApiKey(randomBytes, crc32);
  return { text, hash: hashApiKey(text), prefix: prefixOf(text) };
}

/** What may be told of a key: never its secret. */
export function describeKey(key: ApiKey, zone: TimeZone) {
  return {
    id: String(key.id),
    name: key.name,
    prefixes: key.prefixes,
    scopes: key.scopes,
    allowed_addresses: key.allowedAddresses,
    allowed_hosts: key.allowedHosts,
    per_hour: key.limits.perHour,
    per_day: key.limits.perDay,
    is_active: key.isActive,
    expires_at: key.expiresAt === null ? null : formatDateTime(key.expiresAt, zone),
    created_at: formatDateTime(key.createdAt, zone),
    updated_at: formatDateTime(key.updatedAt, zone),
  };
}

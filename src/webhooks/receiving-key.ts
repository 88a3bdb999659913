/** Whether the key of an endpoint may receive, and what it sees (docs/webhooks.md#keys). */
import { type ApiKey, hasExpired } from '../domain/access/api-keys.ts';

/** @returns why it gets nothing; undefined when it may receive */
export function findPause(key: ApiKey | undefined, nowSeconds: number): string | undefined {
  if (key === undefined) return 'there is no such key';
  if (!key.isActive) return 'the key is disabled';
  if (hasExpired(key, nowSeconds)) return 'the key has expired';
  if (!key.scopes.includes('webhooks:receive')) return 'the key has no scope webhooks:receive';
  // As /events: an event leads to members by their ids.
  return key.isLookupOnly ? 'the key only looks up' : undefined;
}

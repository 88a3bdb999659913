/** How often each key used what is deprecated: counted in memory, written now and then. */
import type { DeprecatedUse } from '../../ports/api-keys.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';

/** A commit costs a write to the disk and empties the cached keys of other processes. */
const WRITE_MS = 60_000;

interface UseRow {
  key_id: number;
  name: string;
  requests: number;
  last_used_at: number;
}

export function openDeprecatedUses(db: Connection) {
  const selectAll = db.prepare<[], UseRow>(
    'SELECT * FROM deprecated_uses ORDER BY key_id, name',
    'one for each key and deprecated thing, for the operator',
  );
  const add = db.prepare<[keyId: number, name: string, requests: number, lastUsedAt: number]>(
    `INSERT INTO deprecated_uses (key_id, name, requests, last_used_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key_id, name) DO UPDATE
       SET requests = requests + excluded.requests, last_used_at = excluded.last_used_at`,
  );
  const unwritten = new Map<string, UseRow>();
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    timer ??= setTimeout(write, WRITE_MS).unref();
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (unwritten.size === 0) return;
    try {
      db.transaction.immediate(() => {
        for (const use of unwritten.values()) add.run(use.key_id, use.name, use.requests, use.last_used_at);
      });
      unwritten.clear();
    } catch (error) {
      // Locked by a command, or a full disk: the counts wait for the next time.
      if (toStorageError(error) === undefined) throw error;
      schedule();
    }
  }

  return {
    count(keyId: number, name: string, nowSeconds: number): void {
      const at = `${keyId} ${name}`;
      const requests = (unwritten.get(at)?.requests ?? 0) + 1;
      unwritten.set(at, { key_id: keyId, name, requests, last_used_at: nowSeconds });
      schedule();
    },
    list: (): DeprecatedUse[] =>
      selectAll.all().map(({ key_id, name, requests, last_used_at }) => ({
        ...{ keyId: key_id, name, requests },
        lastUsedAt: last_used_at,
      })),
    /** Writes what is left. */
    close(): void {
      write();
      clearTimeout(timer);
    },
  };
}

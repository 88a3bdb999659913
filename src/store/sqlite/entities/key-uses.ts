/** What requests of each key did: counted in memory, written now and then, for all keys together. */
import { DAY_SECONDS } from '../../../domain/values/date-time.ts';
import type { KeyUse } from '../../contract/api-keys.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';

/** A commit costs a write to the disk and empties the cached keys of other processes. */
const WRITE_MS = 60_000;
const HOUR_SECONDS = 3_600;

/** Refusals are counted by the hour, so that old ones can be left out; other uses have hour 0. */
type UseRow = [
  keyId: number,
  kind: KeyUse['kind'],
  name: string,
  hour: number,
  requests: number,
  lastAt: number,
];

export function openKeyUses(db: Connection) {
  const selectAll = db.prepare<[number], KeyUse>(
    `SELECT key_id AS keyId, kind, name, sum(requests) AS requests, max(last_at) AS lastAt
     FROM key_uses WHERE kind <> 'refused' OR hour > ? GROUP BY key_id, kind, name
     ORDER BY key_id, kind, name`,
    'one for each key and thing, and for each hour of the last day, for the operator',
  );
  const add = db.prepare<UseRow>(
    `INSERT INTO key_uses (key_id, kind, name, hour, requests, last_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (key_id, kind, name, hour) DO UPDATE
       SET requests = requests + excluded.requests, last_at = excluded.last_at`,
  );
  const removeOld = db.prepare<[number]>("DELETE FROM key_uses WHERE kind = 'refused' AND hour <= ?");
  const dayBefore = (seconds: number): number => hourOf(seconds - DAY_SECONDS);
  /** By key, then by what names the row: empty for nearly every request, which costs nothing to make. */
  const unwritten = new Map<number, Map<string, UseRow>>();
  let timer: NodeJS.Timeout | undefined;
  let lastAt = 0;
  let isClosed = false;

  function schedule(): void {
    timer ??= setTimeout(write, WRITE_MS).unref();
  }

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (unwritten.size === 0) return;
    try {
      db.transaction.immediate(() => {
        for (const uses of unwritten.values()) for (const use of uses.values()) add.run(...use);
        removeOld.run(dayBefore(lastAt));
      });
      unwritten.clear();
    } catch (error) {
      // Locked by a command, or a full disk: the counts wait for the next time.
      if (toStorageError(error) === undefined) throw error;
      schedule();
    }
  }

  return {
    count(keyId: number, kind: KeyUse['kind'], name: string, nowSeconds: number): void {
      // On a server of its own, a program that embeds the registry may end a response after that.
      if (isClosed) return;
      lastAt = nowSeconds;
      let uses = unwritten.get(keyId);
      if (uses === undefined) {
        uses = new Map();
        unwritten.set(keyId, uses);
        schedule();
      }
      const hour = kind === 'refused' ? hourOf(nowSeconds) : 0;
      const at = kind === 'admitted' ? '' : `${kind} ${hour} ${name}`;
      const use = uses.get(at);
      if (use === undefined) uses.set(at, [keyId, kind, name, hour, 1, nowSeconds]);
      else {
        use[4]++;
        use[5] = nowSeconds;
      }
    },
    list: (nowSeconds: number): KeyUse[] => selectAll.all(dayBefore(nowSeconds)),
    /** Writes what is left. */
    close(): void {
      isClosed = true;
      write();
      clearTimeout(timer);
    },
  };
}

const hourOf = (seconds: number): number => Math.floor(seconds / HOUR_SECONDS);

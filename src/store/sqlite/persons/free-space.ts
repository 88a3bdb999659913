/** Copies of erased values that SQLite has left in free space of the file, and in its log. */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import type { Connection } from '../engine/connection.ts';
import { isBusy, isDiskFull } from '../engine/errors.ts';
import { rebuildNames } from '../search/index-names.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Whether the file has any of the texts, which are shorter than a chunk. */
function fileHas(file: string, texts: readonly string[]): boolean {
  const overlap = Math.max(...texts.map((text) => Buffer.byteLength(text)));
  const chunk = Buffer.alloc(CHUNK_BYTES + overlap);
  const handle = openSync(file, 'r');
  try {
    for (let position = 0; ; position += CHUNK_BYTES) {
      const length = readSync(handle, chunk, 0, chunk.length, position);
      const read = chunk.subarray(0, length);
      if (texts.some((text) => read.includes(text))) return true;
      if (length < chunk.length) return false;
    }
  } finally {
    closeSync(handle);
  }
}

/** Why the log or free space may still hold values of erased persons. */
export type Uncleared = 'readers' | 'writers' | 'disk';

export interface Clearing {
  /** Undefined when all is clear. */
  readonly uncleared?: Uncleared;
  /** Whether the file has one of the texts, which are in rows if all is clear. */
  readonly hasText: boolean;
}

const READERS: Clearing = { uncleared: 'readers', hasText: true };

/** Whether copies of the values of any erased person may be left, after a kill for example. */
export const isUncleared = (db: Connection): boolean =>
  db.has('main.erased_persons WHERE cleared_at IS NULL');

/**
 * Empties the log and rewrites the file: secure_delete zeroes what is deleted, but not what moved to another
 * page earlier, and a code or first name that is found may be anybody's.
 * @param texts that nobody should have any more: the national IDs of a person who was erased
 * @param waitMs for readers and writers
 * @throws what is neither a busy lock nor a full disk
 */
export function clearFreeSpace(
  db: Connection,
  texts: readonly string[],
  nowSeconds: number,
  waitMs: number,
): Clearing {
  const file = db.raw.name;
  const log = `${file}-wal`;
  const emptyLog = (): boolean => {
    db.raw.pragma('main.wal_checkpoint(TRUNCATE)');
    return !existsSync(log) || statSync(log).size === 0;
  };
  try {
    db.waitForLock(waitMs);
    if (!emptyLog()) return READERS;
    rebuildNames(db);
    db.exec('VACUUM main');
    if (!emptyLog()) return READERS;
    const hasText = fileHas(file, texts);
    db.run('UPDATE main.erased_persons SET cleared_at = ? WHERE cleared_at IS NULL', [nowSeconds]);
    emptyLog();
    return { hasText };
  } catch (error) {
    if (isBusy(error)) return { uncleared: 'writers', hasText: true };
    if (isDiskFull(error)) return { uncleared: 'disk', hasText: true };
    throw error;
  }
}

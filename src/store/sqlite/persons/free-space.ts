/** Copies of erased values that SQLite has left in free space of the file, and in its log. */
import { existsSync, statSync } from 'node:fs';
import type { Connection } from '../engine/connection.ts';
import { isBusy, isDiskFull } from '../engine/errors.ts';
import { rebuildNames } from '../search/index-names.ts';

/** Why the log or free space may still hold values of erased persons. */
export type Uncleared = 'readers' | 'writers' | 'disk';

/** Whether copies of the values of any erased person may be left, after a kill for example. */
export const isUncleared = (db: Connection): boolean =>
  db.has('main.erased_persons WHERE cleared_at IS NULL');

/**
 * Empties the log and rewrites the file: secure_delete zeroes what is deleted, but not what moved to another
 * page earlier, and a code or first name that is found may be anybody's.
 * @param waitMs for readers and writers
 * @returns why values may be left; undefined when all is clear
 * @throws what is neither a busy lock nor a full disk
 */
export function clearFreeSpace(db: Connection, nowSeconds: number, waitMs: number): Uncleared | undefined {
  const log = `${db.raw.name}-wal`;
  const emptyLog = (): boolean => {
    db.raw.pragma('main.wal_checkpoint(TRUNCATE)');
    return !existsSync(log) || statSync(log).size === 0;
  };
  try {
    db.waitForLock(waitMs);
    if (!emptyLog()) return 'readers';
    rebuildNames(db);
    db.exec('VACUUM main');
    if (!emptyLog()) return 'readers';
    db.run('UPDATE main.erased_persons SET cleared_at = ? WHERE cleared_at IS NULL', [nowSeconds]);
    emptyLog();
    return undefined;
  } catch (error) {
    if (isBusy(error)) return 'writers';
    if (isDiskFull(error)) return 'disk';
    throw error;
  }
}

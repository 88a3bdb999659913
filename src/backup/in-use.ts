/** Detects processes that have a database open, including idle processes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { listAllFiles } from '../ledger/ledger-files.ts';
import { isLocked } from '../sqlite/file-use.ts';
import { DATABASE_FILES, keysFileOf } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';

/**
 * True if a process has the file of keys open: a service all the time, a backup during the copy of the
 * databases, and any other command only for an instant.
 */
export const isServed = (databaseFile: string): boolean => isLocked(keysFileOf(databaseFile));

/** Delay before each check, in which a process that is about to open a file can open it. */
const LOOK_AGAIN_MS = 200;

/**
 * Waits until all databases and the newest ledger file are closed. Damaged and deleted files count as closed.
 * @param toMessage formats the error for a file that is still open
 * @throws StorageError when a file is still open after `maxWaitMs`
 */
export async function assertUnused(
  databaseFile: string,
  maxWaitMs: number,
  toMessage: (openFile: string) => string,
): Promise<void> {
  const newestOfLedger = listAllFiles(databaseFile).slice(-1);
  const files = [
    ...DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile)),
    ...newestOfLedger.map(({ path }) => path),
  ];
  for (let waitedMs = LOOK_AGAIN_MS; ; waitedMs += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    const openFile = files.find(isLocked);
    if (openFile === undefined) return;
    if (waitedMs >= maxWaitMs) throw new StorageError('failed', toMessage(openFile));
  }
}

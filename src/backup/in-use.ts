/** Detects processes that have a database open, even idle ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import { listAllFiles } from '../ledger/ledger-files.ts';
import { isLocked } from '../sqlite/file-use.ts';
import { DATABASE_FILES, keysFileOf } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/storage-error.ts';

/**
 * True while a service may have the registry open. A service keeps the keys open, a command locks them only
 * briefly, and a backup for as long as it copies the databases.
 */
export const isServed = (databaseFile: string): boolean => isLocked(keysFileOf(databaseFile));

/** Interval between checks. A process that was about to open a file has opened that file after this time. */
const LOOK_AGAIN_MS = 200;

/**
 * Waits until no process has a lock on a file of the registry. Damaged and deleted files have no locks.
 * @param toMessage formats the error for the file still open
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

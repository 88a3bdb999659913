/** Detects processes that have a database open, even idle ones. */
import { setTimeout as sleep } from 'node:timers/promises';
import { listAllFiles } from '../ledger/ledger-files.ts';
import { isLocked } from '../sqlite/file-use.ts';
import { DATABASE_FILES, keysFileOf } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/storage-error.ts';

/**
 * True while a program on this machine may be serving the registry: a service keeps the keys open, a command
 * only for moments, and a backup while it copies them.
 */
export const isServed = (databaseFile: string): boolean => isLocked(keysFileOf(databaseFile));

/** A process that was still allowed to open a file when the restore began opens it within this time. */
const LOOK_AGAIN_MS = 200;

/**
 * Waits until no process has a lock on a file of the registry; damaged and deleted files have none.
 * @param toMessage formats the error for the file still open
 * @throws StorageError (as a rejection)
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

/** Whether a process has a database open, even if it does nothing with it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../../contract/storage-error.ts';
import { isLocked } from '../engine/file-use.ts';
import { DATABASE_FILES, keysFileOf } from '../files/registry-files.ts';
import { listAllFiles } from '../ledger/ledger-files.ts';

/** Whether a program may serve the registry: it has the keys open all the time, a backup for a while. */
export const isInService = (databaseFile: string): boolean => isLocked(keysFileOf(databaseFile));

/** A process may have looked whether it may open files just before it might not, and opened them since. */
const LOOK_AGAIN_MS = 200;

/**
 * Waits until no process has a file of the registry open, as far as locks show it: one that is damaged or was
 * deleted shows none.
 * @param toMessage of the error, with the file that is still open
 * @throws StorageError (as rejection)
 */
export async function assertUnused(
  databaseFile: string,
  maxWaitMs: number,
  toMessage: (used: string) => string,
): Promise<void> {
  const ledger = listAllFiles(databaseFile).slice(-1);
  const files = [
    ...DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile)),
    ...ledger.map(({ path }) => path),
  ];
  for (let waitedMs = LOOK_AGAIN_MS; ; waitedMs += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    const used = files.find(isLocked);
    if (used === undefined) return;
    if (waitedMs >= maxWaitMs) throw new StorageError('failed', toMessage(used));
  }
}

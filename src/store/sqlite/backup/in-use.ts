/** Whether a process has a database open, even if it does nothing with it. */
import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../../ports/storage-error.ts';
import { isLocked } from '../engine/file-use.ts';
import { DATABASE_FILES, keysFileOf } from '../files/registry-files.ts';

/**
 * Every connection in WAL mode holds a shared lock on the file until it is closed, so that an exclusive one
 * cannot be had. A file that is damaged or was deleted cannot be asked in this way; the system's list of open
 * files shows it, as far as this user may see the process.
 */
export const isInUse = (file: string): boolean => isLocked(file) || isOpenElsewhere(file);

/** Whether a program may serve the registry: it has the keys open all the time, a backup for a while. */
export const isInService = (databaseFile: string): boolean => isLocked(keysFileOf(databaseFile));

/** A process may have looked whether it may open files just before it might not, and opened them since. */
const LOOK_AGAIN_MS = 200;

/**
 * Waits until no process has a file of the registry open.
 * @param toMessage of the error, with the file that is still open
 * @throws StorageError (as rejection)
 */
export async function assertUnused(
  databaseFile: string,
  maxWaitMs: number,
  toMessage: (used: string) => string,
): Promise<void> {
  const files = DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile));
  for (let waitedMs = LOOK_AGAIN_MS; ; waitedMs += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    const used = files.find(isInUse);
    if (used === undefined) return;
    if (waitedMs >= maxWaitMs) throw new StorageError('failed', toMessage(used));
  }
}

function isOpenElsewhere(file: string): boolean {
  if (!existsSync(dirname(file))) return false;
  const path = join(realpathSync(dirname(file)), basename(file));
  const names = [path, `${path} (deleted)`];
  return otherProcesses().some((pid) =>
    listOpenFiles(pid).some((handle) => names.includes(readLink(`/proc/${pid}/fd/${handle}`))),
  );
}

/** Ids of the processes of this machine; none where the system does not list them as Linux does. */
function otherProcesses(): string[] {
  const isOther = (name: string) => /^[0-9]+$/.test(name) && name !== String(process.pid);
  return readNames('/proc').filter(isOther);
}

const listOpenFiles = (pid: string): string[] => readNames(`/proc/${pid}/fd`);

/** Empty also for what ends meanwhile, or belongs to another user. */
function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

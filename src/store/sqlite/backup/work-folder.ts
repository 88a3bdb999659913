/**
 * The folder in which a backup is written before it gets its name: `NAME.incomplete-PID`. A backup that was
 * killed leaves it behind. The next one of the same name removes it; of dated names, the next dated one does.
 */
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createFolder, createPrivateFolder } from '../../../runtime/new-files.ts';
import { isDatedName } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { isRunning } from '../engine/file-use.ts';
import { syncPath } from '../files/durable-files.ts';

/** The name of a folder that is, or was, about to become a backup, or to be removed. */
export const incompleteNameOf = (name: string): string => `${name}.incomplete-${process.pid}`;

/**
 * Creates the folder for a backup that will be called `target`, and removes what killed ones have left.
 * @throws StorageError `unusable` when the target is not a new or empty folder, or cannot be created
 */
export function createWorkFolder(target: string): string {
  assertNewOrEmpty(target);
  const folder = incompleteNameOf(resolve(target));
  try {
    createFolder(dirname(folder));
    removeIncomplete(dirname(folder), basename(resolve(target)));
    createPrivateFolder(folder);
    return folder;
  } catch (error) {
    throw cannotBeWritten(target, error);
  }
}

function assertNewOrEmpty(target: string): void {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new StorageError('unusable', `${target} is not a folder.`);
  let names: string[];
  try {
    names = readdirSync(target);
  } catch (error) {
    throw cannotBeWritten(target, error);
  }
  if (names.length > 0)
    throw new StorageError('unusable', `${target} is not empty. Choose a new or an empty folder.`);
}

/** Gives the complete folder its name; on disk when this returns. */
export function completeFolder(folder: string, target: string): void {
  syncPath(folder);
  try {
    // Also in the place of an empty folder.
    renameSync(folder, resolve(target));
  } catch (error) {
    throw cannotBeWritten(target, error);
  }
  syncPath(dirname(folder));
}

const cannotBeWritten = (target: string, error: unknown): StorageError => {
  const { code, message } = error as NodeJS.ErrnoException;
  const hint = code === 'EBUSY' ? ' It is the root of a disk: choose a folder in it.' : '';
  return new StorageError('unusable', `${target} cannot be written: ${message}.${hint}`, { cause: error });
};

/** Removes the folders that killed backups have left. */
function removeIncomplete(parent: string, target: string): void {
  const isSame = isDatedName(target) ? isDatedName : (other: string) => other === target;
  for (const name of readdirSync(parent)) {
    const [, other, pid] = /^(.*)\.incomplete-([0-9]+)$/.exec(name) ?? [];
    if (other === undefined || !isSame(other) || isOfRunning(Number(pid))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** In a container every backup may have the same process id: one that is our own is of an earlier process. */
const isOfRunning = (pid: number): boolean => pid !== process.pid && isRunning(pid);

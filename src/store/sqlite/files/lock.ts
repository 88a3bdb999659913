/** Locks that tell processes apart: files in which nothing is stored. */
import { existsSync } from 'node:fs';
import type { FileLock } from '../../ports/storage.ts';
import { lockFile } from '../engine/file-use.ts';
import { createPrivateFile } from './durable-files.ts';

/**
 * Locks a file that only its owner can read, created when it is missing.
 * @returns undefined while somebody else has it locked
 */
export function lockPrivateFile(path: string): FileLock | undefined {
  if (!existsSync(path)) create(path);
  const lock = lockFile(path);
  return lock && { release: () => void lock.close() };
}

function create(path: string): void {
  try {
    createPrivateFile(path);
  } catch (error) {
    // Another process has created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

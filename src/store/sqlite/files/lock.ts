/** Locks that tell processes apart: files in which nothing is stored. */
import { existsSync } from 'node:fs';
import { lockFile } from '../engine/file-use.ts';
import { createPrivateFile } from './durable-files.ts';

/** A file that this process has locked. The system takes the lock back when the process ends. */
export interface FileLock {
  release(): void;
}

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

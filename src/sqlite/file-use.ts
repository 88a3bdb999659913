/** Locks files, and detects whether a file is in use: by its lock, or by the process id in its name. */
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivateFile } from './durable-files.ts';
import { isBusy } from './sqlite-errors.ts';

/**
 * True if a connection has a lock on the file. In WAL mode, every open connection has a lock, even if idle. A
 * missing or damaged file counts as not locked.
 */
export function isLocked(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0, fileMustExist: true });
    // Locks the file itself, because in WAL mode BEGIN EXCLUSIVE waits only for writers.
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; ROLLBACK');
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    db?.close();
  }
}

/**
 * Locks a file that stores nothing and that only its owner can read. Creates a missing file. The lock ends
 * when the connection is closed or the process ends.
 * @returns undefined while another process or connection has the lock
 */
export function lockPrivateFile(file: string): Database.Database | undefined {
  try {
    if (!existsSync(file)) createPrivateFile(file);
  } catch (error) {
    // Another process has created the file in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const lock = new Database(file, { timeout: 0 });
  try {
    // Journal in memory, because a journal file would remain after the lock.
    lock.pragma('journal_mode = MEMORY');
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    return undefined;
  }
}

/** True if a process with this id exists, even if it belongs to another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

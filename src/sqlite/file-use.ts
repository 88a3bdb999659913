/** Detects whether a file is in use, by its lock or by the process id in its name. */
import Database from 'better-sqlite3';
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
 * Locks a file that stores nothing, until the connection is closed or its process ends.
 * @returns undefined while another connection holds the lock
 */
export function lockFile(file: string): Database.Database | undefined {
  const lock = new Database(file, { timeout: 0 });
  try {
    // No journal file, which would remain after the lock
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

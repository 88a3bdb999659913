/** Who uses a file: by its lock, and by the process that its name tells of. */
import Database from 'better-sqlite3';
import { isBusy } from './errors.ts';

/**
 * Whether a connection holds a lock on the file. In WAL mode every open one does, even if it does nothing.
 * What cannot be asked, because the file is missing or damaged, counts as not locked.
 */
export function isLocked(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0, fileMustExist: true });
    // Asks for the file itself: in WAL mode BEGIN EXCLUSIVE only waits for writers.
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
 * Locks a file that nothing is stored in, until the connection is closed or its process ends: the system
 * itself then takes the lock back.
 * @returns undefined while another connection has it
 */
export function lockFile(file: string): Database.Database | undefined {
  const lock = new Database(file, { timeout: 0 });
  try {
    // Without a journal file, which would be left behind.
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

/** Whether a process of this id exists, whoever it belongs to. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

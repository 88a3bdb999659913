/** The write-ahead log of a database: its size limit, its checkpoints and its removal. */
import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type Connection, WAIT_MS } from './connection.ts';
import { isBusy } from './sqlite-errors.ts';

/** Copies the log into the file as far as readers and writers allow, without waiting for them. */
export function copyLog({ raw }: Connection): void {
  raw.pragma('main.wal_checkpoint(PASSIVE)');
}

/**
 * Copies the log into the file, so that the next write reuses the log from its start. Waits for readers and
 * writers up to the lock timeout. After the timeout, the rest stays in the log, without an error.
 * @throws the driver's error, for example when the disk is full
 */
export function restartLog({ raw }: Connection): void {
  raw.pragma('wal_checkpoint(RESTART)');
}

/** Empties the log of the main file as far as readers allow, without delaying writers. */
export function emptyLog(db: Connection): void {
  // The first checkpoint copies without a lock. The second checkpoint only truncates the file of the log, or
  // gives up at once if the lock is taken.
  copyLog(db);
  db.setLockTimeout(0);
  try {
    db.raw.pragma('main.wal_checkpoint(TRUNCATE)');
  } finally {
    db.setLockTimeout(WAIT_MS.command);
  }
}

/** Waits up to the lock timeout. @returns false if a reader or a writer still needs the log */
export function truncateLog({ raw }: Connection): boolean {
  const log = `${raw.name}-wal`;
  raw.pragma('main.wal_checkpoint(TRUNCATE)');
  return !existsSync(log) || statSync(log).size === 0;
}

/** Removes the log, unless another process is using the file. */
export function removeLog(db: Connection): void {
  try {
    db.setLockTimeout(0);
    db.raw.pragma('journal_mode = DELETE');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** Turns off WAL mode, because reading in this mode creates files and fails on a read-only disk. */
export function leaveLogMode(file: string): void {
  const copy = new Database(file);
  try {
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/** Classifies errors of SQLite, and returns errors with messages for operators. */
import Database from 'better-sqlite3';
import { RegistryError } from '../values/errors.ts';
import { StorageError } from './storage-error.ts';

const codeOf = (error: unknown): string => (error instanceof Database.SqliteError ? error.code : '');

/** True if another process holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** True if the disk is full or refuses writes. Nothing of the transaction was stored. */
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_FULL' || isFailedWrite(error);

/** True if the system refused a write for a reason other than ENOSPC: a quota, a limit, a broken disk. */
export const isFailedWrite = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_IOERR_WRITE');

/** True if a database is corrupt: its contents are not what SQLite has written. */
export const isDamaged = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CORRUPT');

/** True if rows violate a constraint of the schema. In this case the values are wrong, not the file. */
export const isConstraint = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CONSTRAINT');

/** @returns the error for callers of the store; undefined if the file and the disk are not the cause */
export function toStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  const failed = (message: string) => new StorageError('failed', message, { cause: error });
  const code = codeOf(error);
  if (isDiskFull(error)) return failed('The disk is full. Nothing was written.');
  if (isDamaged(error) || code === 'SQLITE_NOTADB') {
    return failed(`The database file is damaged: ${(error as Error).message}. Restore a copy.`);
  }
  return code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY') || isBusy(error)
    ? failed(`The database file cannot be used: ${(error as Error).message}.`)
    : undefined;
}

/** @returns as `toStorageError` @throws the error itself if the file and the disk are not the cause */
export function faultOf(error: unknown): StorageError {
  const fault = toStorageError(error);
  if (fault === undefined) throw error;
  return fault;
}

/**
 * Returns an error for operators if the disk or another writer has stopped a command's transaction.
 * @param nothing the work not done, such as `Nothing was undone`
 * @returns any other error unchanged
 */
export function toUnavailable(error: unknown, nothing: string): unknown {
  const unavailable = (message: string) => new RegistryError('unavailable', message, { cause: error });
  if (isBusy(error)) return unavailable(`Another process is writing to the registry. ${nothing}; try again.`);
  return isDiskFull(error) ? unavailable(`The disk is full. ${nothing}.`) : error;
}

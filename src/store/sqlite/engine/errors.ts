/** What the errors of SQLite mean, and the messages for the operator. */
import Database from 'better-sqlite3';
import { RegistryError } from '../../../domain/values/errors.ts';
import { StorageError } from '../../contract/storage-error.ts';

const codeOf = (error: unknown): string => (error instanceof Database.SqliteError ? error.code : '');

/** Another process holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** The disk took no more: nothing of the transaction was kept. SQLite says so of ENOSPC, not of a quota. */
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_FULL' || isFailedWrite(error);

/** The system refused a write for another reason than ENOSPC: a quota, a limit, a broken disk. */
export const isFailedWrite = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_IOERR_WRITE');

/** It is a database, but what is read is not what SQLite has written. */
export const isDamaged = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CORRUPT');

/** The rows break a constraint of the schema: what was written is wrong, not the file. */
export const isConstraint = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CONSTRAINT');

/**
 * @returns the error as callers of the store may know it; undefined for one that is not about the file or the
 * disk
 */
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

/** @returns as `toStorageError` @throws the error where it is not about the file or the disk */
export function faultOf(error: unknown): StorageError {
  const fault = toStorageError(error);
  if (fault === undefined) throw error;
  return fault;
}

/**
 * What the disk and other writers do to the transaction of a command, in words for the operator.
 * @param nothing what did not happen, such as `Nothing was undone`
 * @returns any other error as it is
 */
export function toUnavailable(error: unknown, nothing: string): unknown {
  const unavailable = (message: string) => new RegistryError('unavailable', message, { cause: error });
  if (isBusy(error)) return unavailable(`Another process is writing to the registry. ${nothing}; try again.`);
  return isDiskFull(error) ? unavailable(`The disk is full. ${nothing}.`) : error;
}

/** Defines storage errors with messages for operators, and recognises and converts SQLite errors. */

import Database from 'better-sqlite3';
import { typedCommand } from '../runtime/typed-command.ts';
import { RegistryError } from '../values/errors.ts';

/**
 * `unusable`: the location does not exist, belongs to another program or release, or cannot be opened.
 * `failed`: the disk, the file or another process's lock prevented the work.
 */
type StorageErrorKind = 'unusable' | 'failed';

export class StorageError extends Error {
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/** @param what beginning of the message, to which a colon and the message of the cause are added */
export const unusable = (what: string, cause: unknown): StorageError =>
  new StorageError('unusable', `${what}: ${(cause as Error).message}.`, { cause });

const codeOf = (error: unknown): string => (error instanceof Database.SqliteError ? error.code : '');

/** True if another process has the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** True if the disk is full or refuses writes. In this case nothing of the transaction was stored. */
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_FULL' || isFailedWrite(error);

/** True if the system refused a write because of a quota, a limit or a broken disk, but not for ENOSPC. */
export const isFailedWrite = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_IOERR_WRITE');

export const isDamaged = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CORRUPT');

export const isConstraint = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CONSTRAINT');

/** @returns undefined unless the file, its lock or the disk has caused the error */
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

/** Like `toStorageError`, but throws an error for which `toStorageError` returns undefined. */
export function faultOf(error: unknown): StorageError {
  const fault = toStorageError(error);
  if (fault === undefined) throw error;
  return fault;
}

/** @param nothing says that no work was done, in a sentence such as `Nothing was undone` */
export function toUnavailable(error: unknown, nothing: string): unknown {
  const unavailable = (message: string) => new RegistryError('unavailable', message, { cause: error });
  if (isBusy(error)) return unavailable(`Another process is writing to the registry. ${nothing}; try again.`);
  return isDiskFull(error) ? unavailable(`The disk is full. ${nothing}.`) : error;
}

export class MovedError extends Error {}

/** @param error error after which the service writes nothing more */
export const toWriteFailure = (file: string, error: unknown): StorageError =>
  new StorageError(
    'failed',
    error instanceof MovedError
      ? `${file} was moved or replaced while it was served: nothing is written any more. ` +
          'Put it back or restore a backup, then start again.'
      : `Writing to ${file} failed: ${(error as Error).message}. Look at the disk, and check the registry ` +
          `before you start again: ${typedCommand('check', file)}`,
    { cause: error },
  );

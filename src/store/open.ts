/** The one file outside the engines' folders that knows which engines exist: today SQLite. */
import type { Storage, StorageDependencies } from './ports/storage.ts';
import type { StorageError } from './ports/storage-error.ts';
import { toStorageError as toSqliteError } from './sqlite/engine/errors.ts';
import { openSqliteStorage } from './sqlite/storage.ts';

/**
 * @param location as the configuration names it: the path of a SQLite file. Another engine would have
 * another spelling.
 */
export const openStorage = (location: string, dependencies: StorageDependencies): Storage =>
  openSqliteStorage(location, dependencies);

/**
 * @returns an engine's own error as one that an operator understands; undefined for one that is not about
 * storage
 */
export const toStorageError = (error: unknown): StorageError | undefined => toSqliteError(error);

/** Opens a SQLite file: sets the settings of every connection, reads them back, migrates the schema. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { createFolder, openPrivateFile } from '../../../runtime/new-files.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { Connection } from './connection.ts';
import { isBusy, toStorageError } from './errors.ts';
import { assertNewest, isEmpty, migrate, type Schema } from './migrate.ts';
import { type ConnectionSettings, pragmasOf, WAIT_MS } from './pragmas.ts';

/** SQLite before this can corrupt a WAL database that two processes use. */
const OLDEST_SQLITE = [3, 51, 3] as const;

export interface OpenOptions extends ConnectionSettings {
  /** Tables of the file: an older schema is migrated to the newest, or refused when `readOnly`. */
  readonly schema?: Schema;
  /** Refuses an older schema instead of migrating it; a file without tables gets the newest. */
  readonly keepsSchema?: boolean;
  /** For another process's lock, once the file is open; opening itself waits for `WAIT_MS.opening`. */
  readonly waitMs: number;
  /** Makes a missing file, readable by its owner only: it holds national IDs. */
  readonly create?: boolean;
}

/** @throws StorageError `unusable`; nothing is left open then */
export function openDatabase(file: string, options: OpenOptions): Connection {
  if (!existsSync(file)) {
    if (options.create !== true) throw new StorageError('unusable', `There is no database at ${file}.`);
    createEmpty(file);
  }
  let raw: Database.Database;
  try {
    raw = new Database(file, { timeout: WAIT_MS.opening, fileMustExist: true });
  } catch (error) {
    throw new StorageError('unusable', `${file} cannot be opened: ${(error as Error).message}.`, {
      cause: error,
    });
  }
  try {
    const connection = prepareConnection(raw, options);
    connection.waitForLock(options.waitMs);
    return connection;
  } catch (error) {
    raw.close();
    if (error instanceof StorageError) throw error;
    if (isBusy(error)) throw toStorageError(error);
    const message = `${file} cannot be used as a database: ${(error as Error).message}.`;
    throw new StorageError('unusable', message, { cause: error });
  }
}

/**
 * Whether a file is there and has tables: a power cut can leave a database empty that was being created.
 * @returns true also for one that cannot be read, so that whoever opens it says why
 */
export function hasTables(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    return !withDatabase(file, { readOnly: true, waitMs: WAIT_MS.command }, isEmpty);
  } catch {
    return true;
  }
}

/** Opens a file for as long as some work takes. @throws StorageError as `openDatabase` */
export function withDatabase<T>(file: string, options: OpenOptions, work: (db: Connection) => T): T {
  const db = openDatabase(file, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/**
 * An empty database that is gone once it is closed, in a file without a name that only its owner can read:
 * what a dry run compares with where there is no registry.
 */
export function openTemporary(schema: Schema, settings: ConnectionSettings): Connection {
  const raw = new Database('');
  const pragmas = pragmasOf(settings).filter(({ name }) => name !== 'journal_mode');
  for (const { name, value } of pragmas) raw.pragma(`${name} = ${value}`);
  const connection = new Connection(raw, settings);
  migrate(connection, schema);
  return connection;
}

function prepareConnection(raw: Database.Database, options: OpenOptions): Connection {
  assertVersion(raw);
  for (const { name, value } of pragmasOf(options)) raw.pragma(`${name} = ${value}`);
  const connection = new Connection(raw, options);
  const { schema, readOnly, keepsSchema } = options;
  if (schema !== undefined) {
    const isKept = readOnly === true || (keepsSchema === true && !isEmpty(connection));
    (isKept ? assertNewest : migrate)(connection, schema);
  }
  const wrong = connection.wrongSettings();
  if (wrong.length > 0) throw new Error(`wrong settings (${wrong.join(', ')})`);
  return connection;
}

function createEmpty(file: string): void {
  try {
    createFolder(dirname(file));
    // SQLite gives the -wal and -shm files the mode and the owner of the database.
    closeSync(openNew(file));
  } catch (error) {
    throw new StorageError('unusable', `${file} cannot be created: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** Another process may have created it meanwhile, or it is a link to where it is to be created. */
function openNew(file: string): number {
  try {
    return openPrivateFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return openSync(file, 'a', 0o600);
  }
}

function assertVersion(raw: Database.Database): void {
  const version = raw.prepare('SELECT sqlite_version()').pluck().get() as string;
  const parts = version.split('.').map(Number);
  const firstDifferent = OLDEST_SQLITE.findIndex((part, i) => parts[i] !== part);
  if (firstDifferent >= 0 && (parts[firstDifferent] as number) < (OLDEST_SQLITE[firstDifferent] as number)) {
    throw new StorageError(
      'unusable',
      `SQLite ${version} is older than ${OLDEST_SQLITE.join('.')} and can corrupt the file.`,
    );
  }
}

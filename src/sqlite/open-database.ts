/** Opens a SQLite file: applies and verifies the settings of a connection, and migrates the schema. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isOlder } from '../runtime/node-version.ts';
import { createFolder, openPrivateFile } from '../runtime/process.ts';
import { Connection, type ConnectionSettings, pragmasOf, WAIT_MS } from './connection.ts';
import { isBusy, toStorageError } from './sqlite-errors.ts';
import { StorageError, unusable } from './storage-error.ts';

// Migration to the newest schema. Each step runs once, in order, and either completely or not at all.

export interface Schema {
  /** Number in SQLite's file header that identifies a file of this program. */
  readonly applicationId: number;
  readonly migrations: readonly string[];
  /** Messages for files with other application ids; each is the end of a sentence about the file. */
  readonly mistakenFor?: { readonly [applicationId: number]: string };
}

const readNumber = (db: Connection, pragma: string): number =>
  db.raw.pragma(pragma, { simple: true }) as number;

/**
 * Migrates a database to the newest schema.
 * @throws StorageError for a file of another program or a newer release
 */
export function migrate(db: Connection, schema: Schema): void {
  if (readNumber(db, 'user_version') === schema.migrations.length) {
    assertOurs(db, schema);
    return;
  }
  try {
    // Checked again inside the transaction, because another process may have migrated the file meanwhile.
    db.transaction.immediate(() => {
      for (const sql of schema.migrations.slice(readVersion(db, schema))) db.exec(sql);
      db.raw.pragma(`application_id = ${schema.applicationId}`);
      db.raw.pragma(`user_version = ${schema.migrations.length}`);
    });
  } catch (error) {
    if (error instanceof StorageError || isBusy(error)) throw error;
    throw unusable(`${db.raw.name} could not be migrated`, error);
  }
}

/**
 * Refuses a file that `migrate` would change.
 * @throws StorageError also for a file of an older release
 */
function assertNewest(db: Connection, schema: Schema): void {
  const version = readVersion(db, schema);
  if (version === schema.migrations.length) return;
  throw new StorageError(
    'unusable',
    `${db.raw.name} was written by an older release (schema ${version}). Open it once with this release.`,
  );
}

/**
 * Returns the schema version of a file that may be older than this release, or 0 for a file without tables.
 * @throws StorageError for a file of another program or a newer release
 */
export function readVersion(db: Connection, schema: Schema): number {
  assertOurs(db, schema);
  const version = readNumber(db, 'user_version');
  const newest = schema.migrations.length;
  if (version <= newest) return version;
  throw new StorageError(
    'unusable',
    `${db.raw.name} was written by a newer release (schema ${version}, this one knows ${newest}). ` +
      'Use that release.',
  );
}

/** True if a file has neither tables nor an application id, like a newly created file. */
export const isEmpty = (db: Connection): boolean =>
  readNumber(db, 'application_id') === 0 && !db.has('sqlite_schema');

function assertOurs(db: Connection, schema: Schema): void {
  const id = readNumber(db, 'application_id');
  if (id === schema.applicationId || isEmpty(db)) return;
  const reason = schema.mistakenFor?.[id] ?? 'belongs to another application. Choose another file.';
  throw new StorageError('unusable', `${db.raw.name} ${reason}`);
}

/** Minimum SQLite version. Older versions can corrupt a WAL database that two processes use. */
const OLDEST_SQLITE = '3.51.3';

export interface OpenOptions extends ConnectionSettings {
  /** Tables of the file. An older schema is migrated to the newest, or refused if `readOnly`. */
  readonly schema?: Schema;
  /** Refuses an older schema instead of migrating it. A file without tables gets the newest schema. */
  readonly keepsSchema?: boolean;
  /** Lock timeout after the file has been opened; opening itself waits for `WAIT_MS.opening`. */
  readonly waitMs: number;
  /** Creates a missing file. Only its owner can read the file, because it contains national IDs. */
  readonly create?: boolean;
}

/** @throws StorageError `unusable`, without leaving anything open */
export function openDatabase(file: string, options: OpenOptions): Connection {
  if (!existsSync(file)) {
    if (options.create !== true) throw new StorageError('unusable', `There is no database at ${file}.`);
    createEmpty(file);
  }
  let raw: Database.Database;
  try {
    raw = new Database(file, { timeout: WAIT_MS.opening, fileMustExist: true });
  } catch (error) {
    throw unusable(`${file} cannot be opened`, error);
  }
  try {
    const connection = prepareConnection(raw, options);
    connection.setLockTimeout(options.waitMs);
    return connection;
  } catch (error) {
    raw.close();
    if (error instanceof StorageError) throw error;
    if (isBusy(error)) throw toStorageError(error);
    throw unusable(`${file} cannot be used as a database`, error);
  }
}

/**
 * True if a file exists and has tables; a power cut can leave a newly created database empty.
 * @returns true also for an unreadable file, so that the error appears when the file is opened
 */
export function hasTables(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    return !withDatabase(file, { readOnly: true, waitMs: WAIT_MS.command }, isEmpty);
  } catch {
    return true;
  }
}

/** Opens a file while a function runs. @throws StorageError as `openDatabase` does */
export function withDatabase<T>(file: string, options: OpenOptions, work: (db: Connection) => T): T {
  const db = openDatabase(file, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/**
 * Opens an empty, unnamed database that only its owner can read, and that is deleted when closed. A dry run
 * without a registry compares with this database.
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
    throw unusable(`${file} cannot be created`, error);
  }
}

/** Opens a new file, or the existing file if another process has created it or a symbolic link names it. */
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
  if (!isOlder(version, OLDEST_SQLITE)) return;
  throw new StorageError(
    'unusable',
    `SQLite ${version} is older than ${OLDEST_SQLITE} and can corrupt the file.`,
  );
}

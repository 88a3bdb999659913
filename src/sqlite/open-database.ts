/** Opens a SQLite file: applies and verifies the settings of a connection, and migrates the schema. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isOlder } from '../runtime/node-version.ts';
import { createFolder, openPrivateFile } from '../runtime/process.ts';
import { Connection, type ConnectionSettings, pragmasOf, WAIT_MS } from './connection.ts';
import { isBusy, StorageError, toStorageError, unusable } from './sqlite-errors.ts';

export interface Schema {
  /** Number in the header of the SQLite file, by which this program recognises its files. */
  readonly applicationId: number;
  readonly migrations: readonly string[];
  /** Messages for other kinds of files. A message completes a sentence that begins with the file's path. */
  readonly mistakenFor?: { readonly [applicationId: number]: string };
}

const readNumber = (db: Connection, pragma: string): number =>
  db.raw.pragma(pragma, { simple: true }) as number;

/** Runs the missing migrations. @throws StorageError for a file of another program or a newer release */
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

/** @throws StorageError for a file that `migrate` would change or refuse */
function assertNewest(db: Connection, schema: Schema): void {
  const version = readVersion(db, schema);
  if (version === schema.migrations.length) return;
  throw new StorageError(
    'unusable',
    `${db.raw.name} was written by an older release (schema ${version}). Open it once with this release.`,
  );
}

/** @returns 0 for a file without tables @throws StorageError, like `migrate` */
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

/** True for a newly created file: it has neither tables nor an application id. */
export const isEmpty = (db: Connection): boolean =>
  readNumber(db, 'application_id') === 0 && !db.has('sqlite_schema');

function assertOurs(db: Connection, schema: Schema): void {
  const id = readNumber(db, 'application_id');
  if (id === schema.applicationId || isEmpty(db)) return;
  const reason = schema.mistakenFor?.[id] ?? 'belongs to another application. Choose another file.';
  throw new StorageError('unusable', `${db.raw.name} ${reason}`);
}

/** Oldest SQLite version without an error that corrupts a WAL database used by two processes. */
const OLDEST_SQLITE = '3.51.3';

export interface OpenOptions extends ConnectionSettings {
  /** Schema to which an older file is migrated. With `readOnly`, an older file is refused. */
  readonly schema?: Schema;
  /** True to refuse an older file instead of migrating it. A file without tables still gets the schema. */
  readonly keepsSchema?: boolean;
  /** Lock timeout after the file has been opened. The opening itself waits for `WAIT_MS.opening`. */
  readonly waitMs: number;
  /** True to create a missing file. Only its owner can read the file, because it contains national IDs. */
  readonly create?: boolean;
}

/** @throws StorageError `unusable`, after closing the file */
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

/** True also for an unreadable file, so that opening the file reports the error. */
export function hasTables(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    return !withDatabase(file, { readOnly: true, waitMs: WAIT_MS.command }, isEmpty);
  } catch {
    return true;
  }
}

/** @throws StorageError as `openDatabase` does */
export function withDatabase<T>(file: string, options: OpenOptions, work: (db: Connection) => T): T {
  const db = openDatabase(file, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Opens an unnamed database, which no other process can open and which SQLite deletes on closing. */
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
    // Mode 0600, because SQLite gives the -wal and -shm files the mode and the owner of the database.
    closeSync(openNew(file));
  } catch (error) {
    throw unusable(`${file} cannot be created`, error);
  }
}

/** Creates a file. Opens the file if another process has just created it, or if the path is a symlink. */
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

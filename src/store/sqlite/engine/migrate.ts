/** Brings a file to the newest schema: each migration runs once, in order, completely or not at all. */
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';

export interface Schema {
  /** Marks the file as ours, in SQLite's header. */
  readonly applicationId: number;
  readonly migrations: readonly string[];
  /** What to say of a file with another application id, as the end of a sentence about it. */
  readonly mistakenFor?: { readonly [applicationId: number]: string };
}

const readNumber = (db: Connection, pragma: string): number =>
  db.raw.pragma(pragma, { simple: true }) as number;

/**
 * Brings a database to the newest schema.
 * @throws StorageError for a file of another program, or one that a newer release has written
 */
export function migrate(db: Connection, schema: Schema): void {
  if (readNumber(db, 'user_version') === schema.migrations.length) {
    assertOurs(db, schema);
    return;
  }
  try {
    // Looked at again inside the transaction: another process may have migrated in between.
    db.transaction.immediate(() => {
      assertOurs(db, schema);
      for (const sql of schema.migrations.slice(versionOf(db, schema))) db.exec(sql);
      db.raw.pragma(`application_id = ${schema.applicationId}`);
      db.raw.pragma(`user_version = ${schema.migrations.length}`);
    });
  } catch (error) {
    if (error instanceof StorageError || isBusy(error)) throw error;
    const message = `${db.raw.name} could not be migrated: ${(error as Error).message}.`;
    throw new StorageError('unusable', message, { cause: error });
  }
}

/**
 * Refuses what `migrate` would change.
 * @throws StorageError also for a file of an older release
 */
export function assertNewest(db: Connection, schema: Schema): void {
  assertOurs(db, schema);
  const version = versionOf(db, schema);
  if (version === schema.migrations.length) return;
  throw new StorageError(
    'unusable',
    `${db.raw.name} was written by an older release (schema ${version}). Open it once with this release.`,
  );
}

/**
 * The version of the schema of a file that may be older than this release.
 * @returns 0 for a file without tables
 * @throws StorageError for a file of another program, or one that a newer release has written
 */
export function readVersion(db: Connection, schema: Schema): number {
  assertOurs(db, schema);
  return versionOf(db, schema);
}

function versionOf(db: Connection, schema: Schema): number {
  const version = readNumber(db, 'user_version');
  const newest = schema.migrations.length;
  if (version <= newest) return version;
  throw new StorageError(
    'unusable',
    `${db.raw.name} was written by a newer release (schema ${version}, this one knows ${newest}). ` +
      'Use that release.',
  );
}

/** Whether a file has neither tables nor an owner, as one that was just created. */
export const isEmpty = (db: Connection): boolean =>
  readNumber(db, 'application_id') === 0 && !db.has('sqlite_schema');

function assertOurs(db: Connection, schema: Schema): void {
  const id = readNumber(db, 'application_id');
  if (id === schema.applicationId || isEmpty(db)) return;
  const reason = schema.mistakenFor?.[id] ?? 'belongs to another application. Choose another file.';
  throw new StorageError('unusable', `${db.raw.name} ${reason}`);
}

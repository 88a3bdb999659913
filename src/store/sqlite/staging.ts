/** The staging database of one import: a private file beside the registry's, attached to a connection of its own. */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { type Connection, isBusy, openDatabase } from './database.ts';
import { migrate, REGISTRY_SCHEMA } from './migrations.ts';

/** How long the command waits for another process's lock (contract section 11). */
const BUSY_TIMEOUT_MS = 10_000;
const REGISTRY_CACHE_KIB = 64 * 1024;
const STAGING_CACHE_KIB = 32 * 1024;
const MARK = '.importing-';
/** What SQLite and a rehearsal put beside a file. */
const COMPANIONS = ['', '-journal', '-wal', '-shm'];

export interface Staging {
  /** The registry as `main`, the staging file as `staging`. */
  readonly db: Connection;
  close(): void;
}

/**
 * Opens the registry for an import. A missing database is created, for a rehearsal only for as long as it lasts.
 * @throws DatabaseFileError
 */
export function openStaging(databaseFile: string, isRehearsal: boolean): Staging {
  removeStaleStaging(databaseFile);
  const file = `${databaseFile}${MARK}${process.pid}-${randomBytes(4).toString('hex')}`;
  const isScratch = isRehearsal && !existsSync(databaseFile);
  const db = openDatabase(isScratch ? `${file}-empty` : databaseFile, {
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    tempStore: 'FILE',
    cacheKiB: REGISTRY_CACHE_KIB,
    create: true,
  });
  const close = () => {
    db.close();
    removeWithCompanions(file);
    if (isScratch) removeWithCompanions(`${file}-empty`);
  };
  try {
    migrate(db, REGISTRY_SCHEMA);
    // The checkpoint is made after the lock is free.
    db.raw.pragma('wal_autocheckpoint = 0');
    // Created here, because SQLite would let others read it.
    closeSync(openSync(file, 'ax', 0o600));
    db.raw.prepare('ATTACH ? AS staging').run(file);
    // Nothing in it outlives the import, so it need not survive a power cut; the held lock says it is in use.
    db.exec(`PRAGMA staging.journal_mode = DELETE; PRAGMA staging.synchronous = OFF;
      PRAGMA staging.locking_mode = EXCLUSIVE; PRAGMA staging.secure_delete = OFF;
      PRAGMA staging.cache_size = -${STAGING_CACHE_KIB};
      CREATE TABLE staging.lock_holder (id INTEGER PRIMARY KEY)`);
  } catch (error) {
    close();
    throw error;
  }
  return { db, close };
}

/**
 * Removes what killed imports have left beside the database. An import that still runs holds a lock on its file,
 * which is then left alone.
 * @returns the names of the removed files
 */
export function removeStaleStaging(databaseFile: string): string[] {
  const folder = dirname(databaseFile);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(basename(databaseFile) + MARK));
  const inUse = names.filter((name) => /-[0-9a-f]{8}$/.test(name) && isLocked(join(folder, name)));
  const stale = names.filter((name) => !inUse.some((used) => name.startsWith(used)));
  for (const name of stale) rmSync(join(folder, name), { force: true });
  return stale;
}

function isLocked(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0, fileMustExist: true });
    db.exec('BEGIN EXCLUSIVE; ROLLBACK');
    return false;
  } catch (error) {
    // Whatever else is wrong with it, no import works on it.
    return isBusy(error);
  } finally {
    db?.close();
  }
}

function removeWithCompanions(file: string): void {
  for (const companion of COMPANIONS) rmSync(file + companion, { force: true });
}

/** Empties the write-ahead log as far as readers allow, without making writers wait. */
export function checkpoint(db: Connection): void {
  // The copying is done by the first, which takes no lock; the second then has only the file to cut.
  db.raw.pragma('main.wal_checkpoint(PASSIVE)');
  db.raw.pragma('busy_timeout = 0');
  db.raw.pragma('main.wal_checkpoint(TRUNCATE)');
  db.raw.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
}

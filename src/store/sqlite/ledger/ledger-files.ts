/**
 * The files of the access ledger: names, order, and the lock under which one is begun, closed or removed.
 * Numbers order them: the highest one is the file that is open, unless it is closed.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../../runtime/new-files.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { hasTables, withDatabase } from '../engine/open-database.ts';
import { type FileLock, lockPrivateFile, syncPath } from '../files/durable-files.ts';
import { ledgerFolderOf, oldLedgerFileOf } from '../files/registry-files.ts';
import { LEDGER_SCHEMA } from '../schema/migrations/ledger.ts';

export interface LedgerFile {
  /** `2026-11-3fa9c1d2-0001.db`: month, the first digits of the origin, number. */
  readonly name: string;
  readonly path: string;
  /** In UTC, as `2026-11`. */
  readonly month: string;
  readonly number: number;
}

const NAME = /^(([0-9]{4}-[0-9]{2})-[0-9a-f]{8}-([0-9]{4,9}))(?:-[0-9]{1,4})?\.db$/;
const LOCK_NAME = '.lock';
const ORIGIN_DIGITS = 8;
const LOOK_AGAIN_MS = 10;

/** The folder in a backup, and the file that a backup of 1.0.0 has instead. */
export const LEDGER_FOLDER = 'registry.ledger';
const OLD_NAME = 'registry.ledger.db';

/** @param name of a file in a manifest: a path would lead out of the backup */
export const isLedgerFileOfBackup = (name: string): boolean =>
  name === OLD_NAME ||
  (name.startsWith(`${LEDGER_FOLDER}/`) && NAME.test(name.slice(LEDGER_FOLDER.length + 1)));

/** @param name of a file @returns 0 for the one of 1.0.0 */
export const numberOf = (name: string): number => Number(NAME.exec(name)?.[3] ?? 0);

/** @param name of a file in the folder */
export function toLedgerFile(folder: string, name: string): LedgerFile {
  return { name, path: join(folder, name), month: NAME.exec(name)?.[2] ?? '', number: numberOf(name) };
}

/** The name of a file. @param origin 32 hexadecimal digits */
export const nameOf = ({ month, origin, number }: { month: string; origin: string; number: number }) =>
  `${month}-${origin.slice(0, ORIGIN_DIGITS)}-${String(number).padStart(4, '0')}.db`;

/** A name of the same number that no file in the folder has. */
export function freeNameOf(folder: string, name: string): string {
  const base = NAME.exec(name)?.[1] ?? name;
  for (let n = 1; ; n++) {
    const free = n === 1 ? `${base}.db` : `${base}-${n}.db`;
    if (!existsSync(join(folder, free))) return free;
  }
}

/** In their order. */
export function listLedgerFiles(databaseFile: string): LedgerFile[] {
  const folder = ledgerFolderOf(databaseFile);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => toLedgerFile(folder, name))
    .sort((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1));
}

/** Those of a location. A ledger of 1.0.0 that is not in the folder yet comes first. */
export function listAllFiles(databaseFile: string): LedgerFile[] {
  const old = oldLedgerFileOf(databaseFile);
  // A power cut can leave a file empty that was being created.
  const first = hasTables(old) ? [{ name: OLD_NAME, path: old, month: '', number: 0 }] : [];
  return [...first, ...listLedgerFiles(databaseFile)];
}

/** Whether anything was ever recorded at a location. */
export const hasLedger = (databaseFile: string): boolean => listAllFiles(databaseFile).length > 0;

/** @throws StorageError when it cannot be created */
export function createLedgerFolder(databaseFile: string): string {
  const folder = ledgerFolderOf(databaseFile);
  try {
    createFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return folder;
    const message = `${folder} cannot be created: ${(error as Error).message}.`;
    throw new StorageError('unusable', message, { cause: error });
  }
  if (!statSync(folder).isDirectory()) throw new StorageError('unusable', `${folder} is not a folder.`);
  return folder;
}

/**
 * Does some work while no other process begins, closes or removes a file.
 * @throws StorageError `failed` when another one has the lock for longer than `waitMs`
 */
export function withLedgerLock<T>(databaseFile: string, waitMs: number, work: () => T): T {
  const file = join(createLedgerFolder(databaseFile), LOCK_NAME);
  const lock = waitForLock(file, waitMs);
  try {
    return work();
  } finally {
    lock.release();
  }
}

function waitForLock(file: string, waitMs: number): FileLock {
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const lock = lockPrivateFile(file);
    if (lock !== undefined) return lock;
    if (waitedMs >= waitMs)
      throw new StorageError('failed', `Another process keeps ${file} locked. Try again.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
  }
}

export interface NewPart {
  readonly origin: string;
  readonly registry: string;
  readonly month: string;
  readonly keyId: string;
  readonly first: number;
  readonly previousHash: string;
  /** The file that readings were last written to, where it is gone; else the newest one that is there. */
  readonly follows?: string | undefined;
}

const BEGINNING = '.beginning';
export const LEDGER_SETTINGS = { cacheKiB: 1024, secureDelete: 'FAST' } as const;

/** The caller has the lock of the ledger. @throws StorageError, the system's error */
export function beginFile(databaseFile: string, part: NewPart, waitMs: number): LedgerFile {
  const folder = ledgerFolderOf(databaseFile);
  const newest = listAllFiles(databaseFile).at(-1);
  const gone = numberOf(part.follows ?? '');
  const name = nameOf({ ...part, number: Math.max(newest?.number ?? 0, gone) + 1 });
  // A process that was killed may have left one.
  for (const left of readdirSync(folder).filter((each) => each.startsWith(BEGINNING)))
    rmSync(join(folder, left), { force: true });
  const beginning = join(folder, BEGINNING);
  const settings = { schema: LEDGER_SCHEMA, create: true, waitMs, ...LEDGER_SETTINGS };
  withDatabase(beginning, settings, (db) =>
    db.run(
      `INSERT INTO ledger_part (id, origin, registry, month, key_id, first_sequence, previous_hash, follows)
       VALUES (1, ?, ?, ?, ?, ?, ?, ?)`,
      [
        part.origin,
        part.registry,
        part.month,
        part.keyId,
        part.first,
        part.previousHash,
        part.follows ?? newest?.name ?? '',
      ],
    ),
  );
  syncPath(beginning);
  renameSync(beginning, join(folder, name));
  syncPath(folder);
  return toLedgerFile(folder, name);
}

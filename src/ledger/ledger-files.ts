/**
 * Names, order and lock of the files of the access ledger. Only the last file may be open for writing. A
 * process that creates, closes or removes a file locks the ledger.
 */
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createFolder } from '../runtime/process.ts';
import { createPrivateFile, syncPath } from '../sqlite/durable-files.ts';
import { lockPrivateFile } from '../sqlite/file-use.ts';
import { hasTables, withDatabase } from '../sqlite/open-database.ts';
import { ledgerFolderOf, oldLedgerFileOf } from '../sqlite/registry-files.ts';
import { LEDGER_SCHEMA } from '../sqlite/schemas.ts';
import { StorageError, unusable } from '../sqlite/sqlite-errors.ts';
import { insertPartRow, type PartRow } from './ledger-rows.ts';

export interface LedgerFile {
  /** `2026-11-3fa9c1d2-0001.db`: month, first digits of the origin, number. */
  readonly name: string;
  readonly path: string;
  /** In UTC, such as `2026-11`. */
  readonly month: string;
  readonly number: number;
}

const NAME = /^(([0-9]{4}-[0-9]{2})-[0-9a-f]{8}-([0-9]{4,9}))(?:-[0-9]{1,4})?\.db$/;
const LOCK_NAME = '.lock';
const ORIGIN_DIGITS = 8;
const LOOK_AGAIN_MS = 10;

/** Folder of the ledger in a backup. A backup of 1.0.0 has a single file instead. */
export const LEDGER_FOLDER = 'registry.ledger';
const OLD_NAME = 'registry.ledger.db';

/** Checks a name in a manifest, because other paths could point outside the backup. */
export const isLedgerFileOfBackup = (name: string): boolean =>
  name === OLD_NAME ||
  (name.startsWith(`${LEDGER_FOLDER}/`) && NAME.test(name.slice(LEDGER_FOLDER.length + 1)));

/** @returns the number in the file name; 0 for the file of 1.0.0 */
export const numberOf = (name: string): number => Number(NAME.exec(name)?.[3] ?? 0);

function toLedgerFile(folder: string, name: string): LedgerFile {
  return { name, path: join(folder, name), month: NAME.exec(name)?.[2] ?? '', number: numberOf(name) };
}

export const nameOf = ({ month, origin, number }: { month: string; origin: string; number: number }) =>
  `${month}-${origin.slice(0, ORIGIN_DIGITS)}-${String(number).padStart(4, '0')}.db`;

/** Returns an unused name with the month, origin and number of `name`. */
export function freeNameOf(folder: string, name: string): string {
  const base = NAME.exec(name)?.[1] ?? name;
  for (let n = 1; ; n++) {
    const free = n === 1 ? `${base}.db` : `${base}-${n}.db`;
    if (!existsSync(join(folder, free))) return free;
  }
}

/** @throws StorageError when the folder cannot be read */
export function listLedgerFiles(databaseFile: string): LedgerFile[] {
  const folder = ledgerFolderOf(databaseFile);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return namesIn(folder)
    .filter((name) => NAME.test(name))
    .map((name) => toLedgerFile(folder, name))
    .sort((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw unusable(`${folder} cannot be read`, error);
  }
}

/** Includes a file of 1.0.0 that is still beside the database. */
export function listAllFiles(databaseFile: string): LedgerFile[] {
  const old = oldLedgerFileOf(databaseFile);
  // Ignores an empty file, which a power cut during its creation may have left.
  const first = hasTables(old) ? [{ name: OLD_NAME, path: old, month: '', number: 0 }] : [];
  return [...first, ...listLedgerFiles(databaseFile)];
}

/** @throws StorageError when the folder cannot be created or written */
export function createLedgerFolder(databaseFile: string): string {
  const folder = ledgerFolderOf(databaseFile);
  try {
    createFolder(folder);
  } catch (error) {
    // EEXIST: another process has created the folder, or the path is a broken link.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw unusable(`${folder} cannot be created`, error);
  }
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw unusable(`${folder} cannot be written`, error);
  }
  if (!statSync(folder).isDirectory()) throw new StorageError('unusable', `${folder} is not a folder.`);
  return folder;
}

/** @throws StorageError `failed` if another process has the lock for longer than `waitMs` */
export function withLedgerLock<T>(databaseFile: string, waitMs: number, work: () => T): T {
  const file = join(createLedgerFolder(databaseFile), LOCK_NAME);
  let lock = lockPrivateFile(file);
  for (let waitedMs = 0; lock === undefined; waitedMs += LOOK_AGAIN_MS) {
    if (waitedMs >= waitMs)
      throw new StorageError('failed', `Another process keeps ${file} locked. Try again.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
    lock = lockPrivateFile(file);
  }
  try {
    return work();
  } finally {
    lock.close();
  }
}

const BEGINNING = '.beginning';
const PLACED = `${BEGINNING}-placed`;

/**
 * Moves a synced file into the folder of the ledger, which may be a link to another disk.
 * @throws the system's error
 */
export function placeFile(source: string, target: string): void {
  try {
    renameSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const copy = join(dirname(target), PLACED);
    rmSync(copy, { force: true });
    createPrivateFile(copy);
    copyFileSync(source, copy);
    syncPath(copy);
    renameSync(copy, target);
    rmSync(source);
  }
}

export const LEDGER_SETTINGS = { cacheKiB: 1024, secureDelete: 'FAST' } as const;

/**
 * Creates the next file. The caller must have locked the ledger.
 * @param lostName name of the previous file if that file has disappeared; otherwise undefined
 * @throws StorageError, the system's error
 */
export function beginFile(
  databaseFile: string,
  part: Omit<PartRow, 'follows' | 'last' | 'lastHash'>,
  lostName: string | undefined,
  waitMs: number,
): LedgerFile {
  const folder = ledgerFolderOf(databaseFile);
  const newest = listAllFiles(databaseFile).at(-1);
  const number = Math.max(newest?.number ?? 0, numberOf(lostName ?? '')) + 1;
  const name = nameOf({ ...part, number });
  // A killed process may have left an unfinished file.
  for (const unfinished of readdirSync(folder).filter((entry) => entry.startsWith(BEGINNING)))
    rmSync(join(folder, unfinished), { force: true });
  const beginning = join(folder, BEGINNING);
  const settings = { schema: LEDGER_SCHEMA, create: true, waitMs, ...LEDGER_SETTINGS };
  const row = { ...part, follows: lostName ?? newest?.name ?? '', last: null, lastHash: null };
  withDatabase(beginning, settings, (db) => insertPartRow(db, row));
  syncPath(beginning);
  renameSync(beginning, join(folder, name));
  syncPath(folder);
  return toLedgerFile(folder, name);
}

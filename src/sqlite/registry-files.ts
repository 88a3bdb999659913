/** Paths of all files of a registry (docs/operating.md#files), derived from the path of its database. */
import { existsSync, readdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { typedCommand } from '../runtime/typed-command.ts';
import type { Schema } from './open-database.ts';
import { ERASURES_SCHEMA, KEYS_SCHEMA, REGISTRY_SCHEMA, WEBHOOKS_SCHEMA } from './schemas.ts';
import { StorageError, unusable } from './sqlite-errors.ts';

const stemOf = (databaseFile: string): string => databaseFile.replace(/\.db$/, '');

/** Returns a function from the path of a database to a related file: `registry.db` → `registry.keys.db`. */
const beside = (end: string) => (databaseFile: string) => stemOf(databaseFile) + end;

export const keysFileOf = beside('.keys.db');
export const erasuresFileOf = beside('.erasures.db');
export const webhooksFileOf = beside('.webhooks.db');
/** Lock of the process that delivers webhooks. */
export const webhooksLockOf = beside('.webhooks.lock');
/** Record of completed backups. */
export const backupsFileOf = beside('.backups.json');
/** Access ledger of version 1.0.0. The program moves it into the ledger's folder. */
export const oldLedgerFileOf = beside('.ledger.db');
export const ledgerFolderOf = beside('.ledger');
/** File by which the command `desk` finds a desk that is already open. */
export const deskFileOf = beside('.desk.json');
/**
 * Folder of the files that a user has uploaded to the desk. The name of the folder contains the user's id.
 * Commands may write to this folder, so `ownsFile` does not include it.
 */
export const deskFolderOf = beside(`.desk-${process.getuid?.() ?? 'user'}`);

export interface DatabaseFile {
  /** Name of the file in a backup. */
  readonly name: string;
  readonly schema: Schema;
  /** True for a database that is created with the first key, erasure or endpoint. */
  readonly isOptional?: true;
  /** True if a restore adds the backup's contents to this database, instead of replacing it. */
  readonly outlivesRestores?: true;
  pathAt(databaseFile: string): string;
}

/**
 * Databases in the order in which a backup copies them. The keys follow the registry, so that the copy
 * contains every key to which a row of the registry refers.
 */
export const DATABASE_FILES: readonly DatabaseFile[] = [
  { name: 'registry.db', schema: REGISTRY_SCHEMA, pathAt: (file) => file },
  { name: 'registry.keys.db', schema: KEYS_SCHEMA, isOptional: true, pathAt: keysFileOf },
  {
    name: 'registry.erasures.db',
    schema: ERASURES_SCHEMA,
    isOptional: true,
    outlivesRestores: true,
    pathAt: erasuresFileOf,
  },
  { name: 'registry.webhooks.db', schema: WEBHOOKS_SCHEMA, isOptional: true, pathAt: webhooksFileOf },
];

/** @param name name of the file in a backup */
export const findDatabase = (name: string): DatabaseFile | undefined =>
  DATABASE_FILES.find((file) => file.name === name);

/** Part of a staging file's name after the name of its database. */
export const STAGING_INFIX = '.importing-';
/** Part of an export file's name. The file is unlinked as soon as it has been opened. */
export const SPOOL_INFIX = '.exporting-';
const REPLACED_INFIX = '.replaced-';
/** Suffixes of the files that SQLite may create beside a database. */
export const SIDE_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

export const restoringFolderOf = (databaseFile: string): string => `${databaseFile}.restoring`;

/** Returns an unused name for the folder of the files that a restore replaces. */
export function replacedFolderOf(databaseFile: string, nowMs: number): string {
  const instant = new Date(nowMs).toISOString().replace(/[-:]|\.[0-9]+/g, '');
  const folder = `${stemOf(databaseFile)}${REPLACED_INFIX}${instant}`;
  let free = folder;
  for (let next = 2; existsSync(free); next++) free = `${folder}-${next}`;
  return free;
}

/**
 * True if a path names a file of the registry (docs/operating.md#files) or a file in its folders, in any
 * spelling and through symbolic links. The file need not exist yet. Commands must not write their output to a
 * file of the registry.
 */
export function ownsFile(databaseFile: string, path: string): boolean {
  const databases = DATABASE_FILES.flatMap(({ pathAt }) => pathsOf(pathAt(databaseFile)));
  const single = [webhooksLockOf, backupsFileOf, deskFileOf, oldLedgerFileOf, ledgerFolderOf];
  const names = new Set([
    ...databases.flatMap(withSideFiles),
    ...single.flatMap((pathOf) => pathsOf(pathOf(databaseFile))),
  ]);
  const starts = pathsOf(databaseFile).flatMap((file) => [
    file + STAGING_INFIX,
    file + SPOOL_INFIX,
    restoringFolderOf(file),
    stemOf(file) + REPLACED_INFIX,
    `${ledgerFolderOf(file)}/`,
  ]);
  return pathsOf(path).some((file) => names.has(file) || starts.some((start) => file.startsWith(start)));
}

export const withSideFiles = (file: string): string[] => [
  file,
  ...SIDE_SUFFIXES.map((suffix) => file + suffix),
];

/** Returns the path with the links of its folder resolved, and the path with all links resolved. */
function pathsOf(path: string): string[] {
  const absolute = resolve(path);
  const nameInFolder = join(realPathOf(dirname(absolute)), basename(absolute));
  return [nameInFolder, realPathOf(nameInFolder)];
}

const realPathOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** @returns 0 for a missing file @throws StorageError if the system denies access to the file */
export function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch (error) {
    throw unusable(`${path} cannot be opened`, error);
  }
}

/** True if the file is not empty. A power cut can leave a newly created database empty. */
export const exists = (databaseFile: string): boolean => sizeOf(databaseFile) > 0;

/** Free bytes below which the disk counts as nearly full, because the write-ahead log needs room to grow. */
export const RESERVED_BYTES = 64 * 1024 * 1024;

/** @throws the system's error if the disk cannot be examined */
export function readFreeBytes(databaseFile: string): number {
  const disk = statfsSync(dirname(databaseFile));
  return disk.bavail * disk.bsize;
}

// Protection against creating a registry by accident (docs/trouble.md#when-a-file-cannot-be-used)

/** @throws StorageError during a restore, because the registry and the keys do not match then */
export function assertNotRestoring(databaseFile: string): void {
  if (!existsSync(restoringFolderOf(databaseFile))) return;
  throw new StorageError(
    'unusable',
    `A restore into ${databaseFile} is running or was interrupted. Wait for it, or run it again: ` +
      typedCommand('restore DIR --replace', databaseFile),
  );
}

/**
 * Refuses to create a database if other files of the registry exist. A write-ahead log without its database
 * contains acknowledged writes, and SQLite would delete the log as soon as the database is created.
 * @throws StorageError `unusable` if the database is missing or empty but other files exist
 */
export function assertNothingLeft(databaseFile: string): void {
  if (sizeOf(databaseFile) > 0) return;
  const paths = DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile));
  const remains = [
    ...paths,
    ...paths.flatMap((path) => SIDE_SUFFIXES.map((end) => path + end)),
    oldLedgerFileOf(databaseFile),
  ].filter((path) => !path.endsWith('-shm') && sizeOf(path) > 0);
  const folder = ledgerFolderOf(databaseFile);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && readdirSync(folder).some((name) => name.endsWith('.db'))) remains.push(folder);
  if (remains.length === 0) return;
  const state = existsSync(databaseFile) ? 'is empty' : 'is missing';
  const restore = typedCommand('restore DIR --replace', databaseFile);
  throw new StorageError(
    'unusable',
    `${databaseFile} ${state}, and other files of a registry are there: ${remains.join(', ')}. ` +
      `Restore a backup (${restore}), or move these files away.`,
  );
}

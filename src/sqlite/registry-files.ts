/**
 * The files of a registry, derived from its location: the path of the database. Protection, backup and
 * restore follow this file; docs/operating.md#files lists the files for operators.
 */
import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Schema } from './open-database.ts';
import { ERASURES_SCHEMA, KEYS_SCHEMA, REGISTRY_SCHEMA, WEBHOOKS_SCHEMA } from './schemas.ts';
import { unusable } from './storage-error.ts';

const stemOf = (databaseFile: string): string => databaseFile.replace(/\.db$/, '');

/** Returns the path of a file beside a database: for `.keys.db`, `registry.db` → `registry.keys.db`. */
const beside = (end: string) => (databaseFile: string) => stemOf(databaseFile) + end;

export const keysFileOf = beside('.keys.db');
export const erasuresFileOf = beside('.erasures.db');
export const webhooksFileOf = beside('.webhooks.db');
/** Lock of the process that delivers webhooks. */
export const webhooksLockOf = beside('.webhooks.lock');
/** Record of backups made. */
export const backupsFileOf = beside('.backups.json');
/** The access ledger of 1.0.0, which becomes the first closed file. */
export const oldLedgerFileOf = beside('.ledger.db');
/** Folder of the access ledger's files. */
export const ledgerFolderOf = beside('.ledger');
/** File by which an open desk is found. */
export const deskFileOf = beside('.desk.json');
/**
 * Folder of the files that a user has given to the desk, by the user's id. Commands write there, so it is not
 * one of the registry's own files.
 */
export const deskFolderOf = beside(`.desk-${process.getuid?.() ?? 'user'}`);

/** One of the databases that make up a registry. */
export interface DatabaseFile {
  /** File name in a backup, which is also its name at the location `registry.db`. */
  readonly name: string;
  readonly schema: Schema;
  /** True if a registry without it is complete. */
  readonly isOptional?: true;
  /** True if a restore neither moves nor replaces it, but adds the backup's contents to it. */
  readonly outlivesRestores?: true;
  pathAt(databaseFile: string): string;
}

/**
 * The databases in the order in which a backup copies them: the keys after the registry, so that every key
 * that a row refers to is in the copy.
 */
export const DATABASE_FILES: readonly DatabaseFile[] = [
  { name: 'registry.db', schema: REGISTRY_SCHEMA, pathAt: (file) => file },
  // Created with the first key.
  { name: 'registry.keys.db', schema: KEYS_SCHEMA, isOptional: true, pathAt: keysFileOf },
  // Created with the first erasure.
  {
    name: 'registry.erasures.db',
    schema: ERASURES_SCHEMA,
    isOptional: true,
    outlivesRestores: true,
    pathAt: erasuresFileOf,
  },
  // Created with the first endpoint.
  { name: 'registry.webhooks.db', schema: WEBHOOKS_SCHEMA, isOptional: true, pathAt: webhooksFileOf },
];

/** Suffix of a database's name in the names of its staging files. */
export const STAGING_INFIX = '.importing-';
/** Suffix for the file that an export writes, which has a name only until it is open. */
export const SPOOL_INFIX = '.exporting-';
/** Suffix of a database's name in the folder name of a running restore. */
const RESTORING_SUFFIX = '.restoring';
/** Between a database's name, without its extension, and the instant of the restore that replaced it. */
const REPLACED_INFIX = '.replaced-';
/** SQLite's own files beside a database. */
export const SIDE_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

export const restoringFolderOf = (databaseFile: string): string => `${databaseFile}${RESTORING_SUFFIX}`;

/** Returns a new folder name for the files that a restore replaces now. @param nowMs epoch milliseconds */
export function replacedFolderOf(databaseFile: string, nowMs: number): string {
  const instant = new Date(nowMs).toISOString().replace(/[-:]|\.[0-9]+/g, '');
  const folder = `${stemOf(databaseFile)}${REPLACED_INFIX}${instant}`;
  let free = folder;
  for (let next = 2; existsSync(free); next++) free = `${folder}-${next}`;
  return free;
}

/**
 * True if a path names a file of the registry: one of docs/operating.md#files, or one in such a folder,
 * whether or not it exists yet.
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

/** A database and SQLite's files beside it, whether or not they exist. */
export const withSideFiles = (file: string): string[] => [
  file,
  ...SIDE_SUFFIXES.map((suffix) => file + suffix),
];

/**
 * Returns a file's canonical paths: of its name in its folder and, behind symbolic links, of the file itself.
 */
function pathsOf(path: string): string[] {
  const absolute = resolve(path);
  const nameInFolder = join(realPathOf(dirname(absolute)), basename(absolute));
  return [nameInFolder, realPathOf(nameInFolder)];
}

const realPathOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** Bytes; 0 for a missing file. @throws StorageError for one that the system keeps from this process */
export function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch (error) {
    throw unusable(`${path} cannot be opened`, error);
  }
}

/** True if the file is not empty: a power cut can leave a newly created database empty. */
export const exists = (databaseFile: string): boolean => sizeOf(databaseFile) > 0;

/** Free bytes below which the disk counts as nearly full: the write-ahead log must be able to grow. */
export const RESERVED_BYTES = 64 * 1024 * 1024;

/** @throws the system's error if the disk cannot be examined */
export function readFreeBytes(databaseFile: string): number {
  const disk = statfsSync(dirname(databaseFile));
  return disk.bavail * disk.bsize;
}

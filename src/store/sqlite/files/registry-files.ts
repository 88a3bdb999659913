/**
 * The files of a registry, by its location: the path of the database. What the program protects, backs up
 * and restores follows from this file; docs/operating.md#files lists them for operators.
 */
import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Schema } from '../engine/migrate.ts';
import { ERASURES_SCHEMA } from '../schema/migrations/erasures.ts';
import { KEYS_SCHEMA } from '../schema/migrations/keys.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { WEBHOOKS_SCHEMA } from '../schema/migrations/webhooks.ts';

/** The keys' file beside a database: `registry.db` → `registry.keys.db`. */
export const keysFileOf = (databaseFile: string): string => `${stemOf(databaseFile)}.keys.db`;

/** The file of erasures beside a database: `registry.db` → `registry.erasures.db`. */
export const erasuresFileOf = (databaseFile: string): string => `${stemOf(databaseFile)}.erasures.db`;

/** The webhooks' file beside a database: `registry.db` → `registry.webhooks.db`. */
export const webhooksFileOf = (databaseFile: string): string => `${stemOf(databaseFile)}.webhooks.db`;

/** Who has it locked delivers the webhooks: `registry.db` → `registry.webhooks.lock`. */
export const webhooksLockOf = (databaseFile: string): string => `${stemOf(databaseFile)}.webhooks.lock`;

/** What is remembered of backups: `registry.db` → `registry.backups.json`. */
export const backupsFileOf = (databaseFile: string): string => `${stemOf(databaseFile)}.backups.json`;

/** The access ledger of 1.0.0, which becomes the first closed file: `registry.db` → `registry.ledger.db`. */
export const oldLedgerFileOf = (databaseFile: string): string => `${stemOf(databaseFile)}.ledger.db`;

/** The folder of the access ledger's files: `registry.db` → `registry.ledger`. */
export const ledgerFolderOf = (databaseFile: string): string => `${stemOf(databaseFile)}.ledger`;

/** Where an open desk is found: `registry.db` → `registry.desk.json`. */
export const deskFileOf = (databaseFile: string): string => `${stemOf(databaseFile)}.desk.json`;

/**
 * What the user of this process has given to the desk: `registry.db` → `registry.desk-1000`, by the uid. The
 * desk's commands write there, so it is none of the registry's own files.
 */
export const deskFolderOf = (databaseFile: string): string =>
  `${stemOf(databaseFile)}.desk-${process.getuid?.() ?? 'user'}`;

const stemOf = (databaseFile: string): string => databaseFile.replace(/\.db$/, '');

/** One of the databases that make up a registry. */
export interface DatabaseFile {
  /** Its name in a backup, which is also its name at the location `registry.db`. */
  readonly name: string;
  readonly schema: Schema;
  /** A registry without it is complete. */
  readonly isOptional: boolean;
  /** A restore neither moves nor replaces it: it adds to it what the backup's has. */
  readonly outlivesRestores: boolean;
  pathAt(databaseFile: string): string;
}

/**
 * A backup copies them in this order: the keys after the registry, so that a key that a row refers to is in
 * the copy.
 */
export const DATABASE_FILES: readonly DatabaseFile[] = [
  {
    name: 'registry.db',
    schema: REGISTRY_SCHEMA,
    isOptional: false,
    outlivesRestores: false,
    pathAt: (file) => file,
  },
  // Created with the first key.
  {
    name: 'registry.keys.db',
    schema: KEYS_SCHEMA,
    isOptional: true,
    outlivesRestores: false,
    pathAt: keysFileOf,
  },
  // Created with the first erasure.
  {
    name: 'registry.erasures.db',
    schema: ERASURES_SCHEMA,
    isOptional: true,
    outlivesRestores: true,
    pathAt: erasuresFileOf,
  },
  // Created with the first endpoint.
  {
    name: 'registry.webhooks.db',
    schema: WEBHOOKS_SCHEMA,
    isOptional: true,
    outlivesRestores: false,
    pathAt: webhooksFileOf,
  },
];

/** What follows the name of a database in the names of its staging files. */
export const STAGING_INFIX = '.importing-';
/** Likewise of what an export writes. It has a name only until it is open. */
export const SPOOL_INFIX = '.exporting-';
/** What follows the name of a database in the name of the folder of a running restore. */
const RESTORING_SUFFIX = '.restoring';
/** Between the name of a database, without its ending, and the instant of a restore that has replaced it. */
const REPLACED_INFIX = '.replaced-';
/** SQLite's own files beside a database. */
export const SIDE_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

/** The folder of a running restore. */
export const restoringFolderOf = (databaseFile: string): string => `${databaseFile}${RESTORING_SUFFIX}`;

/** A folder that does not exist yet, for the files that a restore replaces now, in epoch milliseconds. */
export function replacedFolderOf(databaseFile: string, nowMs: number): string {
  const instant = new Date(nowMs).toISOString().replace(/[-:]|\.[0-9]+/g, '');
  const folder = `${stemOf(databaseFile)}${REPLACED_INFIX}${instant}`;
  let free = folder;
  for (let next = 2; existsSync(free); next++) free = `${folder}-${next}`;
  return free;
}

/**
 * Whether a path names a file of the registry: one of docs/operating.md#files, or one in such a folder,
 * whether or not it exists yet.
 */
export function ownsFile(databaseFile: string, path: string): boolean {
  const databases = DATABASE_FILES.flatMap((each) => pathsOf(each.pathAt(databaseFile)));
  const others = [webhooksLockOf, backupsFileOf, deskFileOf, oldLedgerFileOf, ledgerFolderOf].map((pathOf) =>
    pathOf(databaseFile),
  );
  const owned = new Set([...databases.flatMap(withSideFiles), ...others.flatMap(pathsOf)]);
  const starts = pathsOf(databaseFile).flatMap((file) => [
    file + STAGING_INFIX,
    file + SPOOL_INFIX,
    restoringFolderOf(file),
    stemOf(file) + REPLACED_INFIX,
    `${ledgerFolderOf(file)}/`,
  ]);
  return pathsOf(path).some((file) => owned.has(file) || starts.some((start) => file.startsWith(start)));
}

/** A database and SQLite's files beside it, whether or not they exist. */
export const withSideFiles = (file: string): string[] => [
  file,
  ...SIDE_SUFFIXES.map((suffix) => file + suffix),
];

/** A file's canonical path: of its name in its folder and, behind symbolic links, of the file itself. */
function pathsOf(path: string): string[] {
  const absolute = resolve(path);
  const named = join(realPathOf(dirname(absolute)), basename(absolute));
  return [named, realPathOf(named)];
}

const realPathOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** In bytes; 0 for a file that is missing. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** A power cut can leave a database empty that was being created. */
export const exists = (databaseFile: string): boolean => sizeOf(databaseFile) > 0;

/** With less than this free the disk counts as nearly full: the write-ahead log must be able to grow. */
export const RESERVED_BYTES = 64 * 1024 * 1024;

/** @throws the system's error when the disk cannot be examined */
export function readFreeBytes(databaseFile: string): number {
  const disk = statfsSync(dirname(databaseFile));
  return disk.bavail * disk.bsize;
}

/** The files of a registry, by its location: the path of the database. */
import { existsSync, realpathSync, statfsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The keys' file beside a database: `registry.db` → `registry.keys.db`. */
export const keysFileOf = (databaseFile: string): string => `${databaseFile.replace(/\.db$/, '')}.keys.db`;

/** What follows the name of a database in the names of its staging files. */
export const STAGING_INFIX = '.importing-';
/** SQLite's own files beside a database. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/**
 * Whether a path names a file of the registry: the database, the keys' file, what SQLite keeps beside them,
 * or a staging file, whether or not it exists yet.
 */
export function ownsFile(databaseFile: string, path: string): boolean {
  const databases = [databaseFile, keysFileOf(databaseFile)].flatMap(pathsOf);
  const owned = new Set(databases.flatMap((file) => SUFFIXES.map((suffix) => file + suffix)));
  const staging = pathsOf(databaseFile).map((file) => file + STAGING_INFIX);
  return pathsOf(path).some((file) => owned.has(file) || staging.some((start) => file.startsWith(start)));
}

/** A file's canonical path: of its name in its folder and, behind symbolic links, of the file itself. */
function pathsOf(path: string): string[] {
  const absolute = resolve(path);
  const named = join(realPathOf(dirname(absolute)), basename(absolute));
  return [named, realPathOf(named)];
}

const realPathOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

export const exists = (databaseFile: string): boolean => existsSync(databaseFile);

/** @throws the system's error when the disk cannot be examined */
export function readFreeBytes(databaseFile: string): number {
  const disk = statfsSync(dirname(databaseFile));
  return disk.bavail * disk.bsize;
}

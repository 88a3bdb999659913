/** The files of a registry, by its location: the path of the database. */
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The keys' file beside a database: `registry.db` → `registry.keys.db`. */
export const keysFileOf = (databaseFile: string): string => `${databaseFile.replace(/\.db$/, '')}.keys.db`;

export const exists = (databaseFile: string): boolean => existsSync(databaseFile);

/** @throws the system's error when the disk cannot be examined */
export function readFreeBytes(databaseFile: string): number {
  const disk = statfsSync(dirname(databaseFile));
  return disk.bavail * disk.bsize;
}

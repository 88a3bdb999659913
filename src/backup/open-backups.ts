/** Writes, verifies and restores the backups of a storage location (docs/backup.md#restore). */

import type { Storage } from '../sqlite/storage.ts';
import type {
  BackupOptions,
  BackupPlace,
  CheckedBackup,
  NewestBackup,
  Restored,
  RestoreOptions,
  WrittenBackup,
} from './backup-types.ts';
import { findNewestBackupAt, placeOf, verifyRemembered, writeRememberedBackup } from './dated-backups.ts';
import { isInService } from './in-use.ts';
import { restoreBackup } from './restore-backup.ts';

/**
 * True while a program on this machine may be serving the registry: a service keeps the keys open, a command
 * only for moments, and a backup while it copies them.
 */
export const isServed = ({ location }: Storage): boolean => isInService(location);

/**
 * Writes a backup while others read and write, without blocking them.
 * @param folder new or empty; it gets this name once the backup is complete, checked and on disk
 * @throws StorageError (as a rejection), or the reason of the signal
 */
export const backUp = async (
  storage: Storage,
  folder: string,
  options: BackupOptions,
): Promise<WrittenBackup> => writeRememberedBackup(storage.complete(), folder, options);

/**
 * Reads every byte of a backup without changing it. The result is recorded if it concerns the last backup of
 * this location.
 * @param now epoch milliseconds
 * @throws StorageError (as a rejection) `unusable` when there is no backup in the folder, or one of a newer
 * release
 */
export const verifyBackup = (
  { location }: Storage,
  folder: string,
  now: () => number,
): Promise<CheckedBackup> => verifyRemembered(location, folder, now);

export const backupPlaceOf = ({ location }: Storage, folder: string): BackupPlace =>
  placeOf(location, folder);

/**
 * Verifies the backups of the registry at the location, newest first, until one is sound.
 * @throws StorageError (as a rejection) `unusable` when none is sound
 */
export const findNewestBackup = async ({ location }: Storage, parent: string): Promise<NewestBackup> =>
  findNewestBackupAt(location, parent);

/**
 * Replaces the files at the location with a backup. A process killed midway leaves either the old registry or
 * a location that only another restore can use.
 * @throws StorageError (as a rejection) when the backup is not sound, the location is in use, or it has files
 * that may not be replaced; nothing has then changed
 */
export const restore = (storage: Storage, folder: string, options: RestoreOptions): Promise<Restored> => {
  const { location, configuredZone: zone, monotonicMs } = storage;
  return restoreBackup(location, folder, { zone, monotonicMs }, options);
};

/** Where a backup is, seen from the registry: whether one broken disk takes both (docs/backup.md#backup). */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { BackupPlace } from '../../contract/backup.ts';
import type { LastBackup, RememberedBackup } from '../../contract/condition.ts';
import { MANIFEST_NAME } from './manifest.ts';

/** @param path what cannot be looked at, as in a folder of another user, counts as `elsewhere` */
export function placeOf(databaseFile: string, path: string): BackupPlace {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    const home = realpathSync(dirname(databaseFile));
    if (!relative(home, realpathSync(path)).startsWith('..')) return 'beside';
    return found.dev === statSync(home).dev ? 'same_disk' : 'elsewhere';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? 'missing' : 'elsewhere';
  }
}

/** A folder without a manifest is no backup: that of a disk that is not mounted may be there and empty. */
export const locate = (databaseFile: string, last: RememberedBackup): LastBackup => ({
  ...last,
  place: placeOf(databaseFile, join(last.folder, MANIFEST_NAME)),
});

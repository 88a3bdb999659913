/** The newest backup in a folder of all that can be restored to a location. */
import { join } from 'node:path';
import type { NewestBackup } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { listDatedBackups } from './dated-backups.ts';
import { verifyBackup } from './verify-backup.ts';

/**
 * Verifies them, the newest first, until one is sound.
 * @throws StorageError `unusable` when there is none of the registry at the location, or of one registry only
 * where there is none
 */
export async function findNewestBackup(databaseFile: string, parent: string): Promise<NewestBackup> {
  const all = listDatedBackups(parent);
  const here = readRegistryId(databaseFile);
  const ids = new Set(all.map(({ backup }) => backup.registryId));
  if (here === undefined && ids.size > 1)
    throw new StorageError(
      'unusable',
      `${parent} has backups of ${ids.size} registries: name the folder of one, without --newest.`,
    );
  const newest = all[0];
  if (here !== undefined && newest !== undefined && !ids.has(here))
    throw new StorageError(
      'unusable',
      `The backups in ${parent} are of another registry than the one at ${databaseFile}. To put that ` +
        `registry in its place: restore ${join(parent, newest.name)} --replace`,
    );
  const passedOver: { name: string; fault: string }[] = [];
  for (const { name, backup } of all) {
    if (here !== undefined && backup.registryId !== here) continue;
    const folder = join(parent, name);
    const { fault } = await verifyBackup(folder);
    if (fault === null) return { folder, passedOver };
    passedOver.push({ name, fault });
  }
  const reasons = passedOver.map(({ name, fault }) => ` ${name}: ${fault}`).join('');
  throw new StorageError('unusable', `There is no sound backup in ${parent}.${reasons}`);
}

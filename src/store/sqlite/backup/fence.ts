/** The fence: a registry that another machine has taken over is not used (docs/standby.md#the-fence). */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StorageError } from '../../contract/storage-error.ts';
import { readVersion } from '../engine/migrate.ts';
import { withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { createPrivateFile, syncPath } from '../files/durable-files.ts';
import { fenceFileOf } from '../files/registry-files.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { assertUnused } from './in-use.ts';

/** A service looks for the fence every second, and ends within 15 s. */
const MAX_WAIT_MS = 20_000;

export const isFenced = (databaseFile: string): boolean => existsSync(fenceFileOf(databaseFile));

/** @throws StorageError */
export function assertNotFenced(databaseFile: string): void {
  if (!isFenced(databaseFile)) return;
  throw new StorageError(
    'unusable',
    `${databaseFile} is fenced: another machine has taken over from it. ` +
      'To use it here again, restore a backup of that machine with --replace.',
  );
}

/**
 * Nothing opens the registry any more, and whoever has it open is waited for.
 * @param location as the configuration names it
 * @throws StorageError (as rejection) when there is no registry, and nothing is fenced; or when a process
 * keeps it open, and it is fenced nevertheless
 */
export async function fence(location: string): Promise<void> {
  const databaseFile = resolve(location);
  if (!existsSync(databaseFile)) throw new StorageError('unusable', `There is no database at ${location}.`);
  if (!statSync(databaseFile).isFile()) throw new StorageError('unusable', `${location} is not a file.`);
  // A mistyped path must not look like a machine that is out of use.
  withDatabase(databaseFile, { readOnly: true, waitMs: WAIT_MS.command }, (db) =>
    readVersion(db, REGISTRY_SCHEMA),
  );
  if (!isFenced(databaseFile)) createPrivateFile(fenceFileOf(databaseFile));
  syncPath(dirname(databaseFile));
  await assertUnused(databaseFile, MAX_WAIT_MS, (used) => {
    const what = `A process has ${used} open, although ${location} is fenced now.`;
    return `${what} End the service and every command on it, then run fence again.`;
  });
}

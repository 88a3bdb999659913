/**
 * No registry by accident: where its other files are, a missing one is not created
 * (docs/trouble.md#when-a-file-cannot-be-used).
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { StorageError } from '../../contract/storage-error.ts';
import { DATABASE_FILES, ledgerFolderOf, oldLedgerFileOf, SIDE_SUFFIXES, sizeOf } from './registry-files.ts';

/**
 * A write-ahead log whose database is gone has writes that were acknowledged: SQLite would delete it as soon
 * as the database is created.
 * @throws StorageError `unusable` when the database is missing or empty beside other files of a registry
 */
export function assertNothingLeft(databaseFile: string): void {
  if (sizeOf(databaseFile) > 0) return;
  const paths = DATABASE_FILES.map(({ pathAt }) => pathAt(databaseFile));
  const found = [
    ...paths,
    ...paths.flatMap((path) => SIDE_SUFFIXES.map((end) => path + end)),
    oldLedgerFileOf(databaseFile),
  ].filter((path) => !path.endsWith('-shm') && sizeOf(path) > 0);
  const folder = ledgerFolderOf(databaseFile);
  if (
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true &&
    readdirSync(folder).some((name) => name.endsWith('.db'))
  )
    found.push(folder);
  if (found.length === 0) return;
  const state = existsSync(databaseFile) ? 'is empty' : 'is missing';
  throw new StorageError(
    'unusable',
    `${databaseFile} ${state}, and other files of a registry are there: ${found.join(', ')}. ` +
      'Restore a backup (restore DIR --replace), or move these files away.',
  );
}

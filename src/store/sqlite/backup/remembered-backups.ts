/** What is remembered of the last backup of a registry, in a file beside it: for `status` and metrics. */
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { BackupOptions, CheckedBackup, WrittenBackup } from '../../contract/backup.ts';
import type { RememberedBackup } from '../../contract/condition.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { syncPath, writePrivateFile } from '../files/durable-files.ts';
import { backupsFileOf } from '../files/registry-files.ts';
import { verifyBackup } from './verify-backup.ts';
import { writeBackup } from './write-backup.ts';

/** What cannot be read counts as none: nothing is made up, and the next backup writes it anew. */
export function readRemembered(databaseFile: string): RememberedBackup | null {
  try {
    const last = JSON.parse(readFileSync(backupsFileOf(databaseFile), 'utf8'));
    const types = { folder: 'string', instantMs: 'number', bytes: 'number' };
    return Object.entries(types).every(([name, type]) => typeof last[name] === type) ? last : null;
  } catch {
    return null;
  }
}

/** @throws StorageError: whoever watches the backups would be shown an old one */
function remember(databaseFile: string, last: RememberedBackup): void {
  const file = backupsFileOf(databaseFile);
  const next = `${file}.new-${process.pid}`;
  try {
    rmSync(next, { force: true });
    writePrivateFile(next, `${JSON.stringify(last, undefined, 2)}\n`);
    renameSync(next, file);
    syncPath(dirname(file));
  } catch (error) {
    const reason = (error as Error).message;
    const message = `${file} cannot be written (${reason}): status will not show this backup.`;
    throw new StorageError('failed', message, { cause: error });
  }
}

/** As `writeBackup`; the backup is remembered. */
export async function writeRememberedBackup(
  databaseFile: string,
  target: string,
  options: BackupOptions,
): Promise<WrittenBackup> {
  const backup = await writeBackup(databaseFile, target, options);
  remember(databaseFile, {
    epoch: backup.sequence?.epoch ?? null,
    folder: resolve(target),
    instantMs: backup.instantMs,
    bytes: backup.files.reduce((sum, file) => sum + file.bytes, 0),
    verifiedAtMs: null,
    fault: backup.ledgerFault,
  });
  return backup;
}

/**
 * As `verifyBackup`; the result is remembered if it is about the last backup.
 * @param now epoch milliseconds
 */
export async function verifyRemembered(
  databaseFile: string,
  folder: string,
  now: () => number,
): Promise<CheckedBackup> {
  let checked: CheckedBackup;
  try {
    checked = await verifyBackup(folder);
  } catch (error) {
    // The reason of the failure counts, whatever becomes of this.
    try {
      rememberChecked(databaseFile, folder, now, { backup: undefined, fault: (error as Error).message });
    } catch {}
    throw error;
  }
  const { fault, ledgerFault } = checked;
  rememberChecked(databaseFile, folder, now, { ...checked, fault: fault ?? ledgerFault });
  return checked;
}

function rememberChecked(
  databaseFile: string,
  folder: string,
  now: () => number,
  { backup, fault }: Pick<CheckedBackup, 'backup' | 'fault'>,
): void {
  const last = readRemembered(databaseFile);
  if (last?.folder !== resolve(folder)) return;
  if (backup !== undefined && backup.instantMs !== last.instantMs) return;
  remember(databaseFile, { ...last, verifiedAtMs: now(), fault });
}

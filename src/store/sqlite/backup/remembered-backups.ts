/** What is remembered of the backups of a registry, in a file beside it: for `status` and metrics. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { BackupOptions, CheckedBackup, WrittenBackup } from '../../ports/backup.ts';
import type { FailedBackup, RememberedBackup, RememberedBackups } from '../../ports/condition.ts';
import { StorageError } from '../../ports/storage-error.ts';
import { syncPath, writePrivateFile } from '../files/durable-files.ts';
import { backupsFileOf } from '../files/registry-files.ts';
import { verifyBackup } from './verify-backup.ts';
import { writeBackup } from './write-backup.ts';

/** What cannot be read counts as none: nothing is made up, and the next backup writes it anew. */
export function readRemembered(databaseFile: string): RememberedBackups {
  try {
    const { last, failure } = JSON.parse(readFileSync(backupsFileOf(databaseFile), 'utf8'));
    return {
      last: hasTypes(last, { folder: 'string', instantMs: 'number', bytes: 'number' }) ? last : null,
      failure: hasTypes(failure, { folder: 'string', atMs: 'number', message: 'string' }) ? failure : null,
    };
  } catch {
    return { last: null, failure: null };
  }
}

const hasTypes = (value: { readonly [name: string]: unknown } | null | undefined, types: object): boolean =>
  Object.entries(types).every(([name, type]) => typeof value?.[name] === type);

/** @throws StorageError: whoever watches the backups would be shown an old one */
function remember(databaseFile: string, remembered: RememberedBackups): void {
  const file = backupsFileOf(databaseFile);
  const next = `${file}.new-${process.pid}`;
  try {
    rmSync(next, { force: true });
    writePrivateFile(next, `${JSON.stringify(remembered, undefined, 2)}\n`);
    renameSync(next, file);
    syncPath(dirname(file));
  } catch (error) {
    const reason = (error as Error).message;
    const message = `${file} cannot be written (${reason}): status will not show this backup.`;
    throw new StorageError('failed', message, { cause: error });
  }
}

/** As `writeBackup`; success and failure are remembered. */
export async function writeRememberedBackup(
  databaseFile: string,
  target: string,
  options: BackupOptions,
): Promise<WrittenBackup> {
  const folder = resolve(target);
  const isTaken = hasContent(folder);
  let backup: WrittenBackup;
  try {
    backup = await writeBackup(databaseFile, target, options);
  } catch (error) {
    // A folder that has something in it was refused before anything was tried.
    if (isTaken) throw error;
    // The reason of the failure counts, whatever becomes of this.
    try {
      const failure = { folder, atMs: options.now(), message: (error as Error).message };
      if (existsSync(databaseFile)) remember(databaseFile, { ...readRemembered(databaseFile), failure });
    } catch {}
    throw error;
  }
  const bytes = backup.files.reduce((sum, file) => sum + file.bytes, 0);
  const { instantMs, sequence } = backup;
  const epoch = sequence?.epoch ?? null;
  const last = { epoch, folder, instantMs, bytes, verifiedAtMs: null, fault: backup.ledgerFault };
  // One made elsewhere, such as the copy for a standby, does not make up for it.
  const before = readRemembered(databaseFile);
  const isElsewhere = (failed: FailedBackup | null) =>
    failed !== null && dirname(failed.folder) !== dirname(folder);
  const failure = [before.failure, unsound(before.last)].find(isElsewhere) ?? null;
  remember(databaseFile, { last, failure });
  return backup;
}

function hasContent(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

/** What is remembered as a failure of a backup that was found not sound; null of any other. */
const unsound = (backup: RememberedBackup | null): FailedBackup | null =>
  backup === null || backup.fault === null
    ? null
    : {
        folder: backup.folder,
        atMs: backup.verifiedAtMs ?? 0,
        message: `${backup.folder} is not sound: ${backup.fault}`,
      };

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
  const { last, failure } = readRemembered(databaseFile);
  if (last?.folder !== resolve(folder)) return;
  if (backup !== undefined && backup.instantMs !== last.instantMs) return;
  remember(databaseFile, { last: { ...last, verifiedAtMs: now(), fault }, failure });
}

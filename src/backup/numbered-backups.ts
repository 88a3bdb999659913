/** Manages the backups in a common folder, sorted by the numbers in their names instead of by date. */
import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { deniedMessage, systemCodeOf } from '../runtime/process.ts';
import { quoted, typedCommand } from '../runtime/typed-command.ts';
import { syncPath, writePrivateFile } from '../sqlite/durable-files.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { backupsFileOf } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import type { Storage } from '../sqlite/storage.ts';
import { MANIFEST_NAME, type Manifest, readManifest } from './manifest.ts';
import { type CheckedBackup, checkBackup } from './verify-backup.ts';
import {
  type BackupOptions,
  incompleteNameOf,
  isDatedName,
  type WrittenBackup,
  writeBackup,
} from './write-backup.ts';

/** Returns the path of the next backup, such as `000042-2026-11-21T18-30-00Z`, with the instant in UTC. */
export function datedFolderIn(parent: string, instantMs: number): string {
  const numbers = existsSync(parent) ? readdirSync(parent).map(numberOf) : [];
  const number = String(Math.max(0, ...numbers) + 1).padStart(6, '0');
  const instant = new Date(instantMs)
    .toISOString()
    .replace(/\.[0-9]+/, '')
    .replaceAll(':', '-');
  return join(parent, `${number}-${instant}`);
}

export type PrunedBackups = ReturnType<typeof pruneDatedBackups>;

/**
 * Removes the oldest complete backups of one registry: the registry of the newest backup in the folder.
 * @param keep number of backups to keep, at least 1
 * @param yes true to skip the check that the newest backup has not shrunk
 * @param written name of the backup that was just written, which counts as the newest
 * @throws StorageError `failed` when the newest backup has fewer than half the members of the previous backup
 */
export function pruneDatedBackups(parent: string, keep: number, yes: boolean, written?: string) {
  const all = listDatedBackups(parent);
  const newest = all.find(({ name }) => name === written) ?? all[0];
  if (newest === undefined) return { kept: 0, removed: [] };
  const older = all.filter(
    (backup) => backup !== newest && backup.manifest.registryId === newest.manifest.registryId,
  );
  const removed = older.slice(keep - 1).map(({ name }) => name);
  if (removed.length > 0 && !yes) assertNotShrunk(newest, older[0]);
  for (const name of removed.reverse()) {
    // Renamed first, because a half-removed folder must not look like a backup.
    const doomed = join(parent, incompleteNameOf(name));
    renameSync(join(parent, name), doomed);
    syncPath(parent);
    rmSync(doomed, { recursive: true, force: true });
  }
  return { kept: 1 + older.length - removed.length, removed };
}

function assertNotShrunk(newest: DatedBackup, before: DatedBackup | undefined): void {
  const [members = 0, membersBefore = 0] = [newest.manifest.rows.members, before?.manifest.rows.members];
  if (members * 2 >= membersBefore) return;
  throw new StorageError(
    'failed',
    `${newest.name} has ${members} members, and ${before?.name} before it has ${membersBefore}: ` +
      'no backup was removed. Look at the registry; --yes removes the older ones.',
  );
}

/** A complete backup. Files of its access ledger may be missing. */
interface DatedBackup {
  readonly name: string;
  readonly manifest: Manifest;
}

/** @param onDenied called for each backup that this process may not read */
export const listDatedBackups = (
  parent: string,
  onDenied: (name: string, fault: string) => void = () => {},
): DatedBackup[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isDatedName(entry.name))
    .flatMap(({ name }) => readComplete(join(parent, name), (fault) => onDenied(name, fault)))
    .sort(newestFirst);

/** Sorts by number. The names of backups of 1.0.0 have no number; these backups are last. */
const newestFirst = (a: DatedBackup, b: DatedBackup): number =>
  numberOf(b.name) - numberOf(a.name) || b.manifest.number - a.manifest.number || (a.name < b.name ? 1 : -1);

const numberOf = (name: string): number => Number(/^([0-9]{6,12})-/.exec(name)?.[1] ?? 0);

/**
 * Returns the backup in a folder; an empty array if the backup is incomplete. A complete backup has a valid
 * manifest, the files that the manifest names, and no others. Only ledger files may be missing.
 */
function readComplete(folder: string, onDenied: (fault: string) => void): DatedBackup[] {
  try {
    const manifest = readManifest(folder);
    const paths = new Set(listFiles(folder));
    const names = manifest.files.map(({ name }) => name);
    const isComplete =
      names.every((name) => paths.delete(name) || isLedgerFileOfBackup(name)) &&
      paths.delete(MANIFEST_NAME) &&
      paths.size === 0;
    return isComplete ? [{ name: basename(folder), manifest }] : [];
  } catch (error) {
    const reason = error instanceof StorageError ? error.cause : error;
    if (systemCodeOf(reason) === 'EACCES') onDenied(String(deniedMessage(folder)));
    return [];
  }
}

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));

/**
 * Finds the newest sound backup of the registry at a location.
 * @returns the folder of the backup, and the newer backups that are not sound or not readable
 * @throws StorageError `unusable` when the folder has no sound backup of this registry; without a registry at
 * the location, also when the folder has backups of several registries
 */
export async function findNewestBackup(databaseFile: string, parent: string) {
  const denied: { name: string; fault: string }[] = [];
  const all = listDatedBackups(parent, (name, fault) => denied.push({ name, fault }));
  const localId = readRegistryId(databaseFile);
  const ids = new Set(all.map(({ manifest }) => manifest.registryId));
  if (localId === undefined && ids.size > 1)
    throw new StorageError(
      'unusable',
      `${parent} has backups of ${ids.size} registries: name the folder of one backup, without --newest.`,
    );
  const newest = all[0];
  if (localId !== undefined && newest !== undefined && !ids.has(localId)) {
    const restore = `restore ${quoted(join(parent, newest.name))} --replace`;
    throw new StorageError(
      'unusable',
      `The backups in ${parent} are of another registry than the one at ${databaseFile}. To put that ` +
        `registry in its place: ${typedCommand(restore, databaseFile)}`,
    );
  }
  const unsound: { name: string; fault: string }[] = [];
  for (const { name, manifest } of all) {
    if (localId !== undefined && manifest.registryId !== localId) continue;
    const folder = join(parent, name);
    const { fault } = await checkBackup(folder);
    if (fault === null)
      return { folder, unsound, denied: denied.filter((other) => numberOf(other.name) > numberOf(name)) };
    unsound.push({ name, fault });
  }
  const reasons = [...denied, ...unsound].map(({ name, fault }) => ` ${name}: ${fault}`).join('');
  throw new StorageError('unusable', `There is no sound backup in ${parent}.${reasons}`);
}

// The last backup is recorded in a file beside the registry, for `status` and metrics

interface RecordedBackup {
  /** Epoch of the sequence of events. Null for a registry without an epoch, a fault that `check` reports. */
  readonly epoch: string | null;
  readonly folder: string;
  readonly instantMs: number;
  readonly bytes: number;
  /** Null before the first verification. */
  readonly verifiedAtMs: number | null;
  /** Fault that was found when the backup was written or last verified; null for a sound backup. */
  readonly fault: string | null;
}

/** Returns null for a missing or damaged record, which the next backup replaces. */
function readRecord(databaseFile: string): RecordedBackup | null {
  try {
    const last = JSON.parse(readFileSync(backupsFileOf(databaseFile), 'utf8'));
    const types = { folder: 'string', instantMs: 'number', bytes: 'number' };
    return Object.entries(types).every(([name, type]) => typeof last[name] === type) ? last : null;
  } catch {
    return null;
  }
}

/** @throws StorageError if the file cannot be written: `status` would then show an older backup */
function writeRecord(databaseFile: string, last: RecordedBackup): void {
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

/** Records the backup as the location's last backup. @throws StorageError, or the signal's abort reason */
export async function writeAndRecordBackup(
  storage: Storage,
  target: string,
  options: BackupOptions,
): Promise<WrittenBackup> {
  const databaseFile = storage.checkedPath();
  const backup = await writeBackup(databaseFile, target, options);
  writeRecord(databaseFile, {
    epoch: backup.sequence?.epoch ?? null,
    folder: resolve(target),
    instantMs: backup.instantMs,
    bytes: backup.files.reduce((sum, file) => sum + file.bytes, 0),
    verifiedAtMs: null,
    fault: backup.ledgerFault,
  });
  return backup;
}

/** Records the result if this is the last backup of the location. @throws StorageError, like `checkBackup` */
export async function verifyAndRecordBackup(
  { location }: Storage,
  folder: string,
  now: () => number,
): Promise<CheckedBackup> {
  const recordResult = (fault: string | null, backup?: Manifest) => {
    const last = readRecord(location);
    if (last?.folder !== resolve(folder)) return;
    if (backup !== undefined && backup.instantMs !== last.instantMs) return;
    writeRecord(location, { ...last, verifiedAtMs: now(), fault });
  };
  let checked: CheckedBackup;
  try {
    checked = await checkBackup(folder);
  } catch (error) {
    // A failure to record must not hide the original error.
    try {
      recordResult((error as Error).message);
    } catch {}
    throw error;
  }
  recordResult(checked.fault ?? checked.ledgerFault, checked.backup);
  return checked;
}

/**
 * Place of a backup relative to the registry, for a warning if one disk has both (docs/backup.md#backup).
 * `beside`: in the folder of the registry. `same_disk`: in another folder of the same disk. `elsewhere`: on
 * another disk. `missing`: nothing exists at the path, for example because a disk is not mounted.
 */
export type BackupPlace = 'missing' | 'beside' | 'same_disk' | 'elsewhere';

/** Returns `elsewhere` for a path that this process may not inspect, for example in another user's folder. */
export function placeOf(databaseFile: string, path: string): BackupPlace {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'missing';
    const home = realpathSync(dirname(databaseFile));
    if (!relative(home, realpathSync(path)).startsWith('..')) return 'beside';
    return stats.dev === statSync(home).dev ? 'same_disk' : 'elsewhere';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? 'missing' : 'elsewhere';
  }
}

export type LastBackup = NonNullable<ReturnType<typeof findLastBackup>>;

/** Looks for the manifest: the folder alone may be the empty mount point of an unmounted disk. */
export function findLastBackup(databaseFile: string) {
  const last = readRecord(databaseFile);
  return last && { ...last, place: placeOf(databaseFile, join(last.folder, MANIFEST_NAME)) };
}

/** Manages backups side by side in one folder, each in a numbered folder; the numbers order them. */
import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { syncPath, writePrivateFile } from '../sqlite/durable-files.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { backupsFileOf } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import {
  type Backup,
  type BackupOptions,
  type BackupPlace,
  type CheckedBackup,
  datedNameOf,
  isDatedName,
  type LastBackup,
  type ListedBackup,
  type NewestBackup,
  type PrunedBackups,
  type PruneOptions,
  type RememberedBackup,
  type WrittenBackup,
} from './backup-types.ts';
import { MANIFEST_NAME, type Manifest, readManifest } from './manifest.ts';
import { verifyBackup } from './verify-backup.ts';
import { incompleteNameOf, writeBackup } from './write-backup.ts';

/** Returns the folder of the next backup, numbered one above the highest that exists. */
export function datedFolderIn(parent: string, instantMs: number): string {
  const numbers = existsSync(parent) ? readdirSync(parent).map(numberOf) : [];
  return join(parent, datedNameOf(Math.max(0, ...numbers) + 1, instantMs));
}

/**
 * Removes the oldest complete backups of one registry from a folder, and nothing else.
 * @param keep number of backups to keep, at least 1
 * @param made name of the backup just written, which is kept in any case
 * @throws StorageError `failed` when the newest has fewer than half the members of the one before it
 */
export function pruneDatedBackups(
  parent: string,
  keep: number,
  { made, yes = false }: PruneOptions = {},
): PrunedBackups {
  const all = listDatedBackups(parent);
  const newest = all.find(({ name }) => name === made) ?? all[0];
  const [{ name: first, backup } = {}, ...others] = [
    ...(newest === undefined ? [] : [newest]),
    ...all.filter((each) => each !== newest && each.backup.registryId === newest?.backup.registryId),
  ];
  const removed = others.slice(keep - 1).map(({ name }) => name);
  if (removed.length > 0 && !yes) assertNotShrunk(first ?? '', backup, others[0]);
  for (const name of removed.reverse()) {
    // Renamed first: a half-removed folder must not look like a backup.
    const doomed = join(parent, incompleteNameOf(name));
    renameSync(join(parent, name), doomed);
    syncPath(parent);
    rmSync(doomed, { recursive: true, force: true });
  }
  return { kept: (newest === undefined ? 0 : 1) + others.length - removed.length, removed };
}

function assertNotShrunk(name: string, newest: Backup | undefined, before: ListedBackup | undefined): void {
  const [members = 0, membersBefore = 0] = [newest?.rows.members, before?.backup.rows.members];
  if (members * 2 >= membersBefore) return;
  throw new StorageError(
    'failed',
    `${name} has ${members} members, and ${before?.name} before it has ${membersBefore}: no backup was ` +
      'removed. Look at the registry; --yes removes the older ones.',
  );
}

/** Lists the complete backups in a folder, newest first. */
export const listDatedBackups = (parent: string): ListedBackup[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isDatedName(entry.name))
    .flatMap(({ name }) => readComplete(join(parent, name)))
    .sort(newestFirst)
    .map(({ name, manifest }) => ({ name, backup: manifest }));

interface Complete {
  readonly name: string;
  readonly manifest: Manifest;
}

/** Orders by folder number. Backups of 1.0.0 are older: their number is only in the manifest. */
const newestFirst = (a: Complete, b: Complete): number =>
  numberOf(b.name) - numberOf(a.name) || b.manifest.number - a.manifest.number || (a.name < b.name ? 1 : -1);

const numberOf = (name: string): number => Number(/^([0-9]{6,12})-/.exec(name)?.[1] ?? 0);

/**
 * Accepts a folder with a reliable manifest, the files that it names and nothing else. Ledger files may be
 * missing, since the rest can still be restored.
 */
function readComplete(folder: string): Complete[] {
  try {
    const manifest = readManifest(folder);
    const found = new Set(listFiles(folder));
    const names = manifest.files.map(({ name }) => name);
    const isComplete =
      names.every((name) => found.delete(name) || isLedgerFileOfBackup(name)) &&
      found.delete(MANIFEST_NAME) &&
      found.size === 0;
    return isComplete ? [{ name: basename(folder), manifest }] : [];
  } catch {
    return [];
  }
}

/** Lists relative paths of files, without folders. */
const listFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));

/**
 * Verifies the location's backups, newest first, until one is sound.
 * @throws StorageError `unusable` when none is sound or of the registry at the location; if there is none at
 * the location, also when the folder has backups of several registries
 */
export async function findNewestBackupAt(databaseFile: string, parent: string): Promise<NewestBackup> {
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

// Records the last backup of a registry in a file beside it, for `status` and metrics.

/** Treats an unreadable file as absent; the next backup rewrites it. */
export function readRemembered(databaseFile: string): RememberedBackup | null {
  try {
    const last = JSON.parse(readFileSync(backupsFileOf(databaseFile), 'utf8'));
    const types = { folder: 'string', instantMs: 'number', bytes: 'number' };
    return Object.entries(types).every(([name, type]) => typeof last[name] === type) ? last : null;
  } catch {
    return null;
  }
}

/** @throws StorageError, since monitoring would otherwise keep showing an older backup */
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
 * Verifies a backup, and records the result if it concerns the last one.
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
    // A failure to record must not hide the original error.
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

// Location of a backup relative to the registry, since one broken disk may take both (docs/backup.md#backup)

/** @param path counts as `elsewhere` if it cannot be inspected, as in another user's folder */
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

/** Looks for the manifest, since the mount point of an unmounted disk may exist as an empty folder. */
export const locate = (databaseFile: string, last: RememberedBackup): LastBackup => ({
  ...last,
  place: placeOf(databaseFile, join(last.folder, MANIFEST_NAME)),
});

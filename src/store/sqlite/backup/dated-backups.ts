/** Backups beside each other in one folder, each in a folder with a number, which orders them. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import {
  type Backup,
  datedNameOf,
  isDatedName,
  type ListedBackup,
  type PrunedBackups,
  type PruneOptions,
} from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { syncPath } from '../files/durable-files.ts';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { MANIFEST_NAME, type Manifest, readManifest } from './manifest.ts';
import { incompleteNameOf } from './work-folder.ts';

/** A folder for the next backup: its number is one more than the highest that is there. */
export function datedFolderIn(parent: string, instantMs: number): string {
  const numbers = existsSync(parent) ? readdirSync(parent).map(numberOf) : [];
  return join(parent, datedNameOf(Math.max(0, ...numbers) + 1, instantMs));
}

/**
 * Removes the oldest of the complete backups of one registry in a folder, and nothing else.
 * @param keep how many stay, at least 1
 * @param made the name of one that stays whatever the others are: it was just made
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
    // Half removed, it must not look like a backup any more.
    const doomed = join(parent, incompleteNameOf(name));
    renameSync(join(parent, name), doomed);
    syncPath(parent);
    rmSync(doomed, { recursive: true, force: true });
  }
  return { kept: all.length - removed.length, removed };
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

/** The complete backups in a folder, the newest first. */
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

/** By the numbers of their folders; those of 1.0.0, without one, are older, and have one in the manifest. */
const newestFirst = (a: Complete, b: Complete): number =>
  numberOf(b.name) - numberOf(a.name) || b.manifest.number - a.manifest.number || (a.name < b.name ? 1 : -1);

const numberOf = (name: string): number => Number(/^([0-9]{6,12})-/.exec(name)?.[1] ?? 0);

/**
 * One that has a manifest that can be relied on, the files that this names, and nothing else. Files of the
 * ledger may be missing: the rest can be restored.
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

/** Paths in a folder, without those of folders. */
const listFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));

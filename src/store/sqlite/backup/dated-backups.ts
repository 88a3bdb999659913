/**
 * Backups beside each other in one folder, each in a folder named by its instant. Their order is that of what
 * they hold, never that of a clock.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { datedNameOf, isDatedName, type ListedBackup, type PrunedBackups } from '../../contract/backup.ts';
import { syncPath } from '../files/durable-files.ts';
import { MANIFEST_NAME, type Manifest, readManifest } from './manifest.ts';
import { incompleteNameOf } from './work-folder.ts';

/** A folder for a backup of an instant, which nothing has yet. */
export function datedFolderIn(parent: string, instantMs: number): string {
  const folder = join(parent, datedNameOf(instantMs));
  for (let n = 1; ; n++) {
    const free = n === 1 ? folder : `${folder}-${n}`;
    if (!existsSync(free)) return free;
  }
}

/**
 * Removes the oldest of the complete backups in a folder, and nothing else.
 * @param keep how many stay, at least 1
 * @param made the name of one that stays whatever the others are: it was just made
 */
export function pruneDatedBackups(parent: string, keep: number, made?: string): PrunedBackups {
  const names = listDatedBackups(parent).map(({ name }) => name);
  const newest = made !== undefined && names.includes(made) ? [made] : [];
  const kept = [...newest, ...names.filter((name) => name !== made)].slice(0, keep);
  const removed = names.filter((name) => !kept.includes(name)).reverse();
  for (const name of removed) {
    // Half removed, it must not look like a backup any more.
    const doomed = join(parent, incompleteNameOf(name));
    renameSync(join(parent, name), doomed);
    syncPath(parent);
    rmSync(doomed, { recursive: true, force: true });
  }
  return { kept: kept.length, removed };
}

/** The complete backups in a folder, the newest first. */
export const listDatedBackups = (parent: string): ListedBackup[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isDatedName(entry.name))
    .flatMap(({ name }) => readComplete(join(parent, name)))
    .sort((a, b) => newestFirst(a.manifest, b.manifest))
    .map(({ name, manifest }) => ({ name, backup: manifest }));

/**
 * By restores, then by events; by the order in which they were made where nothing happened between them, and
 * where their events are of different epochs.
 */
function newestFirst(a: Manifest, b: Manifest): number {
  const isOneEpoch = a.sequence?.epoch === b.sequence?.epoch;
  const places = [a, b].map(({ sequence, number }) => [
    sequence?.generation ?? 0,
    isOneEpoch ? (sequence?.lastSequence ?? 0) : 0,
    number,
  ]);
  const [ofA = [], ofB = []] = places;
  const different = ofA.findIndex((place, i) => place !== ofB[i]);
  return different < 0 ? 0 : (ofB[different] as number) - (ofA[different] as number);
}

/** One that has a manifest that can be relied on, the files that this names, and nothing else. */
function readComplete(folder: string): { readonly name: string; readonly manifest: Manifest }[] {
  try {
    const manifest = readManifest(folder);
    const expected = [MANIFEST_NAME, ...manifest.files.map(({ name }) => name)].sort();
    const isComplete = expected.join('/') === readdirSync(folder).sort().join('/');
    return isComplete ? [{ name: basename(folder), manifest }] : [];
  } catch {
    return [];
  }
}

/** The number of the next backup in a folder: higher than those of all that are there. */
export function nextNumberIn(parent: string): number {
  let highest = 0;
  for (const { name } of readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    for (const { manifest } of readComplete(join(parent, name))) highest = Math.max(highest, manifest.number);
  return highest + 1;
}

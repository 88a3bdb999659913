/** Backups beside each other in one folder, each in a folder named by its instant. */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDatedName, type PrunedBackups } from '../../ports/backup.ts';
import { syncPath } from '../files/durable-files.ts';
import { MANIFEST_NAME, readManifest } from './manifest.ts';
import { incompleteNameOf } from './work-folder.ts';

/**
 * Removes the oldest of the complete backups in a folder, and nothing else.
 * @param keep how many stay, at least 1
 */
export function pruneDatedBackups(parent: string, keep: number): PrunedBackups {
  const names = listDatedBackups(parent);
  const removed = names.slice(0, -keep);
  for (const name of removed) {
    // Half removed, it must not look like a backup any more.
    const doomed = join(parent, incompleteNameOf(name));
    renameSync(join(parent, name), doomed);
    syncPath(parent);
    rmSync(doomed, { recursive: true, force: true });
  }
  return { kept: names.length - removed.length, removed };
}

/** The names of the complete backups in a folder, oldest first. */
const listDatedBackups = (parent: string): string[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isDatedName(entry.name))
    .map(({ name }) => name)
    .filter((name) => isComplete(join(parent, name)))
    .sort();

/** Whether it has a manifest that can be relied on, the files that this names, and nothing else. */
function isComplete(folder: string): boolean {
  try {
    const { files } = readManifest(folder);
    const expected = [MANIFEST_NAME, ...files.map(({ name }) => name)].sort();
    return expected.join('/') === readdirSync(folder).sort().join('/');
  } catch {
    return false;
  }
}

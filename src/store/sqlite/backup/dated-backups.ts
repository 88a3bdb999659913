/** Backups beside each other in one folder, each in a folder named by its instant. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DatedBackup, isDatedName } from '../../ports/backup.ts';
import { syncPath } from './durable-files.ts';
import { MANIFEST_NAME, type Manifest, readManifest } from './manifest.ts';
import { incompleteNameOf, removeIncomplete } from './work-folder.ts';

/**
 * The complete backups in a folder, oldest first: folders named by an instant, with a manifest that can be
 * relied on, the files that it names, and nothing else.
 */
export function listDatedBackups(parent: string): DatedBackup[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isDatedName(entry.name))
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => {
      const manifest = readCompleteManifest(join(parent, name));
      return manifest === undefined ? [] : [{ name, instantMs: manifest.instantMs }];
    });
}

function readCompleteManifest(folder: string): Manifest | undefined {
  try {
    const manifest = readManifest(folder);
    const expected = [MANIFEST_NAME, ...manifest.files.map(({ name }) => name)].sort();
    return expected.join('/') === readdirSync(folder).sort().join('/') ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Removes the oldest of the complete backups in a folder, and nothing else.
 * @param keep how many stay, at least 1
 * @returns the names of those that were removed
 */
export function pruneDatedBackups(parent: string, keep: number): string[] {
  const removed = listDatedBackups(parent)
    .slice(0, -keep)
    .map(({ name }) => name);
  for (const name of removed) {
    // Half removed, it must not look like a backup any more.
    const doomed = join(parent, incompleteNameOf(name));
    renameSync(join(parent, name), doomed);
    syncPath(parent);
    rmSync(doomed, { recursive: true, force: true });
  }
  return removed;
}

/** Removes what backups by date that were killed have left. */
export function removeIncompleteDated(parent: string): void {
  if (existsSync(parent)) removeIncomplete(parent, isDatedName);
}

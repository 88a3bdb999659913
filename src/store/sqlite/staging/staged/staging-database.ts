/** The staging files of imports: private, beside the database, removed by the import or at the next start. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RunningImports } from '../../../contract/condition.ts';
import type { Connection } from '../../engine/connection.ts';
import { isLocked, isRunning } from '../../engine/file-use.ts';
import { createPrivateFile } from '../../files/durable-files.ts';
import { STAGING_INFIX, sizeOf } from '../../files/registry-files.ts';

const JOURNAL = '-journal';
/** An empty file this young may belong to an import that is about to lock it, if its process runs. */
const FRESH_MS = 10_000;

/** An empty file that only its owner can read: SQLite would let others. */
export function createStagingFile(databaseFile: string): string {
  const file = `${databaseFile}${STAGING_INFIX}${process.pid}-${randomBytes(4).toString('hex')}`;
  createPrivateFile(file);
  return file;
}

/** Attaches the file as `staging`. It needs no durability: after a crash it is thrown away. */
export function attachStaging(db: Connection, file: string): void {
  db.run('ATTACH ? AS staging', [file]);
  for (const setting of [
    'journal_mode = TRUNCATE',
    'synchronous = OFF',
    'secure_delete = OFF',
    'cache_size = -16384',
    // Held from the first write to the end: it shows others that the file is in use.
    'locking_mode = EXCLUSIVE',
  ]) {
    db.raw.pragma(`staging.${setting}`);
  }
}

export function removeStagingFile(file: string): void {
  for (const suffix of ['', JOURNAL]) rmSync(file + suffix, { force: true });
}

/**
 * Removes the staging files that killed imports have left beside a database. Those in use are known by their
 * lock, not by a process id: in a container every import has the same one.
 * @returns how many there were
 */
export function removeStaleStaging(databaseFile: string): number {
  const stale = listStaging(databaseFile).filter((file) => !isInUse(file));
  for (const file of stale) removeStagingFile(file);
  return stale.length;
}

/** The imports under way: all that others can know of them, as what is staged is locked. */
export function readRunningImports(databaseFile: string): RunningImports {
  const files = listStaging(databaseFile).filter(isInUse);
  const sizes = files.map(sizeOf);
  return { running: files.length, stagedBytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}

function listStaging(databaseFile: string): string[] {
  const folder = dirname(databaseFile);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(basename(databaseFile) + STAGING_INFIX) && !name.endsWith(JOURNAL))
    .map((name) => join(folder, name));
}

function isInUse(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.size === 0) return Date.now() - found.mtimeMs < FRESH_MS && isRunningImport(file);
  return isLocked(file);
}

function isRunningImport(file: string): boolean {
  const pid = Number(/-([0-9]+)-[0-9a-f]+$/.exec(file)?.[1] ?? 0);
  return pid !== 0 && isRunning(pid);
}

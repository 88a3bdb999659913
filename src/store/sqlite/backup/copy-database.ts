/**
 * Snapshots of the databases of a registry, and copies of them. A read transaction is held while a file is
 * copied: the copy is of one commit, neither waits for writers nor makes them wait, and never starts again
 * (docs/decisions/0020-backup.md).
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import { readVersion } from '../engine/migrate.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { createPrivateFile, syncPath } from '../files/durable-files.ts';
import { DATABASE_FILES, type DatabaseFile } from '../files/registry-files.ts';

export interface Snapshot {
  readonly file: DatabaseFile;
  readonly db: Connection;
  readonly bytes: number;
}

/** After each step the event loop runs, so that a signal ends the copy. */
const PAGES_PER_STEP = 2_048;

/**
 * Takes a snapshot of each database, one right after the other.
 * @throws StorageError when there is no registry, or one of another program or a newer release
 */
export function takeSnapshots(databaseFile: string, files = DATABASE_FILES): Snapshot[] {
  const opened: { readonly file: DatabaseFile; readonly db: Connection }[] = [];
  try {
    for (const file of files) {
      const path = file.pathAt(databaseFile);
      if (file.isOptional && !existsSync(path)) continue;
      opened.push({ file, db: openDatabase(path, { readOnly: true, waitMs: WAIT_MS.command }) });
    }
    for (const { db } of opened) beginSnapshot(db);
    return opened.flatMap(({ file, db }) => toSnapshot(file, db));
  } catch (error) {
    closeSnapshots(opened);
    throw error;
  }
}

/** The first read takes the snapshot, not BEGIN. */
export function beginSnapshot(db: Connection): void {
  db.transaction.beginRead();
  db.row('SELECT count(*) FROM sqlite_schema');
}

/** Empty for a file that a program has created and not filled: it holds nothing yet. */
function toSnapshot(file: DatabaseFile, db: Connection): Snapshot[] {
  if (readVersion(db, file.schema) > 0) {
    const bytes = Number(db.raw.pragma('page_count', { simple: true })) * pageSizeOf(db);
    return [{ file, db, bytes }];
  }
  if (!file.isOptional) throw new StorageError('unusable', `There is no registry in ${db.raw.name} yet.`);
  db.close();
  return [];
}

const pageSizeOf = (db: Connection): number => Number(db.raw.pragma('page_size', { simple: true }));

/** Gives the snapshots back: until then the write-ahead logs of the registry keep what is committed. */
export function closeSnapshots(snapshots: readonly { readonly db: Connection }[]): void {
  for (const { db } of snapshots) {
    db.transaction.endRead();
    db.close();
  }
}

/** Copies a snapshot to a new file, complete in itself and on disk. */
export async function copySnapshot(
  { db, bytes }: Pick<Snapshot, 'db' | 'bytes'>,
  path: string,
  signal?: AbortSignal,
  onProgress?: (copiedBytes: number) => void,
): Promise<void> {
  const target = resolve(path);
  createPrivateFile(target);
  await db.raw.backup(target, {
    progress({ totalPages, remainingPages }) {
      signal?.throwIfAborted();
      onProgress?.(totalPages === 0 ? 0 : (bytes * (totalPages - remainingPages)) / totalPages);
      return PAGES_PER_STEP;
    },
  });
  leaveLogMode(target);
  syncPath(target);
}

/** A database in WAL mode needs files beside it even to be read, also from a disk that is read-only. */
export function leaveLogMode(file: string): void {
  const copy = new Database(file);
  try {
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/**
 * Takes and copies snapshots of a registry's databases (docs/decisions/0020-backup.md). A snapshot is an open
 * read transaction: the copy has the state after one commit, and neither waits for writers nor blocks them.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Connection, WAIT_MS } from './connection.ts';
import { createPrivateFile, syncPath } from './durable-files.ts';
import { openDatabase, readVersion } from './open-database.ts';
import { DATABASE_FILES, type DatabaseFile } from './registry-files.ts';
import { StorageError } from './sqlite-errors.ts';
import { leaveLogMode } from './write-ahead-log.ts';

export interface Snapshot {
  readonly file: DatabaseFile;
  readonly db: Connection;
  readonly bytes: number;
}

/** Pages that are copied at once. The event loop runs in between, so that a signal can stop the copy. */
const PAGES_PER_STEP = 2_048;

/** @throws StorageError if there is no registry, or if it belongs to another program or a newer release */
export function takeSnapshots(databaseFile: string): Snapshot[] {
  const files: { readonly file: DatabaseFile; readonly db: Connection }[] = [];
  try {
    for (const file of DATABASE_FILES) {
      const path = file.pathAt(databaseFile);
      if (file.isOptional && !existsSync(path)) continue;
      files.push({ file, db: openDatabase(path, { readOnly: true, waitMs: WAIT_MS.command }) });
    }
    for (const { db } of files) beginSnapshot(db);
    return files.flatMap(({ file, db }) => toSnapshot(file, db));
  } catch (error) {
    closeSnapshots(files);
    throw error;
  }
}

/** Begins a read transaction, and reads once, because SQLite takes the snapshot at the first read. */
export function beginSnapshot(db: Connection): void {
  db.transaction.beginRead();
  db.row('SELECT count(*) FROM sqlite_schema');
}

/** @returns no snapshot for an optional file that was created but never filled */
function toSnapshot(file: DatabaseFile, db: Connection): Snapshot[] {
  if (readVersion(db, file.schema) > 0) {
    const read = (pragma: string) => Number(db.raw.pragma(pragma, { simple: true }));
    return [{ file, db, bytes: read('page_count') * read('page_size') }];
  }
  if (!file.isOptional) throw new StorageError('unusable', `There is no registry in ${db.raw.name} yet.`);
  db.close();
  return [];
}

/** Ends the snapshots. Until then, the write-ahead logs cannot be emptied. */
export function closeSnapshots(snapshots: readonly { readonly db: Connection }[]): void {
  for (const { db } of snapshots) {
    db.transaction.endRead();
    db.close();
  }
}

/** Copies a snapshot to a new file without a write-ahead log, and syncs the file. */
export async function copySnapshot(
  db: Connection,
  path: string,
  signal?: AbortSignal,
  onProgress?: (fraction: number) => void,
): Promise<void> {
  const target = resolve(path);
  createPrivateFile(target);
  await db.raw.backup(target, {
    progress({ totalPages, remainingPages }) {
      signal?.throwIfAborted();
      onProgress?.(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
      return PAGES_PER_STEP;
    },
  });
  leaveLogMode(target);
  syncPath(target);
}

/**
 * The folder of a running restore, `registry.db.restoring` beside the database. While it exists, nothing is
 * opened at the location, so that registry and keys change together for every other process. It contains the
 * copies until they are in place, and the old files; at the end it gets its final name in one step.
 */
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { createFolder, createPrivateFolder } from '../../../runtime/new-files.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { lockFile } from '../engine/file-use.ts';
import { createPrivateFile, syncPath } from '../files/durable-files.ts';
import {
  backupsFileOf,
  DATABASE_FILES,
  replacedFolderOf,
  restoringFolderOf,
  withSideFiles,
} from '../files/registry-files.ts';

/** Held open with an exclusive lock while a restore runs: one that was killed has lost it. */
const LOCK = '.lock';
/** The copies. */
const NEW = '.new';
/** Exists once every old file is in the folder: only restores put files at the location from then on. */
const MOVED = '.moved';
const OWN_NAMES = [LOCK, NEW, MOVED];

/** What a restore replaces: the databases of a registry, and what SQLite has left beside them. */
const REPLACED = DATABASE_FILES.filter(({ outlivesRestores }) => !outlivesRestores);

/** What there is of a registry at a location, but for what outlives it. */
export const filesAt = (databaseFile: string): string[] =>
  [
    ...REPLACED.flatMap(({ pathAt }) => withSideFiles(pathAt(databaseFile))),
    // What is known of the backups of one registry is not true of another.
    backupsFileOf(databaseFile),
  ].filter((path) => existsSync(path));

/** Whether a restore was killed after it had begun to copy. */
export const wasInterrupted = (databaseFile: string): boolean =>
  existsSync(join(restoringFolderOf(databaseFile), NEW));

/**
 * Nothing may be opened at the location while a restore is under way: registry and keys would not fit.
 * @throws StorageError
 */
export function assertNotRestoring(databaseFile: string): void {
  if (!existsSync(restoringFolderOf(databaseFile))) return;
  throw new StorageError(
    'unusable',
    `A restore into ${databaseFile} is running or was interrupted. Wait for it, or run restore again.`,
  );
}

export class RestoringFolder {
  readonly copies: string;
  readonly databaseFile: string;
  /** Where what is replaced is moved to. */
  readonly oldFolder: string;
  private readonly lock: Database.Database;

  /** @throws StorageError when another restore is running, or the folder cannot be created */
  constructor(databaseFile: string) {
    this.databaseFile = databaseFile;
    this.oldFolder = restoringFolderOf(databaseFile);
    this.copies = join(this.oldFolder, NEW);
    try {
      createFolder(dirname(this.oldFolder));
      if (!existsSync(this.oldFolder)) createPrivateFolder(this.oldFolder);
      if (!existsSync(join(this.oldFolder, LOCK))) createPrivateFile(join(this.oldFolder, LOCK));
    } catch (error) {
      const message = `${databaseFile} cannot be restored: ${(error as Error).message}.`;
      throw new StorageError('unusable', message, { cause: error });
    }
    const lock = lockFile(join(this.oldFolder, LOCK));
    if (lock === undefined)
      throw new StorageError('failed', `Another restore into ${databaseFile} is running.`);
    this.lock = lock;
  }

  /** Where the old registry is, if there is one: it may have been moved by a restore that was killed. */
  get oldDatabase(): string {
    const moved = join(this.oldFolder, basename(this.databaseFile));
    return existsSync(moved) || existsSync(join(this.oldFolder, MOVED)) ? moved : this.databaseFile;
  }

  /** Makes room for the copies; what an earlier restore has copied is copied again. */
  prepareCopies(): void {
    rmSync(this.copies, { recursive: true, force: true });
    createPrivateFolder(this.copies);
  }

  /**
   * Moves every file of the old registry into the folder, and then records on disk that all were moved.
   * @param others that are not of the registry that is restored
   */
  moveOldFiles(onStep: (step: string) => void, others: readonly string[] = []): void {
    if (existsSync(join(this.oldFolder, MOVED))) return;
    for (const file of [...filesAt(this.databaseFile), ...others]) {
      renameSync(file, join(this.oldFolder, basename(file)));
      onStep(`moved ${basename(file)}`);
    }
    this.sync();
    createPrivateFolder(join(this.oldFolder, MOVED));
    this.sync();
  }

  /** Puts the copies in place. What is there was put there by a restore that was killed. */
  placeCopies(onStep: (step: string) => void): void {
    for (const file of filesAt(this.databaseFile)) rmSync(file);
    for (const { name, pathAt } of REPLACED) {
      const copy = join(this.copies, name);
      if (!existsSync(copy)) continue;
      renameSync(copy, pathAt(this.databaseFile));
      onStep(`placed ${name}`);
    }
    this.sync();
  }

  /**
   * Ends the restore: from here on the location is open to others.
   * @param nowMs epoch milliseconds, for the folder's name
   * @returns the folder of the old files; undefined when there were none
   */
  finish(nowMs: number): string | undefined {
    const replaced = replacedFolderOf(this.databaseFile, nowMs);
    renameSync(this.oldFolder, replaced);
    this.close();
    for (const name of OWN_NAMES) rmSync(join(replaced, name), { recursive: true, force: true });
    const isEmpty = readdirSync(replaced).length === 0;
    if (isEmpty) rmdirSync(replaced);
    syncPath(dirname(this.oldFolder));
    return isEmpty ? undefined : replaced;
  }

  /** Gives up before anything has changed at the location. */
  abandon(): void {
    this.close();
    const isUntouched = readdirSync(this.oldFolder).every((name) => name === LOCK || name === NEW);
    if (isUntouched) rmSync(this.oldFolder, { recursive: true });
  }

  close(): void {
    if (this.lock.open) this.lock.close();
  }

  private sync(): void {
    syncPath(this.oldFolder);
    syncPath(dirname(this.oldFolder));
  }
}

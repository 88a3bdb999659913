/**
 * Folder `registry.db.restoring` beside the database: a running restore keeps the old files and the copies
 * from the backup in this folder. While the folder exists, no process opens the registry or its keys, because
 * perhaps only one of the two files has been replaced. A rename of the folder ends the restore.
 */
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createFolder, createPrivateFolder } from '../runtime/process.ts';
import { syncPath } from '../sqlite/durable-files.ts';
import { lockPrivateFile } from '../sqlite/file-use.ts';
import {
  backupsFileOf,
  DATABASE_FILES,
  replacedFolderOf,
  restoringFolderOf,
  withSideFiles,
} from '../sqlite/registry-files.ts';
import { StorageError, unusable } from '../sqlite/sqlite-errors.ts';

/** File that the running restore has locked. */
const LOCK = '.lock';
const NEW = '.new';
/** File that exists once all old files are in the folder. Files at the location are then from a restore. */
const MOVED = '.moved';

const REPLACED = DATABASE_FILES.filter(({ outlivesRestores }) => !outlivesRestores);

/** Lists the existing files that a restore replaces, with their side files. */
export const filesAt = (databaseFile: string): string[] =>
  [
    ...REPLACED.flatMap(({ pathAt }) => withSideFiles(pathAt(databaseFile))),
    // The record of backups belongs to the replaced registry.
    backupsFileOf(databaseFile),
  ].filter((path) => existsSync(path));

/** True if a killed restore has left its folder with copies. */
export const wasInterrupted = (databaseFile: string): boolean =>
  existsSync(join(restoringFolderOf(databaseFile), NEW));

export class RestoringFolder {
  readonly copies: string;
  readonly databaseFile: string;
  readonly oldFolder: string;
  private readonly lock: NonNullable<ReturnType<typeof lockPrivateFile>>;

  /** @throws StorageError when another restore is running, or the folder cannot be created */
  constructor(databaseFile: string) {
    this.databaseFile = databaseFile;
    this.oldFolder = restoringFolderOf(databaseFile);
    this.copies = join(this.oldFolder, NEW);
    let lock: ReturnType<typeof lockPrivateFile>;
    try {
      createFolder(this.oldFolder);
      lock = lockPrivateFile(join(this.oldFolder, LOCK));
    } catch (error) {
      throw unusable(`${databaseFile} cannot be restored`, error);
    }
    if (lock === undefined)
      throw new StorageError('failed', `Another restore into ${databaseFile} is running.`);
    this.lock = lock;
  }

  /** Path of the old registry, which a killed restore may have moved. The file need not exist. */
  get oldDatabase(): string {
    const moved = join(this.oldFolder, basename(this.databaseFile));
    return existsSync(moved) || existsSync(join(this.oldFolder, MOVED)) ? moved : this.databaseFile;
  }

  /** Creates the folder of copies, or empties the folder that an interrupted restore has left. */
  prepareCopies(): void {
    rmSync(this.copies, { recursive: true, force: true });
    createPrivateFolder(this.copies);
  }

  /** Moves the old files, then creates `MOVED`. @param foreignFiles further files, of other registries */
  moveOldFiles(onStep: (step: string) => void, foreignFiles: readonly string[]): void {
    if (existsSync(join(this.oldFolder, MOVED))) return;
    for (const file of [...filesAt(this.databaseFile), ...foreignFiles]) {
      renameSync(file, join(this.oldFolder, basename(file)));
      onStep(`moved ${basename(file)}`);
    }
    this.sync();
    createPrivateFolder(join(this.oldFolder, MOVED));
    this.sync();
  }

  /** Moves the copies to the location, and replaces copies that a killed restore has placed there. */
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

  /** Ends the restore. @returns the folder of the old files; undefined if there were none */
  finish(nowMs: number): string | undefined {
    const replaced = replacedFolderOf(this.databaseFile, nowMs);
    renameSync(this.oldFolder, replaced);
    this.close();
    for (const name of [LOCK, NEW, MOVED]) rmSync(join(replaced, name), { recursive: true, force: true });
    const isEmpty = readdirSync(replaced).length === 0;
    if (isEmpty) rmdirSync(replaced);
    syncPath(dirname(this.oldFolder));
    return isEmpty ? undefined : replaced;
  }

  /** Abandons the restore, and removes the folder unless files were moved. */
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

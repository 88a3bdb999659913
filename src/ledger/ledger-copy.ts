/**
 * Copies the files of the access ledger for backups and restores (docs/ledger.md#files-and-copies). Entries
 * of different files are never merged into one file. A damaged file does not stop the copy of other files.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder } from '../runtime/process.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { beginSnapshot, closeSnapshots, copySnapshot } from '../sqlite/copy-database.ts';
import { copyPrivately, type FileHash, hashFile, syncPath } from '../sqlite/durable-files.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { SIDE_SUFFIXES, sizeOf, withSideFiles } from '../sqlite/registry-files.ts';
import { faultOf, isDiskFull, StorageError } from '../sqlite/sqlite-errors.ts';
import { leaveLogMode } from '../sqlite/write-ahead-log.ts';
import { hashBatch } from './ledger-entries.ts';
import {
  createLedgerFolder,
  freeNameOf,
  LEDGER_FOLDER,
  type LedgerFile,
  listAllFiles,
  listLedgerFiles,
  placeFile,
} from './ledger-files.ts';
import { openLedgerReader } from './ledger-reader.ts';
import {
  hasBatch,
  keyIdAt,
  type LedgerPart,
  openLedgerFile,
  readLedgerFile,
  readParts,
  readRows,
} from './ledger-rows.ts';
import { adoptOldLedger, closeOpenFile, closePart } from './ledger-writer.ts';

const inBackup = ({ name }: LedgerFile): string => `${LEDGER_FOLDER}/${name}`;

/** Returns the maximum size of a copy of the ledger, in bytes. */
export const ledgerBytes = (databaseFile: string): number =>
  listAllFiles(databaseFile).reduce((sum, { path }) => sum + sizeOf(path), 0);

/**
 * Copies closed files byte by byte. The copy of the open file has all entries up to now, and is closed.
 * @returns the names for the manifest, and a sentence for each faulty file
 * @throws errors that stop the entire copy: a full disk, or the abort reason of the signal
 */
export async function copyLedger(databaseFile: string, folder: string, signal?: AbortSignal) {
  const registry = readRegistryId(databaseFile) ?? '';
  adoptOldLedger(databaseFile, registry, WAIT_MS.command);
  const files = listLedgerFiles(databaseFile);
  if (files.length > 0) createPrivateFolder(join(folder, LEDGER_FOLDER));
  const names: string[] = [];
  const faults: string[] = [];
  for (const file of files) {
    signal?.throwIfAborted();
    const target = join(folder, inBackup(file));
    try {
      if (!(await copyFile(file, target, registry, signal))) continue;
      names.push(inBackup(file));
    } catch (error) {
      if (isFull(error) || signal?.aborted === true) throw error;
      faults.push(`${file.name}: it cannot be read: ${(error as Error).message.replace(/\.?$/, '.')}`);
      // If SQLite cannot read a file, other tools may still recover some of its entries.
      if (typeof (await copyReadable(file.path, target)) !== 'string') names.push(inBackup(file));
    }
  }
  if (files.length > 0) syncPath(join(folder, LEDGER_FOLDER));
  return { names, faults };
}

export const isFull = (error: unknown): boolean =>
  isDiskFull(error) || ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');

/** @returns false for a file of another registry, which is not copied */
async function copyFile(
  { path }: LedgerFile,
  target: string,
  registry: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const db = openLedgerFile(path);
  try {
    const [part] = readParts(db);
    if (part !== undefined && ![registry, ''].includes(part.registry) && registry !== '') return false;
    if (part?.isClosed !== false && !hasLog(path)) {
      await copyPrivately(path, target, signal);
      return true;
    }
    beginSnapshot(db);
    await copySnapshot(db, target, signal);
    if (part?.isClosed === false) withDatabase(target, { waitMs: 0, secureDelete: 'FAST' }, closePart);
    syncPath(target);
    return true;
  } finally {
    closeSnapshots([{ db }]);
  }
}

const hasLog = (path: string): boolean => SIDE_SUFFIXES.some((suffix) => existsSync(path + suffix));

/**
 * @returns the hash of the copy, or the reason why the system cannot read the file
 * @throws the system's error when the disk is full
 */
export async function copyReadable(source: string, target: string): Promise<FileHash | string> {
  for (const path of withSideFiles(target)) rmSync(path, { force: true });
  try {
    return await copyPrivately(source, target);
  } catch (error) {
    if (isFull(error)) throw error;
    rmSync(target, { force: true });
    return `it cannot be read: ${(error as Error).message}.`;
  }
}

/** @param folder of a backup @returns the first fault; null if the ledger is sound or absent */
export function findLedgerFault(folder: string): string | null {
  try {
    const [fault] = openLedgerReader(join(folder, 'registry.db')).verify().faults;
    return fault ?? null;
  } catch (error) {
    return `The access ledger: ${(error as Error).message}`;
  }
}

interface ReadableFile {
  readonly path: string;
  readonly db: Connection;
  /** Each part ends before its first damaged batch. */
  readonly parts: readonly LedgerPart[];
  readonly isWhole: boolean;
}

export interface RestoredLedger {
  readonly added: number;
  /** Origins of chains that continue differently at the location and in the backup. Both versions stay. */
  readonly differing: readonly string[];
  /** Sentences on files that could not be read. */
  readonly faults: readonly string[];
}

/**
 * Adds the files of a backup to a location, except files whose entries the location already has. An added
 * file replaces a file of the location if both are sound and the added file begins with all of its entries.
 * @param copies folder with copies of the backup's files. The added files are moved out of this folder
 * @throws the system's error; after an error, the restore can be repeated
 */
export async function restoreLedger(databaseFile: string, copies: string): Promise<RestoredLedger> {
  const source = join(copies, 'registry.db');
  adoptOldLedger(source, readRegistryId(source) ?? '', 0);
  const files = listLedgerFiles(source);
  if (files.length === 0) {
    closeOpenFile(databaseFile);
    return { added: 0, differing: [], faults: [] };
  }
  const folder = createLedgerFolder(databaseFile);
  const [differing, faults] = [new Set<string>(), [] as string[]];
  let added = 0;
  let local = listLedgerFiles(databaseFile).flatMap(({ path }) => read(path));
  try {
    for (const { name, path } of files) {
      const [copy] = read(path);
      const beginning = local.find(
        (file) => copy?.isWhole && file.isWhole && file.parts.length > 0 && isCovered(file, [copy]),
      );
      const isNew = !(copy !== undefined && isCovered(copy, local)) && !(await isHere(path, databaseFile));
      if (isNew && copy?.isWhole !== true)
        faults.push(`${name} of the backup cannot be read: it was added as it is.`);
      if (isNew && copy !== undefined) {
        added += countNew(copy, local);
        const diverged = overlapping(copy, local).filter((file) => !isCovered(file, [copy]));
        for (const { origin } of diverged.flatMap(({ parts }) => parts)) differing.add(origin);
      }
      copy?.db.close();
      if (!isNew) continue;
      const target = beginning?.path ?? join(folder, freeNameOf(folder, name));
      beginning?.db.close();
      if (beginning !== undefined) leaveLogMode(target);
      syncPath(path);
      placeFile(path, target);
      local = [...local.filter((file) => file !== beginning), ...read(target)];
    }
  } finally {
    for (const { db } of local) db.close();
  }
  syncPath(folder);
  closeOpenFile(databaseFile);
  return { added, differing: [...differing], faults };
}

/** True if the location has a file with the same bytes, for example from an earlier restore. */
async function isHere(copy: string, databaseFile: string): Promise<boolean> {
  const { size } = statSync(copy);
  const candidates = listLedgerFiles(databaseFile).filter(({ path }) => statSync(path).size === size);
  if (candidates.length === 0) return false;
  const { sha256 } = await hashFile(copy);
  for (const { path } of candidates) if ((await hashFile(path)).sha256 === sha256) return true;
  return false;
}

/** @returns an empty array for an unreadable file */
function read(path: string): ReadableFile[] {
  const content = readLedgerFile(path);
  if (content instanceof StorageError) return [];
  const db = openLedgerFile(path);
  const parts = content.parts.map((part) => readSound(db, part));
  const isWhole = parts.every(({ lastHash }, i) => lastHash === content.parts[i]?.lastHash);
  // Frees the page cache, because the file stays open.
  db.raw.pragma('shrink_memory');
  return [{ path, db, parts, isWhole }];
}

function readSound(db: Connection, part: LedgerPart): LedgerPart {
  const { origin } = part;
  let [last, lastHash] = [part.first - 1, part.previousHash];
  try {
    for (const { id: first, count, hash, entries } of readRows(db, part)) {
      const header = { origin, first, count, keyId: keyIdAt(part, first) };
      if (first !== last + 1 || hash !== hashBatch(lastHash, header, entries)) break;
      [last, lastHash] = [first + count - 1, hash];
    }
  } catch (error) {
    faultOf(error);
  }
  return { ...part, last, lastHash };
}

/** Compares only the last batch of each part: the hash of this batch depends on all earlier batches. */
const isCovered = ({ parts }: ReadableFile, files: readonly ReadableFile[]): boolean =>
  parts.every(({ origin, first, last, lastHash }) =>
    files.some((file) =>
      file.parts.some(
        (part) =>
          part.origin === origin &&
          part.first <= first &&
          part.last >= last &&
          // An empty file has no batch to compare.
          (last < first || hasSound(file.db, part, last, lastHash)),
      ),
    ),
  );

function hasSound(db: Connection, part: LedgerPart, last: number, hash: string): boolean {
  try {
    return last <= part.last && hasBatch(db, part, last, hash);
  } catch (error) {
    faultOf(error);
    return false;
  }
}

const overlapping = ({ parts }: ReadableFile, files: readonly ReadableFile[]): ReadableFile[] =>
  files.filter((file) =>
    file.parts.some((part) =>
      parts.some(
        ({ origin, first, last }) => part.origin === origin && part.first <= last && first <= part.last,
      ),
    ),
  );

/** Counts the sound entries of `file` that no file in `local` has. */
function countNew(file: ReadableFile, local: readonly ReadableFile[]): number {
  const others = overlapping(file, local);
  let count = 0;
  for (const part of file.parts) {
    count += part.last - part.first + 1;
    if (others.length === 0 || part.last < part.first) continue;
    const isLocal = (last: number, hash: string) =>
      others.some(({ db, parts }) =>
        parts.some((other) => other.origin === part.origin && hasSound(db, other, last, hash)),
      );
    for (const { id, count: entries, hash } of readRows(file.db, part)) {
      const last = id + entries - 1;
      if (isLocal(last, hash)) count -= entries;
      // The part ends before its first damaged batch.
      if (last >= part.last) break;
    }
  }
  return count;
}

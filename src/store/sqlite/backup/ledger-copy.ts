/**
 * The access ledger in backups and restores: files that are copied and added, never merged
 * (docs/ledger.md#files-and-copies). Damage of one file stops neither.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder } from '../../../runtime/new-files.ts';
import type { RestoredLedger } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import { faultOf, isDiskFull } from '../engine/errors.ts';
import { withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { copyPrivately, type FileHash, syncPath } from '../files/durable-files.ts';
import { SIDE_SUFFIXES, sizeOf, withSideFiles } from '../files/registry-files.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { adoptOldLedger } from '../ledger/adopt-old-ledger.ts';
import { hashBatch } from '../ledger/batch-hash.ts';
import {
  createLedgerFolder,
  freeNameOf,
  LEDGER_FOLDER,
  type LedgerFile,
  listAllFiles,
  listLedgerFiles,
} from '../ledger/ledger-files.ts';
import { openLedgerReader } from '../ledger/ledger-reader.ts';
import {
  hasBatch,
  keyIdAt,
  type LedgerPart,
  openLedgerFile,
  readLedgerFile,
  readParts,
  readRows,
} from '../ledger/ledger-rows.ts';
import { closeOpenFile, closePart } from '../ledger/ledger-writer.ts';
import { beginSnapshot, closeSnapshots, copySnapshot, leaveLogMode } from './copy-database.ts';

const inBackup = ({ name }: LedgerFile): string => `${LEDGER_FOLDER}/${name}`;

/** Bytes that a copy takes at most. */
export const ledgerBytes = (databaseFile: string): number =>
  listAllFiles(databaseFile).reduce((sum, { path }) => sum + sizeOf(path), 0);

export interface CopiedLedger {
  /** As the manifest names them. */
  readonly names: readonly string[];
  /** What is wrong with a file, a sentence each. */
  readonly faults: string[];
}

/**
 * Copies the ledger into the folder of a backup: closed files as they are, the open one as of now and closed.
 * @throws what has ended the copy: a full disk, the reason of the signal
 */
export async function copyLedger(
  databaseFile: string,
  folder: string,
  signal?: AbortSignal,
): Promise<CopiedLedger> {
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
      // What cannot be read as a database may be read by somebody else.
      if (typeof (await copyReadable(file.path, target)) !== 'string') names.push(inBackup(file));
    }
  }
  return { names, faults };
}

/** The disk is full, as SQLite or the system says it. */
export const isFull = (error: unknown): boolean =>
  isDiskFull(error) || ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');

/** @returns false for a file of another registry, which stays where it is */
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
    await copySnapshot({ db, bytes: 0 }, target, signal);
    if (part?.isClosed === false) withDatabase(target, { waitMs: 0, secureDelete: 'FAST' }, closePart);
    syncPath(target);
    return true;
  } finally {
    closeSnapshots([{ db }]);
  }
}

const hasLog = (path: string): boolean => SIDE_SUFFIXES.some((suffix) => existsSync(path + suffix));

/**
 * Copies a file that may be damaged.
 * @returns the fault of one that the system cannot read: nothing is left of its copy then
 * @throws when the disk is full
 */
export async function copyReadable(source: string, target: string): Promise<FileHash | string> {
  for (const left of withSideFiles(target)) rmSync(left, { force: true });
  try {
    return await copyPrivately(source, target);
  } catch (error) {
    if (isFull(error)) throw error;
    rmSync(target, { force: true });
    return `it cannot be read: ${(error as Error).message}.`;
  }
}

/** @param folder of a backup @returns the first fault of its ledger; null when it is sound, or has none */
export function findLedgerFault(folder: string): string | null {
  try {
    const [fault] = openLedgerReader(join(folder, 'registry.db')).verify().faults;
    return fault ?? null;
  } catch (error) {
    return `The access ledger: ${(error as Error).message}`;
  }
}

/** A file, and what of it stands for what others have: only batches that can be read as they were written. */
interface Readable {
  readonly path: string;
  readonly db: Connection;
  /** Each ends with its last such batch. */
  readonly parts: readonly LedgerPart[];
  readonly isWhole: boolean;
}

/**
 * Adds the files of a backup to those at a location. A file that is there stays, unless it is sound and the
 * beginning of the added one; where two have gone on apart, both stay.
 * @param copies the folder of the copies of the backup, on the disk of the location; files are taken from it
 * @throws the system's error; run again, it goes on
 */
export function restoreLedger(databaseFile: string, copies: string): RestoredLedger {
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
      const [found] = read(path);
      const beginning = local.find(
        (each) => found?.isWhole && each.isWhole && each.parts.length > 0 && isCovered(each, [found]),
      );
      const isNew = !(found !== undefined && isCovered(found, local)) && !isHere(path, databaseFile);
      if (isNew && found?.isWhole !== true)
        faults.push(`${name} of the backup cannot be read: it was added as it is.`);
      if (isNew && found !== undefined) {
        added += countNew(found, local);
        const apart = overlapping(found, local).filter((each) => !isCovered(each, [found]));
        for (const { origin } of apart.flatMap(({ parts }) => parts)) differing.add(origin);
      }
      found?.db.close();
      if (!isNew) continue;
      const target = beginning?.path ?? join(folder, freeNameOf(folder, name));
      beginning?.db.close();
      if (beginning !== undefined) leaveLogMode(target);
      syncPath(path);
      renameSync(path, target);
      local = [...local.filter((each) => each !== beginning), ...read(target)];
    }
  } finally {
    for (const { db } of local) db.close();
  }
  syncPath(folder);
  closeOpenFile(databaseFile);
  return { added, differing: [...differing], faults };
}

/** Of a damaged file, which a spare machine restores again and again, the bytes count. */
const isHere = (copy: string, databaseFile: string): boolean =>
  listLedgerFiles(databaseFile).some(
    ({ path }) =>
      statSync(path).size === statSync(copy).size && readFileSync(path).equals(readFileSync(copy)),
  );

/** Reads it to its end. Empty for a file that cannot be read at all. */
function read(path: string): Readable[] {
  const found = readLedgerFile(path);
  if (found instanceof StorageError) return [];
  const db = openLedgerFile(path);
  const parts = found.parts.map((part) => readSound(db, part));
  const isWhole = parts.every(({ lastHash }, i) => lastHash === found.parts[i]?.lastHash);
  // What was read need not stay in memory while the file is open.
  db.raw.pragma('shrink_memory');
  return [{ path, db, parts, isWhole }];
}

/** A part up to its first batch that is damaged. */
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

/** Whether others have everything of it: the hash of a batch commits to all before it. */
const isCovered = ({ parts }: Readable, others: readonly Readable[]): boolean =>
  parts.every(({ origin, first, last, lastHash }) =>
    others.some((other) =>
      other.parts.some(
        (same) =>
          same.origin === origin &&
          same.first <= first &&
          same.last >= last &&
          // A file without entries is named by the one that follows it.
          (last < first || has(other, same, last, lastHash)),
      ),
    ),
  );

function has({ db }: Readable, part: LedgerPart, last: number, hash: string): boolean {
  try {
    return last <= part.last && hasBatch(db, part, last, hash);
  } catch (error) {
    faultOf(error);
    return false;
  }
}

const overlapping = ({ parts }: Readable, others: readonly Readable[]): Readable[] =>
  others.filter((other) =>
    other.parts.some((same) =>
      parts.some(
        ({ origin, first, last }) => same.origin === origin && same.first <= last && first <= same.last,
      ),
    ),
  );

function countNew(found: Readable, local: readonly Readable[]): number {
  const others = overlapping(found, local);
  let count = 0;
  for (const part of found.parts) {
    count += part.last - part.first + 1;
    if (others.length === 0 || part.last < part.first) continue;
    for (const { id, count: entries, hash } of readRows(found.db, part)) {
      const last = id + entries - 1;
      if (
        others.some((other) =>
          other.parts.some((same) => same.origin === part.origin && has(other, same, last, hash)),
        )
      )
        count -= entries;
      // What follows is damaged.
      if (last >= part.last) break;
    }
  }
  return count;
}

/**
 * The access ledger in backups and restores: files that are copied and added, never merged
 * (docs/ledger.md#files-and-copies). Damage of one file stops neither.
 */
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder } from '../../../runtime/new-files.ts';
import type { RestoredLedger } from '../../contract/backup.ts';
import type { Connection } from '../engine/connection.ts';
import { isDiskFull, toStorageError } from '../engine/errors.ts';
import { withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { copyPrivately, syncPath } from '../files/durable-files.ts';
import { SIDE_SUFFIXES } from '../files/registry-files.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { adoptOldLedger } from '../ledger/adopt-old-ledger.ts';
import {
  createLedgerFolder,
  freeNameOf,
  LEDGER_FOLDER,
  type LedgerFile,
  listAllFiles,
  listLedgerFiles,
} from '../ledger/ledger-files.ts';
import { openLedgerReader } from '../ledger/ledger-reader.ts';
import { hasBatch, type LedgerPart, openLedgerFile, readParts, readRows } from '../ledger/ledger-rows.ts';
import { closeOpenFile, closePart } from '../ledger/ledger-writer.ts';
import { beginSnapshot, closeSnapshots, copySnapshot, leaveLogMode } from './copy-database.ts';

const inBackup = ({ name }: LedgerFile): string => `${LEDGER_FOLDER}/${name}`;

/** Bytes that a copy takes at most. */
export const ledgerBytes = (databaseFile: string): number =>
  listAllFiles(databaseFile).reduce(
    (sum, { path }) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

export interface CopiedLedger {
  /** As the manifest names them. */
  readonly names: readonly string[];
  /** What is wrong with a file, a sentence each. */
  readonly faults: readonly string[];
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
      if (await copyBytes(file.path, target)) names.push(inBackup(file));
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

/** What cannot be read as a database may be read by somebody else. @returns whether there is a copy */
async function copyBytes(path: string, target: string): Promise<boolean> {
  if (existsSync(target)) return false;
  try {
    await copyPrivately(path, target);
    return true;
  } catch (error) {
    if (isFull(error)) throw error;
    return false;
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

interface Readable {
  readonly path: string;
  readonly db: Connection;
  readonly parts: readonly LedgerPart[];
}

/**
 * Adds the files of a backup to those at a location. A file that is there stays, unless it is the beginning
 * of the added one; where two have gone on apart, both stay.
 * @param copies the folder of the copies of the backup, on the disk of the location; files are taken from it
 * @throws the system's error; run again, it goes on
 */
export function restoreLedger(databaseFile: string, copies: string): RestoredLedger {
  const source = join(copies, 'registry.db');
  adoptOldLedger(source, readRegistryId(source) ?? '', 0);
  if (listLedgerFiles(source).length === 0) {
    closeOpenFile(databaseFile);
    return { added: 0, differing: [], faults: [] };
  }
  const folder = createLedgerFolder(databaseFile);
  const [differing, faults] = [new Set<string>(), [] as string[]];
  let added = 0;
  for (const copy of listLedgerFiles(source)) {
    const local = listLedgerFiles(databaseFile).flatMap(({ path }) => read(path));
    const [found] = read(copy.path);
    try {
      if (found === undefined) {
        faults.push(`${copy.name} of the backup cannot be read: it was added as it is.`);
        place(copy.path, join(folder, freeNameOf(folder, copy.name)));
      } else if (!isCovered(found, local)) {
        added += countNew(found, local);
        const beginning = local.find((each) => each.parts.length > 0 && isCovered(each, [found]));
        const apart = overlapping(found, local).filter(({ path }) => path !== beginning?.path);
        if (beginning === undefined)
          for (const { origin } of apart.flatMap(({ parts }) => parts)) differing.add(origin);
        const target = beginning?.path ?? join(folder, freeNameOf(folder, copy.name));
        for (const { db } of [found, ...local]) db.close();
        if (beginning !== undefined) leaveLogMode(target);
        place(copy.path, target);
      }
    } finally {
      for (const { db } of [...(found === undefined ? [] : [found]), ...local]) db.close();
    }
  }
  syncPath(folder);
  closeOpenFile(databaseFile);
  return { added, differing: [...differing], faults };
}

function place(copy: string, target: string): void {
  syncPath(copy);
  renameSync(copy, target);
}

/** Empty for a file that cannot be read. */
function read(path: string): Readable[] {
  try {
    const db = openLedgerFile(path);
    try {
      return [{ path, db, parts: readParts(db) }];
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    if (toStorageError(error) === undefined) throw error;
    return [];
  }
}

/** Whether others have all its entries: the hash of a batch commits to all before it. */
const isCovered = ({ parts }: Readable, others: readonly Readable[]): boolean =>
  parts.every((part) =>
    others.some((other) =>
      other.parts.some(
        (same) =>
          same.origin === part.origin &&
          same.first <= part.first &&
          same.last >= part.last &&
          // A file without entries is named by the one that follows it.
          (part.last < part.first || hasBatch(other.db, same, part.last, part.lastHash)),
      ),
    ),
  );

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
  for (const part of found.parts)
    if (others.length === 0) count += part.last - part.first + 1;
    else
      for (const { id, count: entries, hash } of readRows(found.db, part))
        if (
          !others.some((other) =>
            other.parts.some(
              (same) => same.origin === part.origin && hasBatch(other.db, same, id + entries - 1, hash),
            ),
          )
        )
          count += entries;
  return count;
}

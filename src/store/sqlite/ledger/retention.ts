/**
 * Retention: entire files go, the oldest first (docs/ledger.md#retention). A file goes by itself when it is
 * old and as many later months have files as are kept: a clock that is wrong adds a file or two, and so it
 * removes no more than as many.
 */
import { rmSync } from 'node:fs';
import type { OldLedgerFiles, RemovedLedgerFiles, Retention } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { toStorageError } from '../engine/errors.ts';
import { syncPath } from '../files/durable-files.ts';
import { keysFileOf, ledgerFolderOf, withSideFiles } from '../files/registry-files.ts';
import { type LedgerFile, listLedgerFiles } from './ledger-files.ts';
import { type LedgerPart, openLedgerFile, readParts } from './ledger-rows.ts';
import { destroyMonthKeys } from './month-keys.ts';

/** A file with its parts; undefined for one that cannot be read. */
export interface ReadFile {
  readonly file: LedgerFile;
  readonly parts: readonly LedgerPart[] | undefined;
}

const DAY_MS = 24 * 3600 * 1000;
const MONTH_DAYS = 365.25 / 12;

/** So many months make the days, at least one. */
const monthsOf = (days: number): number => Math.max(1, Math.round(days / MONTH_DAYS));

export const readFiles = (databaseFile: string): ReadFile[] =>
  listLedgerFiles(databaseFile).map((file) => ({ file, parts: readPartsOf(file) }));

function readPartsOf(file: LedgerFile): LedgerPart[] | undefined {
  try {
    const db = openLedgerFile(file.path);
    try {
      return readParts(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (toStorageError(error) === undefined) throw error;
    return undefined;
  }
}

/** @param files in their order */
export function findOldFiles(
  files: readonly ReadFile[],
  { nowMs, days, named = [] }: Retention,
): OldLedgerFiles {
  const beforeMs = nowMs - days * DAY_MS;
  const removable: string[] = [];
  const waiting: string[] = [];
  const lastMs = files.map(({ file, parts }) => lastMsOf(file, parts));
  // The clock was ahead for a file that ends in the future: it was written before those that follow it.
  const ages = lastMs.map((ms, i) => (ms <= nowMs ? ms : Math.min(...lastMs.slice(i))));
  for (const [i, { file }] of files.slice(0, -1).entries()) {
    if ((ages[i] as number) >= beforeMs) break;
    const later = new Set(files.slice(i + 1).map((each) => each.file.month));
    later.delete(file.month);
    if (later.size >= monthsOf(days) || named.includes(file.name)) removable.push(file.name);
    else waiting.push(file.name);
  }
  return { removable, waiting };
}

function lastMsOf({ month }: LedgerFile, parts: readonly LedgerPart[] | undefined): number {
  const known = (parts ?? []).map((part) => part.lastMs).filter((ms) => ms !== null);
  if (known.length > 0) return Math.max(...known);
  // The end of the month in its name.
  const [year = 1970, number = 1] = month.split('-').map(Number);
  return Date.UTC(year, number);
}

/**
 * Removes them, and the keys that no other file needs. The caller has the lock of the ledger.
 * @param open gives the open file, which names what was removed
 * @throws StorageError, the driver's or the system's error
 */
export function removeOldFiles(
  databaseFile: string,
  retention: Retention,
  open: () => Connection,
): RemovedLedgerFiles {
  const files = readFiles(databaseFile);
  const { removable } = findOldFiles(files, retention);
  if (removable.length === 0) return { names: [], entries: 0 };
  const removed = files.filter(({ file }) => removable.includes(file.name));
  const db = open();
  const counted = removed.map(({ file, parts = [] }) => ({
    name: file.name,
    entries: parts.reduce((sum, { first, last }) => sum + last - first + 1, 0),
  }));
  db.transaction.immediate(() => {
    for (const { name, entries } of counted)
      db.run('INSERT OR REPLACE INTO ledger_removed VALUES (?, ?, ?)', [name, entries, retention.nowMs]);
  });
  for (const { file } of removed) for (const path of withSideFiles(file.path)) rmSync(path, { force: true });
  syncPath(ledgerFolderOf(databaseFile));
  destroyMonthKeys(keysFileOf(databaseFile), findUnneeded(files, removed));
  return { names: removable, entries: counted.reduce((sum, { entries }) => sum + entries, 0) };
}

/** Keys of removed files that no other one needs: of a file that cannot be read, those of its month. */
function findUnneeded(files: readonly ReadFile[], removed: readonly ReadFile[]): string[] {
  const left = files.filter((file) => !removed.includes(file));
  const idsOf = (some: readonly ReadFile[]) =>
    some.flatMap(({ parts = [] }) => parts.flatMap(({ periods }) => periods));
  const needed = new Set(idsOf(left).map(({ keyId }) => keyId));
  const unread = new Set(left.filter(({ parts }) => parts === undefined).map(({ file }) => file.month));
  const unneeded = idsOf(removed).filter(({ keyId, month }) => !needed.has(keyId) && !unread.has(month));
  return [...new Set(unneeded.map(({ keyId }) => keyId))];
}

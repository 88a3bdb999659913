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
import { type LedgerPart, openLedgerFile, readParts, readRemoved } from './ledger-rows.ts';
import { destroyMonthKeys, type MonthKeyName } from './month-keys.ts';

/** A file with its parts; undefined for one that cannot be read. */
export interface ReadFile {
  readonly file: LedgerFile;
  readonly parts: readonly LedgerPart[] | undefined;
  /** Readings that were removed while it was open, and before. */
  readonly removedBefore: number;
}

const DAY_MS = 24 * 3600 * 1000;
const MONTH_DAYS = 365.25 / 12;

/** So many months make the days, at least one. */
const monthsOf = (days: number): number => Math.max(1, Math.round(days / MONTH_DAYS));

export const readFiles = (databaseFile: string): ReadFile[] =>
  listLedgerFiles(databaseFile).map((file) => ({ file, ...readFile(file) }));

function readFile(file: LedgerFile): Omit<ReadFile, 'file'> {
  try {
    const db = openLedgerFile(file.path);
    try {
      const removedBefore = readRemoved(db).reduce((sum, { entries }) => sum + entries, 0);
      return { parts: readParts(db), removedBefore };
    } finally {
      db.close();
    }
  } catch (error) {
    if (toStorageError(error) === undefined) throw error;
    return { parts: undefined, removedBefore: 0 };
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
  const counted = removed.map(({ file, parts = [], removedBefore }) => ({
    name: file.name,
    removedBefore,
    entries: parts.reduce((sum, { first, last }) => sum + last - first + 1, 0),
  }));
  db.transaction.immediate(() => {
    for (const { name, entries, removedBefore } of counted)
      db.run('INSERT OR REPLACE INTO ledger_removed VALUES (?, ?, ?)', [
        ...[name, entries + removedBefore, retention.nowMs],
      ]);
  });
  for (const { file } of removed) for (const path of withSideFiles(file.path)) rmSync(path, { force: true });
  syncPath(ledgerFolderOf(databaseFile));
  const gone = keysOf(removed);
  const needed = keysOf(files.filter((file) => !removed.includes(file)));
  destroyMonthKeys(keysFileOf(databaseFile), (key) => gone(key) && !needed(key));
  return { names: removable, entries: counted.reduce((sum, { entries }) => sum + entries, 0) };
}

/** The keys that files name; of one that cannot be read, those of the month in its name. */
function keysOf(files: readonly ReadFile[]): (key: MonthKeyName) => boolean {
  const ids = files.flatMap(({ parts = [] }) =>
    parts.flatMap(({ periods }) => periods.map((each) => each.keyId)),
  );
  const months = files.filter(({ parts }) => parts === undefined).map(({ file }) => file.month);
  return ({ id, month }) => ids.includes(id) || months.includes(month);
}

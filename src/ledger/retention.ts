/**
 * Removes entire files after the retention period, oldest first (docs/ledger.md#retention). Without an
 * operator, a file is removed only if later files cover as many months as the retention period. A wrong clock
 * adds a file or two, and therefore removes at most as many.
 */

import { rmSync } from 'node:fs';
import type { Connection } from '../sqlite/connection.ts';
import { syncPath } from '../sqlite/durable-files.ts';
import { keysFileOf, ledgerFolderOf, withSideFiles } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import { type LedgerFile, listLedgerFiles } from './ledger-files.ts';
import { type FileContent, readLedgerFile } from './ledger-rows.ts';
import { destroyMonthKeys, type MonthKey } from './month-keys.ts';

export interface Retention {
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Minimum number of days to keep accesses. */
  readonly days: number;
  /** Names of files that an operator inspected, to remove even if later months are missing. */
  readonly inspectedNames?: readonly string[];
}

/** A ledger file; `content` is undefined if the file cannot be read. */
interface ReadFile extends LedgerFile {
  readonly content: FileContent | undefined;
}

const DAY_MS = 24 * 3600 * 1000;
const MONTH_DAYS = 365.25 / 12;

/** Returns the retention period in months, at least one. */
const monthsOf = (days: number): number => Math.max(1, Math.round(days / MONTH_DAYS));

const readFiles = (databaseFile: string): ReadFile[] =>
  listLedgerFiles(databaseFile).map((file) => {
    const content = readLedgerFile(file.path);
    return { ...file, content: content instanceof StorageError ? undefined : content };
  });

/**
 * Finds files past their retention. A `waiting` file needs an operator's inspection before its removal,
 * because later months are missing; a `removable` file does not.
 * @throws errors that are not caused by a single file
 */
export const findOldFiles = (databaseFile: string, retention: Retention) =>
  selectOldFiles(readFiles(databaseFile), retention);

/** @param files in order */
function selectOldFiles(files: readonly ReadFile[], { nowMs, days, inspectedNames = [] }: Retention) {
  const beforeMs = nowMs - days * DAY_MS;
  const removable: string[] = [];
  const waiting: string[] = [];
  const lastMs = files.map(lastMsOf);
  // A file that ends in the future was written while the clock was ahead. The file is older than the files
  // after it.
  const ages = lastMs.map((ms, i) => (ms <= nowMs ? ms : Math.min(...lastMs.slice(i))));
  for (const [i, { name, month }] of files.slice(0, -1).entries()) {
    if ((ages[i] as number) >= beforeMs) break;
    const laterMonths = new Set(files.slice(i + 1).map((file) => file.month));
    laterMonths.delete(month);
    if (laterMonths.size >= monthsOf(days) || inspectedNames.includes(name)) removable.push(name);
    else waiting.push(name);
  }
  return { removable, waiting };
}

function lastMsOf({ month, content }: ReadFile): number {
  const times = (content?.parts ?? []).map((part) => part.lastMs).filter((ms) => ms !== null);
  if (times.length > 0) return Math.max(...times);
  // Without a readable time, the end of the month in the file's name counts.
  const [year = 1970, number = 1] = month.split('-').map(Number);
  return Date.UTC(year, number);
}

/**
 * Removes files past their retention, and the keys that the other files do not need. The caller holds the
 * ledger's lock.
 * @param open returns a connection to the open file, which records the removals
 * @throws StorageError, the driver's or the system's error
 */
export function removeOldFiles(databaseFile: string, retention: Retention, open: () => Connection) {
  const files = readFiles(databaseFile);
  const { removable: names } = selectOldFiles(files, retention);
  if (names.length === 0) return { names, entries: 0 };
  const expired = files.filter(({ name }) => names.includes(name));
  const db = open();
  let total = 0;
  db.transaction.immediate(() => {
    for (const { name, content } of expired) {
      const entries = content?.parts.reduce((sum, { first, last }) => sum + last - first + 1, 0) ?? 0;
      const removedBefore = content?.removed.reduce((sum, { entries }) => sum + entries, 0) ?? 0;
      const row = [name, entries + removedBefore, retention.nowMs];
      db.run('INSERT OR REPLACE INTO ledger_removed VALUES (?, ?, ?)', row);
      total += entries;
    }
  });
  for (const path of expired.flatMap((file) => withSideFiles(file.path))) rmSync(path, { force: true });
  syncPath(ledgerFolderOf(databaseFile));
  const isOfExpired = keysOf(expired);
  const isNeeded = keysOf(files.filter((file) => !expired.includes(file)));
  destroyMonthKeys(keysFileOf(databaseFile), (key) => isOfExpired(key) && !isNeeded(key));
  return { names, entries: total };
}

/** Matches the keys that the files use; for an unreadable file, all keys of the month in its name. */
function keysOf(files: readonly ReadFile[]): (key: MonthKey) => boolean {
  const periods = files.flatMap(({ content }) => content?.parts.flatMap((part) => part.periods) ?? []);
  const ids = periods.map(({ keyId }) => keyId);
  const months = files.filter(({ content }) => content === undefined).map((file) => file.month);
  return ({ id, month }) => ids.includes(id) || months.includes(month);
}

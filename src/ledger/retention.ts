/**
 * Removes entire files after the retention period, oldest first (docs/ledger.md#retention). A file is
 * removed automatically only if later files cover as many months as the retention period. This limits the
 * damage of a wrong clock: a clock in the far future adds one or two months, so it removes at most two files.
 */

import { rmSync } from 'node:fs';
import type { Connection } from '../sqlite/connection.ts';
import { syncPath } from '../sqlite/durable-files.ts';
import { keysFileOf, ledgerFolderOf, withSideFiles } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import { type LedgerFile, listLedgerFiles } from './ledger-files.ts';
import { type FileContent, readLedgerFile } from './ledger-rows.ts';
import { destroyMonthKeys, type MonthKey } from './month-keys.ts';

export interface Retention {
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Accesses are stored for at least this number of days. */
  readonly days: number;
  /** Files that an operator has approved for removal although later months are missing. */
  readonly inspectedNames?: readonly string[];
}

interface ReadFile extends LedgerFile {
  /** Undefined if the file cannot be read. */
  readonly content: FileContent | undefined;
}

const DAY_MS = 24 * 3600 * 1000;
const MONTH_DAYS = 365.25 / 12;

const monthsOf = (days: number): number => Math.max(1, Math.round(days / MONTH_DAYS));

const readFiles = (databaseFile: string): ReadFile[] =>
  listLedgerFiles(databaseFile).map((file) => {
    const content = readLedgerFile(file.path);
    return { ...file, content: content instanceof StorageError ? undefined : content };
  });

/**
 * Old files that are `waiting` need an operator's approval for removal, because later months are missing.
 * @throws errors that are not caused by a single file
 */
export function findOldFiles(
  databaseFile: string,
  { nowMs, days, inspectedNames = [] }: Retention,
  files = readFiles(databaseFile),
) {
  const beforeMs = nowMs - days * DAY_MS;
  const removable: string[] = [];
  const waiting: string[] = [];
  const lastMs = files.map(lastMsOf);
  // If the last time in a file is in the future, the clock was ahead. A file is older than all later files,
  // so the earliest last time of this file and all later files is used instead.
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
  // Without a readable time, the file counts as written at the end of the month in its name.
  const [year = 1970, number = 1] = month.split('-').map(Number);
  return Date.UTC(year, number);
}

/**
 * Also destroys the month keys that no remaining file needs. The caller must have locked the ledger.
 * @param open returns a connection to the file that is open for writing, in which the removals are recorded
 * @throws StorageError, the driver's or the system's error
 */
export function removeOldFiles(databaseFile: string, retention: Retention, open: () => Connection) {
  const files = readFiles(databaseFile);
  const { removable: names } = findOldFiles(databaseFile, retention, files);
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

/** An unreadable file may use all keys of the month in its name. */
function keysOf(files: readonly ReadFile[]): (key: MonthKey) => boolean {
  const periods = files.flatMap(({ content }) => content?.parts.flatMap((part) => part.periods) ?? []);
  const ids = periods.map(({ keyId }) => keyId);
  const months = files.filter(({ content }) => content === undefined).map((file) => file.month);
  return ({ id, month }) => ids.includes(id) || months.includes(month);
}

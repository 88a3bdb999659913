/** The access ledger for commands and the desk: records accesses, reads the status, and removes old files. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import type { AccessLedger } from '../access/access-ledger.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { hasTables, withDatabase } from '../sqlite/open-database.ts';
import {
  exists,
  keysFileOf,
  ledgerFolderOf,
  sizeOf,
  webhooksFileOf,
  withSideFiles,
} from '../sqlite/registry-files.ts';
import { isBusy } from '../sqlite/sqlite-errors.ts';
import { type Message, say } from '../values/message.ts';
import { readChains } from './ledger-chains.ts';
import { encodeAccesses } from './ledger-entries.ts';
import { LEDGER_SETTINGS, type LedgerFile, listAllFiles } from './ledger-files.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { readMonthKeys } from './month-keys.ts';
import { toReceipts } from './receipts.ts';
import { reservedAccesses } from './reserve.ts';
import { findOldFiles, type Retention } from './retention.ts';
import { unrecorded } from './service-ledger.ts';

export const openCommandLedger = (databaseFile: string): AccessLedger => ({
  async record(accesses) {
    if (accesses.length === 0) return [];
    const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
    try {
      return toReceipts(writer.append(encodeAccesses(accesses)), accesses.length);
    } catch (error) {
      throw unrecorded(error);
    } finally {
      writer.close();
    }
  },
  isRecording: () => true,
  close: () => Promise.resolve(),
});

/** @throws StorageError, the driver's error */
export function pruneLedger(databaseFile: string, retention: Retention) {
  const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
  try {
    return writer.removeOld(retention);
  } finally {
    writer.close();
  }
}

export type LedgerStatus = NonNullable<ReturnType<typeof readLedgerStatus>>;

/**
 * Does not read entries. Takes a second longer if another process has locked the file.
 * @returns undefined if there is no ledger yet
 */
export function readLedgerStatus(databaseFile: string, retention: Retention) {
  const files = listAllFiles(databaseFile);
  const newest = files.at(-1);
  if (newest === undefined) return undefined;
  const { parts, unreadable, missing, removals } = readChains(databaseFile);
  const times = parts.map(({ part }) => part.lastMs).filter((ms) => ms !== null);
  const bytes = files.flatMap(({ path }) => withSideFiles(path)).reduce((sum, path) => sum + sizeOf(path), 0);
  const isOpen = parts.some(({ file, part }) => file.name === newest.name && !part.isClosed);
  return {
    chains: new Set(parts.map(({ chain }) => chain)).size,
    files: files.length,
    entries: parts.reduce((sum, { part }) => sum + part.last - part.first + 1, 0),
    bytes,
    unreadable: unreadable.map(({ name }) => name),
    missing,
    /** Files that need an operator's approval for removal. */
    tooOld: findOldFiles(databaseFile, retention).waiting,
    newestMs: times.length === 0 ? null : Math.max(...times),
    /** Entries that retention has removed. */
    removed: removals.entries,
    removedAtMs: removals.atMs,
    ...readNewest(newest, ledgerFolderOf(databaseFile), isOpen),
  };
}

/** Permission bits of the group and of others. */
const OTHERS = 0o077;
/** Maximum wait for the lock. A batch takes milliseconds, so a longer wait shows that the disk hangs. */
const ANSWER_MS = 1_000;

interface NewestFileStatus {
  readonly fault: 'open to others' | 'not writable' | 'does not answer' | null;
  /** Approximate number of accesses that can still be recorded once the disk is full. */
  readonly reservedAccesses: number;
}

function readNewest({ path }: LedgerFile, folder: string, isOpen: boolean): NewestFileStatus {
  const paths = [path, folder].filter((each) => existsSync(each));
  if (!paths.every(isWritable)) return { fault: 'not writable', reservedAccesses: 0 };
  const fault = paths.some((each) => (statSync(each).mode & OTHERS) !== 0) ? 'open to others' : null;
  if (!isOpen) return { fault, reservedAccesses: 0 };
  try {
    return withDatabase(path, { waitMs: ANSWER_MS, ...LEDGER_SETTINGS }, (db) => ({
      fault: fault ?? (answers(db) ? null : 'does not answer'),
      reservedAccesses: reservedAccesses(db),
    }));
  } catch (error) {
    // Opening also waits for the lock. A damaged file is already in `unreadable`.
    return { fault: isBusy((error as Error).cause) ? 'does not answer' : fault, reservedAccesses: 0 };
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** True if the write lock is available within `ANSWER_MS`. */
function answers(db: Connection): boolean {
  try {
    db.transaction.immediate(() => undefined);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** Returns the file of keys if it lacks a month key of the ledger, or is missing although webhooks exist. */
export function findLostKeys(databaseFile: string): string | undefined {
  const keysFile = keysFileOf(databaseFile);
  const intactKeys = readMonthKeys(keysFile);
  const isLost =
    (!exists(keysFile) && hasTables(webhooksFileOf(databaseFile))) ||
    readChains(databaseFile).parts.some(({ part }) =>
      part.periods.some(({ keyId }) => !intactKeys.has(keyId)),
    );
  return isLost ? keysFile : undefined;
}

export const lostKeys = (file: string): Message =>
  say('Keys that were in use are missing: {file} was lost or created again. An older backup may have them.', {
    file,
  });

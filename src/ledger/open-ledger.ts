/** The access ledger for commands and the desk: recording, status, and removal of old files. */

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
import { encodeAccesses, unrecorded } from './ledger-entries.ts';
import { LEDGER_SETTINGS, type LedgerFile, listAllFiles } from './ledger-files.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { readMonthKeys } from './month-keys.ts';
import { toReceipts } from './receipts.ts';
import { reservedAccesses } from './reserve.ts';
import { findOldFiles, type Retention } from './retention.ts';

/** Opens the ledger for a command or the desk; `record` opens the file each time, and rejects on failure. */
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

/** Removes files past their retention. @throws StorageError, the driver's error */
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
 * Reads the ledger's state for `status`, without reading entries. A locked file delays this by about a
 * second.
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
    /** Names of missing files that later files mention. */
    missing,
    /** Names of files that are past retention, but stay because later months are missing. */
    tooOld: findOldFiles(databaseFile, retention).waiting,
    /** Time of the last access, in epoch milliseconds; null if there is none. */
    newestMs: times.length === 0 ? null : Math.max(...times),
    /** Number of accesses that retention removed; `removedAtMs`: last removal, in epoch milliseconds. */
    removed: removals.entries,
    removedAtMs: removals.atMs,
    ...readNewest(newest, ledgerFolderOf(databaseFile), isOpen),
  };
}

/** Permission bits of users other than the owner. */
const OTHERS = 0o077;
/** Maximum wait for the lock. A batch takes milliseconds, so a longer wait means that the disk hangs. */
const ANSWER_MS = 1_000;

interface NewestFileStatus {
  /** Null if the file has no fault. */
  readonly fault: 'open to others' | 'not writable' | 'does not answer' | null;
  /** Approximate number of accesses that fit when the disk is full. */
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
    // Opening also waits for the lock. A damaged file is already listed as unreadable.
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

/** True if the write lock is available. */
function answers(db: Connection): boolean {
  try {
    db.transaction.immediate(() => undefined);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** Returns the path of the keys' file if that file was lost, or created again without keys in use. */
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

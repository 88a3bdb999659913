/** Opens the access ledger of a storage location: for a service, for commands and for reading. */

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
import type { Storage } from '../sqlite/storage.ts';
import { type Message, say } from '../values/message.ts';
import { toReceipts, unrecorded } from './batch-hash.ts';
import { type ChainPart, readChains } from './ledger-chains.ts';
import { LEDGER_SETTINGS, type LedgerFile, listAllFiles } from './ledger-files.ts';
import { type LedgerReader, openLedgerReaderAt } from './ledger-reader.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { readMonthKeys } from './month-keys.ts';
import { encodeAccesses } from './reading-text.ts';
import { reservedAccesses } from './reserve.ts';
import {
  findOldFiles,
  type OldLedgerFiles,
  type RemovedLedgerFiles,
  type Retention,
  readFiles,
} from './retention.ts';
import { openServiceLedger, type ServedLedgerOptions } from './service-ledger.ts';

/** Condition of the ledger, determined within a few milliseconds. */
export interface LedgerStatus {
  readonly chains: number;
  readonly files: number;
  /** Number of entries currently kept. */
  readonly entries: number;
  readonly bytes: number;
  /** Names of unreadable files. */
  readonly unreadable: readonly string[];
  /** Names of missing files, as far as later ones show. */
  readonly missing: readonly string[];
  /** Names of files past the retention period, while later months are missing. */
  readonly tooOld: readonly string[];
  /** Approximate number of readings that fit when the disk is full. */
  readonly reservedAccesses: number;
  /** Epoch milliseconds; null if there is none. */
  readonly newestMs: number | null;
  /** Epoch milliseconds of the last removal by retention; `removed` is the total of removed readings. */
  readonly removedAtMs: number | null;
  readonly removed: number;
  /** Fault of the ledger; null if there is none. */
  readonly fault: 'open to others' | 'not writable' | 'does not answer' | null;
}

export const lostKeys = (file: string): Message =>
  say('Keys that were in use are gone: {file} was lost or begun anew. An older backup may have them.', {
    file,
  });

/** Writing a batch takes milliseconds; a lock held for this long means that its holder waits for the disk. */
const ANSWER_MS = 1_000;

/**
 * Reads the ledger's condition for `status`, within milliseconds.
 * @returns undefined if there is no ledger yet
 */
export function readLedgerStatusAt(
  databaseFile: string,
  { nowMs, days }: Retention,
): LedgerStatus | undefined {
  const files = listAllFiles(databaseFile);
  const open = files.at(-1);
  if (open === undefined) return undefined;
  const { parts, unreadable, missing, removals } = readChains(databaseFile);
  const times = parts.map(({ part }) => part.lastMs).filter((ms) => ms !== null);
  const bytes = files.flatMap(({ path }) => withSideFiles(path)).reduce((sum, path) => sum + sizeOf(path), 0);
  return {
    chains: new Set(parts.map(({ chain }) => chain)).size,
    files: files.length,
    entries: parts.reduce((sum, { part }) => sum + part.last - part.first + 1, 0),
    bytes,
    unreadable: unreadable.map(({ name }) => name),
    missing,
    tooOld: findOldFiles(readFiles(databaseFile), { nowMs, days }).waiting,
    newestMs: times.length === 0 ? null : Math.max(...times),
    removed: removals.entries,
    removedAtMs: removals.atMs,
    ...readOpen(open, ledgerFolderOf(databaseFile), isOpenPart(parts, open)),
  };
}

/** Returns the keys' file if keys that were in use are missing: it was lost or recreated. */
function findLostKeysAt(databaseFile: string): string | undefined {
  const keysFile = keysFileOf(databaseFile);
  const known = readMonthKeys(keysFile);
  const isLost =
    (!exists(keysFile) && hasTables(webhooksFileOf(databaseFile))) ||
    readChains(databaseFile).parts.some(({ part }) => part.periods.some(({ keyId }) => !known.has(keyId)));
  return isLost ? keysFile : undefined;
}

const isOpenPart = (parts: readonly ChainPart[], { name }: LedgerFile): boolean =>
  parts.some(({ file, part }) => file.name === name && !part.isClosed);

/** Permission bits of users other than the owner. */
const OTHERS = 0o077;

type OpenFileCondition = Pick<LedgerStatus, 'fault' | 'reservedAccesses'>;

function readOpen({ path }: LedgerFile, folder: string, isOpen: boolean): OpenFileCondition {
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
    // Opening waits for the lock too. A damaged file is already listed as unreadable.
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

/** Takes and releases the writer lock. */
function answers(db: Connection): boolean {
  try {
    db.transaction.immediate(() => undefined);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

// Ledger of commands and the desk, which open the file for each recording

/** `record` rejects with a StorageError when the ledger cannot be used. */
export const openCommandLedgerAt = (databaseFile: string): AccessLedger => ({
  async record(readings) {
    if (readings.length === 0) return [];
    const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
    try {
      return toReceipts(writer.append(encodeAccesses(readings)), readings.length);
    } catch (error) {
      throw unrecorded(error);
    } finally {
      writer.close();
    }
  },
  isRecording: () => true,
  close: () => Promise.resolve(),
});

/** @throws errors that do not concern a single file */
const findOldLedgerFilesAt = (databaseFile: string, retention: Retention): OldLedgerFiles =>
  findOldFiles(readFiles(databaseFile), retention);

/** @throws StorageError, the driver's error */
export function pruneLedgerAt(databaseFile: string, retention: Retention): RemovedLedgerFiles {
  const writer = new LedgerWriter(databaseFile, WAIT_MS.command);
  try {
    return writer.removeOld(retention);
  } finally {
    writer.close();
  }
}

/** Opens the ledger of a service, and creates what is missing. @throws StorageError */
export const serveLedger = (storage: Storage, options: ServedLedgerOptions): AccessLedger =>
  openServiceLedger(storage.readable(), options);

/** Opens the ledger of a command or the desk. Its `record` rejects if the ledger cannot be used. */
export const openCommandLedger = (storage: Storage): AccessLedger => openCommandLedgerAt(storage.readable());

/** Opens the ledger for reading; a missing one has no entries. @throws StorageError when it cannot be read */
export const openLedgerReader = (storage: Storage): LedgerReader => openLedgerReaderAt(storage.readable());

/** Returns the keys' file if keys that were in use are missing: it was lost or recreated. */
export const findLostKeys = (storage: Storage): string | undefined => findLostKeysAt(storage.complete());

export const findOldLedgerFiles = (storage: Storage, retention: Retention): OldLedgerFiles =>
  findOldLedgerFilesAt(storage.readable(), retention);

/** Removes files past their retention, and the named ones. @throws StorageError */
export const pruneLedger = (storage: Storage, retention: Retention): RemovedLedgerFiles =>
  pruneLedgerAt(storage.readable(), retention);

/** @returns undefined if there is no ledger yet */
export const readLedgerStatus = ({ location }: Storage, retention: Retention): LedgerStatus | undefined =>
  readLedgerStatusAt(location, retention);

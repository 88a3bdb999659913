/** How the access ledger is doing, in a few milliseconds: what `status` shows. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import type { LedgerCondition, Retention } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { isBusy } from '../engine/errors.ts';
import { withDatabase } from '../engine/open-database.ts';
import { exists, keysFileOf, ledgerFolderOf, sizeOf, withSideFiles } from '../files/registry-files.ts';
import { hasWebhooks } from '../webhooks/store.ts';
import { type ChainPart, readChains } from './ledger-chains.ts';
import { LEDGER_SETTINGS, type LedgerFile, listAllFiles } from './ledger-files.ts';
import { readMonthKeys } from './month-keys.ts';
import { reservedReadings } from './reserve.ts';
import { findOldFiles, readFiles } from './retention.ts';

/** A batch takes milliseconds: whoever has the lock for so long waits for the disk. */
const ANSWER_MS = 1_000;

/**
 * @param nowMs epoch milliseconds @param days for how many readings are kept
 * @returns undefined where there is no ledger yet
 */
export function readLedgerCondition(
  databaseFile: string,
  { nowMs, days }: Retention,
): LedgerCondition | undefined {
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

/** The keys' file, where keys are gone that were in use: it was lost, or begun anew. */
export function findLostKeys(databaseFile: string): string | undefined {
  const keysFile = keysFileOf(databaseFile);
  const known = readMonthKeys(keysFile);
  const isLost =
    (!exists(keysFile) && hasWebhooks(databaseFile)) ||
    readChains(databaseFile).parts.some(({ part }) => part.periods.some(({ keyId }) => !known.has(keyId)));
  return isLost ? keysFile : undefined;
}

const isOpenPart = (parts: readonly ChainPart[], { name }: LedgerFile): boolean =>
  parts.some(({ file, part }) => file.name === name && !part.isClosed);

/** Anybody but the owner who may open it. */
const OTHERS = 0o077;

type OpenFileCondition = Pick<LedgerCondition, 'fault' | 'reservedReadings'>;

function readOpen({ path }: LedgerFile, folder: string, isOpen: boolean): OpenFileCondition {
  const paths = [path, folder].filter((each) => existsSync(each));
  if (!paths.every(isWritable)) return { fault: 'not writable', reservedReadings: 0 };
  const fault = paths.some((each) => (statSync(each).mode & OTHERS) !== 0) ? 'open to others' : null;
  if (!isOpen) return { fault, reservedReadings: 0 };
  try {
    return withDatabase(path, { waitMs: ANSWER_MS, ...LEDGER_SETTINGS }, (db) => ({
      fault: fault ?? (answers(db) ? null : 'does not answer'),
      reservedReadings: reservedReadings(db),
    }));
  } catch (error) {
    // Opening it waits for a lock too; what is damaged is among the unreadable files.
    return { fault: isBusy((error as Error).cause) ? 'does not answer' : fault, reservedReadings: 0 };
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

/** Takes the lock of a writer and gives it back. */
function answers(db: Connection): boolean {
  try {
    db.transaction.immediate(() => undefined);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

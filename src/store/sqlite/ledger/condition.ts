/** How the access ledger is doing, in a few milliseconds: what `status` shows. */
import { accessSync, constants, statSync } from 'node:fs';
import type { LedgerCondition } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { isBusy } from '../engine/errors.ts';
import { hasTables, withDatabase } from '../engine/open-database.ts';
import { ledgerFileOf, withSideFiles } from '../files/registry-files.ts';
import { LEDGER_SCHEMA } from '../schema/migrations/ledger.ts';
import { endOf, listChains } from './ledger-rows.ts';

/** A batch takes milliseconds: whoever has the lock for so long waits for the disk. */
const ANSWER_MS = 1_000;

const NOTHING = { chains: 0, entries: 0, newestMs: null, removed: 0, removedAtMs: null };

/** @returns undefined where there is no ledger yet */
export function readLedgerCondition(databaseFile: string): LedgerCondition | undefined {
  const file = ledgerFileOf(databaseFile);
  if (!hasTables(file)) return undefined;
  const bytes = withSideFiles(file).reduce((sum, path) => sum + sizeOf(path), 0);
  const readOnly = !isWritable(file);
  try {
    const options = { schema: LEDGER_SCHEMA, waitMs: ANSWER_MS, readOnly };
    const fault = (statSync(file).mode & OTHERS) !== 0 ? 'open to others' : null;
    return withDatabase(file, options, (db) => ({
      ...readCounts(db),
      bytes,
      fault: readOnly ? 'not writable' : (fault ?? (answers(db) ? null : 'does not answer')),
    }));
  } catch (error) {
    // Opening it waits for a lock too.
    const isHeld = isBusy((error as Error).cause);
    return { ...NOTHING, bytes, fault: isHeld ? 'does not answer' : 'not readable' };
  }
}

/** Anybody but the owner who may open it. */
const OTHERS = 0o077;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readCounts(db: Connection) {
  const chains = listChains(db);
  const ends = chains.map((chain) => endOf(db, chain));
  const times = ends.map(({ lastMs }) => lastMs).filter((ms) => ms !== null);
  const removals = chains.map(({ removedAtMs }) => removedAtMs).filter((ms) => ms !== null);
  const removed = chains.reduce((sum, { removedThrough }) => sum + removedThrough, 0);
  return {
    chains: chains.length,
    entries: ends.reduce((sum, { next }) => sum + next - 1, 0) - removed,
    newestMs: times.length === 0 ? null : Math.max(...times),
    removed,
    removedAtMs: removals.length === 0 ? null : Math.max(...removals),
  };
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

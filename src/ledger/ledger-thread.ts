/** Thread module that writes a service's ledger, as a disk sync would block the event loop. */

import { serveTasks } from '../runtime/task-thread.ts';
import type { Recorded } from './batch-hash.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Reserve, reservedAccesses } from './reserve.ts';
import type { RemovedLedgerFiles, Retention } from './retention.ts';

export interface LedgerSetup {
  readonly databaseFile: string;
  /** Maximum wait of a batch for another process's lock, in milliseconds. */
  readonly waitMs: number;
}

/** Result of a batch: its place in the chain, with news for the service. */
export interface Appended extends Recorded {
  /** Messages for the operator, one for each replaced file. */
  readonly notes: readonly string[];
  /** Approximate number of readings that still fit once the disk is full. */
  readonly reserved: number;
}

/** Batches between two measurements of the reserve. */
const LOOK_AGAIN_BATCHES = 64;

export type LedgerTasks = {
  append(text: string): Appended;
  removeOld(retention: Retention): RemovedLedgerFiles;
};

serveTasks(({ databaseFile, waitMs }: LedgerSetup): LedgerTasks => {
  const notes: string[] = [];
  const writer = new LedgerWriter(databaseFile, waitMs, (message) => void notes.push(message));
  const reserves = new WeakMap<object, Reserve>();
  let isScheduled = false;
  let looked = { db: undefined as object | undefined, batches: 0, reserved: 0 };

  /** Takes one step of the reserve after the batches that are queued. */
  function keepReserve(): void {
    const { connection: db } = writer;
    if (db === undefined || isScheduled) return;
    const reserve = reserves.get(db) ?? new Reserve(db);
    reserves.set(db, reserve);
    if (!reserve.isShort()) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (writer.connection !== db) return;
      try {
        reserve.take();
        looked = { db: undefined, batches: 0, reserved: 0 };
      } catch {
        // The next batch reports the fault of the file.
        return;
      }
      if (reserve.goesOn) keepReserve();
    });
  }

  function countReserved(): number {
    const { connection: db } = writer;
    if (db !== undefined && (looked.db !== db || ++looked.batches > LOOK_AGAIN_BATCHES)) {
      looked = { db, batches: 0, reserved: reservedAccesses(db) };
      reserves.get(db)?.lookAgain();
    }
    return looked.reserved;
  }

  return {
    append: (text) => {
      const recorded = writer.append(text);
      keepReserve();
      return { ...recorded, notes: notes.splice(0), reserved: countReserved() };
    },
    removeOld: (retention) => writer.removeOld(retention),
  };
}, true);

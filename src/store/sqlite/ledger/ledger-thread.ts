/** The module of the thread that writes the ledger of a service: a sync would stop the event loop. */
import { serveTasks } from '../../../runtime/task-thread.ts';
import type { RemovedLedgerFiles, Retention } from '../../contract/access-ledger.ts';
import type { Recorded } from './batch-hash.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Reserve, reservedReadings } from './reserve.ts';

/** As the thread starts. */
export interface LedgerSetup {
  readonly databaseFile: string;
  /** For how long a batch may wait for another process's lock, in milliseconds. */
  readonly waitMs: number;
}

/** What a batch gives back besides its place. */
export interface Appended extends Recorded {
  /** For the operator: a file that was replaced, a line each. */
  readonly notes: readonly string[];
  /** How many readings fit when the disk is full, about. */
  readonly reserved: number;
}

/** Batches between two looks at the reserve, while it changes by them only. */
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

  /** A step of the reserve after the batches that wait. */
  function keepReserve(): void {
    const { connection: db } = writer;
    if (db === undefined || isScheduled) return;
    const reserve = reserves.get(db) ?? new Reserve();
    reserves.set(db, reserve);
    if (!reserve.isShort(db)) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (writer.connection !== db) return;
      try {
        reserve.take(db);
        looked = { db: undefined, batches: 0, reserved: 0 };
      } catch {
        // The next batch says what is wrong with the file.
        return;
      }
      if (reserve.goesOn) keepReserve();
    });
  }

  function countReserved(): number {
    const { connection: db } = writer;
    if (db !== undefined && (looked.db !== db || ++looked.batches > LOOK_AGAIN_BATCHES)) {
      looked = { db, batches: 0, reserved: reservedReadings(db) };
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

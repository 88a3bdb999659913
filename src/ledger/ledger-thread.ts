/** Thread module that writes a service's ledger, as a disk sync would block the event loop. */

import { serveTasks } from '../runtime/task-thread.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { RecordedBatch } from './ledger-entries.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Reserve, reservedAccesses } from './reserve.ts';
import type { Retention } from './retention.ts';

/** Result of a batch: its place in the chain, with news for the service. */
export interface Appended extends RecordedBatch {
  /** Messages for the operator, one for each replaced file. */
  readonly notes: readonly string[];
  /** Approximate number of accesses that still fit once the disk is full. */
  readonly reserved: number;
}

/** Batches between two measurements of the reserve. */
const LOOK_AGAIN_BATCHES = 64;

export type LedgerTasks = {
  append(text: string): Appended;
  removeOld(retention: Retention): ReturnType<LedgerWriter['removeOld']>;
};

interface Setup {
  readonly databaseFile: string;
  /** Maximum wait of a batch for another process's lock, in milliseconds. */
  readonly waitMs: number;
}

serveTasks(({ databaseFile, waitMs }: Setup): LedgerTasks => {
  const notes: string[] = [];
  const writer = new LedgerWriter(databaseFile, waitMs, (message) => void notes.push(message));
  let reserve: Reserve | undefined;
  let isScheduled = false;
  /** Batches since the reserve was measured, and the accesses that it had room for. */
  let [batches, reserved] = [LOOK_AGAIN_BATCHES, 0];

  /** Adds a step to the reserve, after the batches that are queued. */
  function keep(current: Reserve): void {
    if (isScheduled || !current.isShort()) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (writer.connection !== current.db) return;
      try {
        current.take();
      } catch {
        // The next batch reports the fault of the file.
        return;
      }
      batches = LOOK_AGAIN_BATCHES;
      if (current.hasRoom) keep(current);
    });
  }

  function keepReserve(db: Connection): void {
    if (reserve?.db !== db) [reserve, batches] = [new Reserve(db), LOOK_AGAIN_BATCHES];
    keep(reserve);
    if (++batches <= LOOK_AGAIN_BATCHES) return;
    [batches, reserved] = [0, reservedAccesses(db)];
    reserve.lookAgain();
  }

  return {
    append(text) {
      const batch = writer.append(text);
      if (writer.connection !== undefined) keepReserve(writer.connection);
      return { ...batch, notes: notes.splice(0), reserved };
    },
    removeOld: (retention) => writer.removeOld(retention),
  };
}, true);

/** Writes a service's ledger in a thread, since a disk sync would block the event loop. */

import { serveTasks } from '../runtime/task-thread.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { RecordedBatch } from './ledger-entries.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { Reserve, reservedAccesses } from './reserve.ts';
import type { Retention } from './retention.ts';

export interface Appended extends RecordedBatch {
  /** Messages for the operator, one for each new file that replaces damaged or missing files. */
  readonly notes: readonly string[];
  /** Approximate number of accesses that can still be recorded once the disk is full. */
  readonly reserved: number;
}

/** Batches between two measurements of the reserve. */
const LOOK_AGAIN_BATCHES = 64;

export type LedgerTasks = {
  append(text: string): Appended;
  removeOld(retention: Retention): ReturnType<LedgerWriter['removeOld']>;
};

type Setup = { readonly databaseFile: string; readonly waitMs: number };

serveTasks(({ databaseFile, waitMs }: Setup): LedgerTasks => {
  const notes: string[] = [];
  const writer = new LedgerWriter(databaseFile, waitMs, (message) => void notes.push(message));
  let reserve: Reserve | undefined;
  let isScheduled = false;
  /** Batches since the last measurement of the reserve, and the measured number of accesses. */
  let [batches, reserved] = [LOOK_AGAIN_BATCHES, 0];

  /** Adds steps to the reserve one by one, each when no batches are queued. */
  function keep(current: Reserve): void {
    if (isScheduled || !current.isShort()) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (writer.connection !== current.db) return;
      try {
        current.take();
      } catch {
        // The next batch fails with the same error and reports it.
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

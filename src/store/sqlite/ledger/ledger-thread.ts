/** The module of the thread that writes the ledger of a service: a sync would stop the event loop. */
import { serveTasks } from '../../../runtime/task-thread.ts';
import { LedgerWriter, type Recorded } from './ledger-writer.ts';
import type { RemovalTimes } from './remove-old.ts';

/** As the thread starts. */
export interface LedgerSetup {
  readonly databaseFile: string;
  /** For how long a batch may wait for another process's lock, in milliseconds. */
  readonly waitMs: number;
}

export type LedgerTasks = {
  append(text: string): Recorded;
  removeOld(times: RemovalTimes): number;
};

serveTasks(({ databaseFile, waitMs }: LedgerSetup): LedgerTasks => {
  const writer = new LedgerWriter(databaseFile, waitMs);
  return { append: (text) => writer.append([text]), removeOld: (times) => writer.removeOld(times) };
}, true);

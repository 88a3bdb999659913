/** Statistics of an open registry, from a thread, and those of a command. */
import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import type { CountryStatistics } from '../../../domain/statistics.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { moduleBeside, TaskThread } from '../../../runtime/task-thread.ts';
import type { CommandStatistics, StatisticsStore } from '../../ports/statistics.ts';
import { openForStatistics } from './open.ts';
import { openStatisticsReader } from './reader.ts';
import type { StatisticsTasks } from './statistics-thread.ts';

/** Those that may wait for each other: each takes milliseconds, the first of the country many turns. */
const MAX_WAITING = 64;

export interface SqliteStatistics {
  narrowedTo(visible: Visible): StatisticsStore;
  close(): Promise<void>;
}

/** The thread starts with the first statistics that somebody asks for. */
export function openStatistics(file: string, zone: TimeZone): SqliteStatistics {
  const module = moduleBeside(import.meta.url, 'statistics-thread');
  const thread = new TaskThread<StatisticsTasks>({ module, setup: { file, zone }, maxWaiting: MAX_WAITING });
  return {
    narrowedTo: (visible) => ({
      ofCooperative: (id, now) =>
        isVisible(visible, id) ? thread.run('cooperative', { id, now }) : undefined,
      ofCountry: (now) => untilDone(() => thread.run('country', { visible, now })),
    }),
    close: () => thread.close(),
  };
}

/** @throws StorageError `unusable` when there is no registry of this release */
export function openCommandStatistics(file: string, zone: TimeZone): CommandStatistics {
  const db = openForStatistics(file);
  const reader = openStatisticsReader(db, zone);
  return {
    findCooperative: (code) => db.row('SELECT id, code, name FROM cooperatives WHERE code = ?', [code]),
    ofCooperative: reader.ofCooperative,
    ofCountry: (now) => untilDone(async () => reader.ofCountry(null, now)),
    close: () => db.close(),
  };
}

/** One turn after the other, so that others come in between. */
async function untilDone(turn: () => Promise<CountryStatistics | undefined>): Promise<CountryStatistics> {
  for (;;) {
    const done = await turn();
    if (done !== undefined) return done;
  }
}

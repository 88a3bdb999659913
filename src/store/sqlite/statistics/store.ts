/** Statistics of an open registry and of a command. */
import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { moduleBeside, TaskThread } from '../../../runtime/task-thread.ts';
import type { CommandStatistics, StatisticsStore } from '../../contract/registry.ts';
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';
import { openForStatistics } from './open.ts';
import { openStatisticsReader } from './reader.ts';
import type { StatisticsTasks } from './statistics-thread.ts';
import { hasTotals, OTHER_TOTALS } from './stored-totals.ts';

/** Those of several cooperatives that may wait for each other. */
const MAX_WAITING = 64;

export interface SqliteStatistics {
  narrowedTo(visible: Visible): StatisticsStore;
  close(): Promise<void>;
}

/**
 * A cooperative has few totals. Those of thousands are added up in a thread, which starts with the first such
 * request.
 */
export function openStatistics(
  db: Connection,
  snapshot: ReadSnapshot,
  setup: { readonly file: string; readonly zone: TimeZone },
): SqliteStatistics {
  const reader = openStatisticsReader(db, setup.zone);
  const module = moduleBeside(import.meta.url, 'statistics-thread');
  const thread = new TaskThread<StatisticsTasks>({ module, setup, maxWaiting: MAX_WAITING });
  return {
    narrowedTo: (visible) => ({
      ofCooperative: (id, now) =>
        isVisible(visible, id) ? snapshot.read(() => reader.ofCooperative(id, now)) : undefined,
      ofCountry: (now, district) => thread.run('country', { visible, now, district }),
    }),
    close: () => thread.close(),
  };
}

/** @throws StorageError `unusable` when there is no registry of this release, or its totals are of another */
export function openCommandStatistics(file: string, zone: TimeZone): CommandStatistics {
  const db = openForStatistics(file);
  if (!hasTotals(db, zone)) {
    db.close();
    throw new StorageError('unusable', OTHER_TOTALS);
  }
  const reader = openStatisticsReader(db, zone);
  return {
    findCooperative: (code) => db.row('SELECT id, code, name FROM cooperatives WHERE code = ?', [code]),
    ofCooperative: (id, now) => db.transaction.deferred(() => reader.ofCooperative(id, now)),
    ofCountry: (now, district) => db.transaction.deferred(() => reader.ofCountry(null, now, district)),
    close: () => db.close(),
  };
}

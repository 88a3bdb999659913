/** Statistics of an open registry and of a command. */

import { isVisible, type Visible } from '../access/api-keys.ts';
import type { CooperativeSummary } from '../registry/cooperatives.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { ReadSnapshot } from '../sqlite/group-commit.ts';
import type { Storage } from '../sqlite/storage.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { Awaitable } from '../values/errors.ts';
import type { CountryStatistics, Statistics } from './statistics.ts';
import type { StatisticsTasks } from './statistics-thread.ts';
import { hasTotals, OTHER_TOTALS, openForStatistics } from './stored-totals.ts';
import { openStatisticsReader } from './sum-totals.ts';

/** Sums over cooperatives, from one snapshot. */
export interface StatisticsStore {
  /**
   * @param now epoch seconds
   * @returns undefined for an unknown cooperative
   */
  ofCooperative(id: number, now: number): Statistics | undefined;
  /** Sums of all visible cooperatives, or of those in a district (case-insensitive). */
  ofCountry(now: number, district?: string): Awaitable<CountryStatistics>;
}

export interface CommandStatistics extends StatisticsStore {
  findCooperative(code: string): CooperativeSummary | undefined;
  close(): void;
}

/** Limit of queued requests for several cooperatives. */
const MAX_WAITING = 64;

interface SqliteStatistics {
  narrowedTo(visible: Visible): StatisticsStore;
  close(): Promise<void>;
}

/**
 * The few totals of one cooperative are summed here. Those of thousands are summed in a thread, which starts
 * with the first such request.
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

/** @throws StorageError `unusable` if there is no registry of this release, or its totals are of another */
function openCommandStatistics(file: string, zone: TimeZone): CommandStatistics {
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

/** @throws StorageError `unusable` if there is no registry of this release */
export const openStatisticsOf = (storage: Storage): CommandStatistics =>
  openCommandStatistics(storage.readable(), storage.zone);

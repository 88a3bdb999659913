/** The thread that adds up the totals of many cooperatives, with a connection of its own that only reads. */
import type { Visible } from '../../../domain/access/visible.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { serveTasks } from '../../../runtime/task-thread.ts';
import { openForStatistics } from './open.ts';
import { openStatisticsReader } from './reader.ts';

export interface StatisticsSetup {
  readonly file: string;
  readonly zone: TimeZone;
}

interface Country {
  readonly visible: Visible;
  readonly now: number;
  readonly district: string | undefined;
}

function openTasks({ file, zone }: StatisticsSetup) {
  const db = openForStatistics(file);
  const reader = openStatisticsReader(db, zone);
  return {
    country: ({ visible, now, district }: Country) =>
      db.transaction.deferred(() => reader.ofCountry(visible, now, district)),
  };
}
export type StatisticsTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);

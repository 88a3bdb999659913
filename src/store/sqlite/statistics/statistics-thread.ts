/** The thread that computes statistics, with a connection of its own that only reads. */
import type { Visible } from '../../../domain/access/visible.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { serveTasks } from '../../../runtime/task-thread.ts';
import { openForStatistics } from './open.ts';
import { openStatisticsReader } from './reader.ts';

export interface StatisticsSetup {
  readonly file: string;
  readonly zone: TimeZone;
}

function openTasks({ file, zone }: StatisticsSetup) {
  const reader = openStatisticsReader(openForStatistics(file), zone);
  return {
    cooperative: ({ id, now }: { readonly id: number; readonly now: number }) =>
      reader.ofCooperative(id, now),
    country: ({ visible, now }: { readonly visible: Visible; readonly now: number }) =>
      reader.ofCountry(visible, now),
  };
}
export type StatisticsTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);

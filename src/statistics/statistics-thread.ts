/** Thread that sums the totals of many cooperatives, on a separate read-only connection. */

import type { Visible } from '../access/api-keys.ts';
import { serveTasks } from '../runtime/task-thread.ts';
import type { TimeZone } from '../values/date-time.ts';
import { openStatistics } from './statistics-store.ts';

interface StatisticsSetup {
  readonly file: string;
  readonly zone: TimeZone;
}

interface Country {
  readonly visible: Visible;
  readonly now: number;
  readonly district: string | undefined;
}

function openTasks({ file, zone }: StatisticsSetup) {
  const statistics = openStatistics(file, zone);
  return {
    country: ({ visible, now, district }: Country) => statistics.ofCountry(visible, now, district),
  };
}
export type StatisticsTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);

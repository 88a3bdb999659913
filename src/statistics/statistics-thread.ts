/** Module of the thread that sums the totals of many cooperatives. */

import type { Visible } from '../access/api-keys.ts';
import { serveTasks } from '../runtime/task-thread.ts';
import type { TimeZone } from '../values/date-time.ts';
import { openStatistics } from './statistics-store.ts';

type Country = { readonly visible: Visible; readonly now: number; readonly district: string | undefined };

function openTasks({ file, zone }: { readonly file: string; readonly zone: TimeZone | undefined }) {
  const statistics = openStatistics(file, zone);
  return {
    country: ({ visible, now, district }: Country) => statistics.ofCountry(visible, now, district),
  };
}
export type StatisticsTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);

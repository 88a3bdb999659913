/** Thread that writes the exports of the service, one at a time. */

import { Scheduler, systemClock } from '../runtime/scheduler.ts';
import { serveTasks } from '../runtime/task-thread.ts';
import { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { type SpoolTask, writeSpool } from './disk-buffer.ts';
import { openExportSession } from './exported-rows.ts';

const openTasks = ({ location, zone }: { readonly location: string; readonly zone: TimeZone }) => {
  const scheduler = new Scheduler();
  const session = openExportSession(new Storage(location, { clock: systemClock, scheduler, zone }));
  return { spool: (task: SpoolTask) => writeSpool(session, zone, task) };
};

export type ExportTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);

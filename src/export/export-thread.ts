/** The thread that writes the exports of a service, one after the other. */
import type { TimeZone } from '../domain/values/date-time.ts';
import { systemClock } from '../runtime/clock.ts';
import { Scheduler } from '../runtime/scheduler.ts';
import { serveTasks } from '../runtime/task-thread.ts';
import { openStorage } from '../store/sqlite/storage.ts';
import { type SpoolTask, writeSpool } from './write-spool.ts';

export interface ExportThreadSetup {
  /** Of the registry, as the configuration names it. */
  readonly location: string;
  readonly zone: TimeZone;
}

const openTasks = ({ location, zone }: ExportThreadSetup) => {
  const scheduler = new Scheduler();
  const session = openStorage(location, { clock: systemClock, scheduler, zone }).openExportSession();
  return { spool: (task: SpoolTask) => writeSpool(session, zone, task) };
};

export type ExportTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);

/**
 * Exports of a service. A thread writes each to an unnamed file, which is then sent as fast as the client
 * takes it: slow clients hold neither memory nor a snapshot (docs/decisions/0026-exports.md).
 */

import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import type { ExportRequest } from './export-columns.ts';
import type { ExportTasks } from './export-thread.ts';
import { openSpool } from './open-export-session.ts';
import { Spool, type Spooled } from './write-spool.ts';

/** A completely written export. */
export interface Export extends Spooled {
  /** Content in parts, readable once; each part is overwritten when the next one is requested. */
  read(): AsyncIterable<Buffer>;
}

export interface Exporter {
  /**
   * @param whenLeft registers a callback for when the client has left or received everything
   * @throws RegistryError (as a rejection) `unavailable` if too many exports run, or the disk is full
   */
  run(request: ExportRequest, whenLeft: (leave: () => void) => void): Promise<Export>;
  running(): number;
  close(): Promise<void>;
}

/** Limit of exports being written, queued or sent. */
const AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 30;
/** No object outlives a hundred rows, so a larger heap would only delay the collection of garbage. */
const HEAP = { youngMib: 6, oldMib: 48 };
export function createExporter(storage: Storage, zone: TimeZone): Exporter {
  const thread = new TaskThread<ExportTasks>({
    module: moduleBeside(import.meta.url, 'export-thread'),
    setup: { location: storage.location, zone },
    maxWaiting: AT_ONCE,
    heap: HEAP,
  });
  let running = 0;
  return {
    async run(request, whenLeft) {
      if (running >= AT_ONCE)
        throw new RegistryError('unavailable', `${AT_ONCE} exports run already. Try again.`, {
          reason: 'too_many_exports',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      const spool = new Spool(openSpool(storage), () => {
        running--;
      });
      running++;
      const isLeft = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      whenLeft(() => {
        Atomics.store(isLeft, 0, 1);
        spool.close();
      });
      try {
        const spooled = await spool.use((descriptor) => thread.run('spool', { request, descriptor, isLeft }));
        return { ...spooled, read: () => spool.read() };
      } catch (error) {
        spool.close();
        throw error;
      }
    },
    running: () => running,
    close: () => thread.close(),
  };
}

/**
 * Exports of a service. Each is written to a file without a name by a thread, and then sent as fast as its
 * client takes it: a slow one holds neither memory nor a snapshot (docs/decisions/0026-exports.md).
 */
import type { TimeZone } from '../domain/values/date-time.ts';
import { RegistryError } from '../domain/values/errors.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import type { Storage } from '../store/contract/storage.ts';
import type { ExportRequest } from './export-request.ts';
import type { ExportTasks } from './export-thread.ts';
import { Spool } from './spool.ts';
import type { Spooled } from './write-spool.ts';

/** One that is complete. */
export interface Export extends Spooled {
  /** Its bytes, once, in parts; each is overwritten when the next one is asked for. */
  read(): AsyncIterable<Buffer>;
}

export interface Exporter {
  /**
   * @param whenLeft registers what is called when the client has left or has everything
   * @throws RegistryError (as a rejection) `unavailable` when too many exports run, or the disk has no room
   */
  run(request: ExportRequest, whenLeft: (leave: () => void) => void): Promise<Export>;
  /** How many are being written, queued or sent. */
  running(): number;
  close(): Promise<void>;
}

/** Exports being written, queued or sent. */
const AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 30;
/** Nothing lives longer than a hundred rows: with more room, garbage would only be collected later. */
const HEAP = { youngMib: 6, oldMib: 48 };
export function createExporter(storage: Pick<Storage, 'location' | 'openSpool'>, zone: TimeZone): Exporter {
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
      const spool = new Spool(storage.openSpool(), () => {
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

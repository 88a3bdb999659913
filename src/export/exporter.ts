/**
 * Exports of a service. Each is written to a file without a name by a thread, and then sent as fast as its
 * client takes it: a slow one holds neither memory nor a snapshot (docs/decisions/0026-exports.md).
 */
import { close, read } from 'node:fs';
import { promisify } from 'node:util';
import type { TimeZone } from '../domain/values/date-time.ts';
import { RegistryError } from '../domain/values/errors.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import type { Storage } from '../store/ports/storage.ts';
import type { ExportRequest } from './export-request.ts';
import type { ExportTasks } from './export-thread.ts';
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
const READ_BYTES = 256 * 1024;

const readAt = promisify(read);

/** A file without a name, which is closed as soon as nothing uses it. */
class Spool {
  private readonly descriptor: number;
  private readonly onClosed: () => void;
  private uses = 0;
  private isLeft = false;
  private isClosed = false;

  constructor(descriptor: number, onClosed: () => void) {
    this.descriptor = descriptor;
    this.onClosed = onClosed;
  }

  /** Closing it meanwhile would let another file have its descriptor. */
  async use<T>(work: (descriptor: number) => Promise<T>): Promise<T> {
    this.uses++;
    try {
      return await work(this.descriptor);
    } finally {
      this.uses--;
      this.closeIfUnused();
    }
  }

  leave(): void {
    this.isLeft = true;
    this.closeIfUnused();
  }

  async *read(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let position = 0; !this.isLeft; ) {
      const { bytesRead } = await this.use((descriptor) =>
        readAt(descriptor, buffer, 0, READ_BYTES, position),
      );
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  private closeIfUnused(): void {
    if (!this.isLeft || this.uses > 0 || this.isClosed) return;
    this.isClosed = true;
    close(this.descriptor, this.onClosed);
  }
}

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
        spool.leave();
      });
      try {
        const spooled = await spool.use((descriptor) => thread.run('spool', { request, descriptor, isLeft }));
        return { ...spooled, read: () => spool.read() };
      } catch (error) {
        spool.leave();
        throw error;
      }
    },
    running: () => running,
    close: () => thread.close(),
  };
}

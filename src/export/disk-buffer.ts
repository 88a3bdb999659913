/**
 * Buffers exports in spools: unnamed files on disk. An export is sent after its snapshot has ended: slow
 * clients do not hold snapshots open.
 */
import { close, read, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { openSpoolAt } from '../sqlite/durable-files.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import { type ExportRequest, exportBlocks } from './export-formats.ts';
import type { ExportSession } from './exported-rows.ts';

/**
 * Opens an unnamed file on the registry's disk. The system deletes the file when the descriptor is closed.
 * @returns a descriptor that the caller must close
 * @throws the system's error
 */
export const openSpool = (storage: Storage): number => openSpoolAt(storage.pathForOpening());

export interface SpoolTask {
  readonly request: ExportRequest;
  /** Descriptor of an empty file to write to. */
  readonly descriptor: number;
  /** Shared memory; nonzero when the client has disconnected. */
  readonly isLeft: Int32Array;
}

/**
 * @returns the number of bytes
 * @throws RegistryError `unavailable` if the disk is nearly full
 */
export function writeToSpool(session: ExportSession, descriptor: number, bytes: Uint8Array): number {
  if (!session.hasRoom())
    throw new RegistryError('unavailable', 'The disk of the registry has no room for this export.', {
      reason: 'disk_full',
      retryAfterSeconds: 60,
    });
  writeFileSync(descriptor, bytes);
  return bytes.length;
}

/**
 * Writes an export to the file of the task.
 * @throws RegistryError `unavailable` if the disk is nearly full or the client has disconnected; the error of
 * the system if a write fails
 */
export function writeSpool(
  session: ExportSession,
  zone: TimeZone,
  { request, descriptor, isLeft }: SpoolTask,
) {
  const snapshot = session.begin();
  try {
    let bytes = 0;
    for (const block of exportBlocks(snapshot, request, zone)) {
      if (Atomics.load(isLeft, 0) !== 0)
        throw new RegistryError('unavailable', 'The client has left.', { reason: 'client_left' });
      bytes += writeToSpool(session, descriptor, block.bytes);
    }
    const { sequence, epoch } = snapshot;
    return { sequence, epoch, bytes };
  } finally {
    session.end();
  }
}

// Reading and closing a spool

const READ_BYTES = 256 * 1024;

const readAt = promisify(read);

/** A spool that closes its file when `close` was called and no read or write is running. */
export class Spool {
  private readonly descriptor: number;
  private readonly onClosed: () => void;
  private uses = 0;
  private isEnded = false;
  private isClosed = false;

  constructor(descriptor: number, onClosed: () => void = () => {}) {
    this.descriptor = descriptor;
    this.onClosed = onClosed;
  }

  /** Keeps the file open during `work`: a closed descriptor could be reused for another file. */
  async use<T>(work: (descriptor: number) => Promise<T>): Promise<T> {
    this.uses++;
    try {
      return await work(this.descriptor);
    } finally {
      this.uses--;
      this.closeIfUnused();
    }
  }

  close(): void {
    this.isEnded = true;
    this.closeIfUnused();
  }

  /** Reads the file once, in parts. The next part overwrites the buffer of the previous part. */
  async *read(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let position = 0; !this.isEnded; ) {
      const { bytesRead } = await this.use((descriptor) =>
        readAt(descriptor, buffer, 0, READ_BYTES, position),
      );
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  private closeIfUnused(): void {
    if (!this.isEnded || this.uses > 0 || this.isClosed) return;
    this.isClosed = true;
    close(this.descriptor, this.onClosed);
  }
}

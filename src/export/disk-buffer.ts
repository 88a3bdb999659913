/**
 * Buffers an export on disk, in a spool: an unnamed file that is written as fast as the registry can be read,
 * and sent as fast as the client takes it. The snapshot ends before anything is sent.
 */
import { close, read, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { openSpoolAt } from '../sqlite/durable-files.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import { type ExportRequest, exportBlocks } from './export-formats.ts';
import type { ExportSession } from './open-export-session.ts';

/**
 * Opens a file on the registry's disk that no other process can open and that disappears once closed.
 * @returns the descriptor, to be closed by the caller
 * @throws the system's error
 */
export const openSpool = (storage: Storage): number => openSpoolAt(storage.pathForOpening());

export interface SpoolTask {
  readonly request: ExportRequest;
  /** Descriptor of the open, empty file to write to. */
  readonly descriptor: number;
  /** Shared memory; nonzero once the client has left. */
  readonly isLeft: Int32Array;
}

/**
 * @returns the number of bytes
 * @throws RegistryError `unavailable` if the disk has no room for them
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
 * @throws RegistryError `unavailable` if the disk has no room, or the client has left; the system's error if
 *   the file cannot be written
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

// Buffers an export on disk, to be sent as fast as the client takes it.

const READ_BYTES = 256 * 1024;

const readAt = promisify(read);

/** An unnamed file that is closed as soon as it is no longer used. */
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

  /** Reads the file once, in parts; each is overwritten when the next one is requested. */
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

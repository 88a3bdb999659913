/** Buffers exports in unnamed files (spools), so that slow clients keep no snapshot open. */
import { createReadStream, writeFileSync } from 'node:fs';
import { openSpoolAt } from '../sqlite/durable-files.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import { type ExportRequest, exportBlocks } from './export-formats.ts';
import type { ExportSession } from './exported-rows.ts';

const READ_BYTES = 256 * 1024;

/**
 * `parts` reads the content from the start, and closes the file at the end. `close` closes the file early,
 * but waits for a read in progress. The system deletes the file when it is closed.
 * @throws the system's error
 */
export function openSpool(storage: Storage) {
  const descriptor = openSpoolAt(storage.pathForOpening());
  const parts = createReadStream('', { fd: descriptor, start: 0, highWaterMark: READ_BYTES });
  return { descriptor, parts, close: () => void parts.destroy() };
}

export interface SpoolTask {
  readonly request: ExportRequest;
  readonly descriptor: number;
  /** Shared memory; nonzero when the client has disconnected. */
  readonly isLeft: Int32Array;
}

/** @throws RegistryError `unavailable` if the disk is nearly full */
export function writeToSpool(session: ExportSession, descriptor: number, bytes: Uint8Array): void {
  if (!session.hasRoom())
    throw new RegistryError('unavailable', 'The disk of the registry has no room for this export.', {
      reason: 'disk_full',
      retryAfterSeconds: 60,
    });
  writeFileSync(descriptor, bytes);
}

/** @throws RegistryError `unavailable` if the disk is nearly full or the client has disconnected */
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
      writeToSpool(session, descriptor, block.bytes);
      bytes += block.bytes.length;
    }
    const { sequence, epoch } = snapshot;
    return { sequence, epoch, bytes };
  } finally {
    session.end();
  }
}

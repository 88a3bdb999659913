/** Writes an export to a file, as fast as the registry is read, and ends its snapshot before one is sent. */
import { writeFileSync } from 'node:fs';
import type { TimeZone } from '../domain/values/date-time.ts';
import { RegistryError } from '../domain/values/errors.ts';
import type { ExportSession } from '../store/contract/exports.ts';
import { exportBlocks } from './export-blocks.ts';
import type { ExportRequest } from './export-request.ts';

export interface SpoolTask {
  readonly request: ExportRequest;
  /** Of the open, empty file to write to. */
  readonly descriptor: number;
  /** Shared: another number than 0 says that nobody waits any more. */
  readonly isLeft: Int32Array;
}

export interface Spooled {
  readonly sequence: number;
  readonly epoch: string;
  readonly bytes: number;
}

const RETRY_AFTER_SECONDS = 60;

const NO_ROOM = 'The disk of the registry has no room for this export.';

/** @returns how many bytes @throws RegistryError `unavailable` when the disk has no room for them */
export function writeToSpool(session: ExportSession, descriptor: number, bytes: Uint8Array): number {
  if (!session.hasRoom())
    throw new RegistryError('unavailable', NO_ROOM, {
      reason: 'disk_full',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  writeFileSync(descriptor, bytes);
  return bytes.length;
}

/**
 * @throws RegistryError `unavailable` when the disk has no room for it, or nobody waits any more; the
 * system's error when it cannot be written
 */
export function writeSpool(
  session: ExportSession,
  zone: TimeZone,
  { request, descriptor, isLeft }: SpoolTask,
): Spooled {
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

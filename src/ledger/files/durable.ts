/** What the ledger asks of the system to write: tests pass functions that fail. */
import fs, { closeSync, fsyncSync, openSync } from 'node:fs';

export type WritingFunctions = Pick<
  typeof fs,
  'openSync' | 'writeSync' | 'fdatasyncSync' | 'fsyncSync' | 'ftruncateSync' | 'closeSync' | 'unlinkSync'
>;

export const systemFunctions: WritingFunctions = fs;

/** Writes all of it. @throws the system's error; some of it may be written then */
export function writeFully(
  functions: WritingFunctions,
  handle: number,
  bytes: Uint8Array,
  position: number,
): void {
  for (let written = 0; written < bytes.length; )
    written += functions.writeSync(handle, bytes, written, bytes.length - written, position + written);
}

/** Makes the names in a folder survive a power cut. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The files of one segment: created with room for its first entries, extended before they fill it. */
import { existsSync } from 'node:fs';
import { openPrivateFile } from '../../runtime/new-files.ts';
import { syncFolder, type WritingFunctions, writeFully } from '../files/durable.ts';
import { newKeyFile } from '../files/identity-hash.ts';
import { keyFileOf, keysFolderOf, segmentFileOf } from '../files/paths.ts';

/** Room for ten thousand entries of 600 bytes: what can be recorded after the disk is full. */
export const RESERVE_BYTES = 6 * 1024 * 1024;
/** How much is added at a time: little enough to hold up a batch for a millisecond only. */
export const EXTENSION_BYTES = 1024 * 1024;
const ZEROS = Buffer.alloc(EXTENSION_BYTES);

/** Zeros of a piece of a file. @param bytes at most EXTENSION_BYTES */
export const zeros = (bytes: number): Buffer => ZEROS.subarray(0, bytes);

/**
 * Creates a segment with its key and its reserve, on disk when this returns. An empty one of a process that
 * was killed is created anew.
 * @returns how many bytes the disk has for it
 * @throws the system's error; nothing is left of it then
 */
export function createSegment(functions: WritingFunctions, folder: string, segment: number): number {
  removeSegment(functions, folder, segment);
  try {
    const reserve = Array.from({ length: RESERVE_BYTES / EXTENSION_BYTES }, () => ZEROS);
    writeFile(functions, segmentFileOf(folder, segment), reserve);
    syncFolder(folder);
    // After it: a key without a segment says that the segment was taken away.
    writeFile(functions, keyFileOf(folder, segment), [newKeyFile()]);
    syncFolder(keysFolderOf(folder));
    return RESERVE_BYTES;
  } catch (error) {
    removeSegment(functions, folder, segment);
    throw error;
  }
}

function writeFile(functions: WritingFunctions, file: string, parts: readonly Uint8Array[]): void {
  const handle = openPrivateFile(file);
  try {
    let position = 0;
    for (const part of parts) {
      writeFully(functions, handle, part, position);
      position += part.length;
    }
    functions.fsyncSync(handle);
  } finally {
    functions.closeSync(handle);
  }
}

/** The key first: without it the hashes of the segment lead to nobody. */
export function removeSegment(functions: WritingFunctions, folder: string, segment: number): void {
  for (const file of [keyFileOf(folder, segment), segmentFileOf(folder, segment)])
    if (existsSync(file)) functions.unlinkSync(file);
}

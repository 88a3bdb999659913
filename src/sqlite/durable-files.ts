/** Writes, copies, hashes and syncs files that must survive a power cut. */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { openPrivateFile } from '../runtime/process.ts';
import { SPOOL_INFIX } from './registry-files.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Syncs a file, or the list of files in a folder. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** @throws the system's error if the file exists */
export function createPrivateFile(path: string): void {
  closeSync(openPrivateFile(path));
}

/** Creates a file that only its owner can read, and syncs it. */
export function writePrivateFile(path: string, text: string): void {
  const handle = openPrivateFile(path);
  try {
    // Not `writeSync`, which on a full disk may write a part of the text without an error.
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export interface FileHash {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** @param onChunk receives each chunk, which is valid only during the call */
export async function hashFile(
  path: string,
  onChunk: (chunk: Uint8Array) => void = () => undefined,
  signal?: AbortSignal,
): Promise<FileHash> {
  const handle = await open(path, 'r');
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let bytes = 0;
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      onChunk(chunk);
      bytes += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** Copies a file, syncs the copy, and lets only its owner read it. @returns the hash of the copied bytes */
export async function copyPrivately(source: string, target: string, signal?: AbortSignal): Promise<FileHash> {
  const handle = openPrivateFile(target);
  try {
    const hash = await hashFile(source, (chunk) => writeFileSync(handle, chunk), signal);
    fsyncSync(handle);
    return hash;
  } finally {
    closeSync(handle);
  }
}

/** @returns descriptor of an empty, unlinked file on the registry's disk; no other process can open it */
export function openSpoolAt(databaseFile: string): number {
  const path = `${databaseFile}${SPOOL_INFIX}${randomUUID()}`;
  const descriptor = openPrivateFile(path);
  unlinkSync(path);
  return descriptor;
}

/** Copies of erased values that SQLite has left in free space of the file, and in its log. */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import type { Connection } from '../connection/connection.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Whether the file has any of the texts, which are shorter than a chunk. */
function fileHas(file: string, texts: readonly string[]): boolean {
  const overlap = Math.max(...texts.map((text) => Buffer.byteLength(text)));
  const chunk = Buffer.alloc(CHUNK_BYTES + overlap);
  const handle = openSync(file, 'r');
  try {
    for (let position = 0; ; position += CHUNK_BYTES) {
      const length = readSync(handle, chunk, 0, chunk.length, position);
      const read = chunk.subarray(0, length);
      if (texts.some((text) => read.includes(text))) return true;
      if (length < chunk.length) return false;
    }
  } finally {
    closeSync(handle);
  }
}

/**
 * Empties the log, and rewrites the file where free space still has one of the texts: secure_delete zeroes
 * what is deleted, but not what moved to another page earlier.
 * @param texts that no row has any more
 * @param waitMs for readers
 * @returns whether nothing is left
 */
export function clearFreeSpace(db: Connection, texts: readonly string[], waitMs: number): boolean {
  const file = db.raw.name;
  db.waitForLock(waitMs);
  db.raw.pragma('main.wal_checkpoint(TRUNCATE)');
  if (fileHas(file, texts)) {
    db.exec('VACUUM main');
    db.raw.pragma('main.wal_checkpoint(TRUNCATE)');
  }
  const log = `${file}-wal`;
  return (!existsSync(log) || statSync(log).size === 0) && !fileHas(file, texts);
}

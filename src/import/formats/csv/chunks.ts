/** A text file → its bytes in chunks of UTF-8 that end where lines end. */
import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { fileFault } from '../source/records.ts';
import { readUtf8, type TextEncoding } from './encoding.ts';
import { countLines, endOfLastLine } from './line-ends.ts';

/** A longer record is a quote that was never closed. */
export const MAX_RECORD_BYTES = 256 * 1024;

export interface Chunk {
  readonly bytes: Buffer;
  /** Bytes of the file that have been read. */
  readonly end: number;
}

/**
 * Reads a file from its start. A line end is never inside a character, so each chunk is UTF-8 by itself.
 * @throws FileFault at the first line that is not of the encoding or too long
 */
export async function* readChunks(handle: FileHandle, encoding: TextEncoding): AsyncGenerator<Chunk> {
  let [length, end] = [0, 0];
  let rest: Buffer = Buffer.alloc(0);
  const lineAfter = async (bytes: number) => (await linesBefore(handle, encoding, bytes)) + 1;
  async function* checked(bytes: Buffer): AsyncGenerator<Chunk> {
    const sound = isUtf8(bytes) ? bytes.length : soundLength(bytes);
    if (sound > 0) yield { bytes: bytes.subarray(0, sound), end };
    if (sound === bytes.length) return;
    const text = 'The line is not UTF-8. Save the file as "CSV UTF-8" and import it again.';
    throw fileFault(await lineAfter(length + sound), text);
  }

  for await (const read of readUtf8(handle, encoding)) {
    end = read.end;
    const bytes = rest.length === 0 ? read.bytes : Buffer.concat([rest, read.bytes]);
    const complete = endOfLastLine(bytes);
    rest = bytes.subarray(complete);
    if (complete > 0) yield* checked(bytes.subarray(0, complete));
    length += complete;
    if (rest.length > MAX_RECORD_BYTES)
      throw fileFault(await lineAfter(length), 'The line is too long to be a row.');
  }
  if (rest.length > 0) yield* checked(rest);
}

/** Length of the lines before the first one that is not UTF-8. */
function soundLength(bytes: Buffer): number {
  let sound = 0;
  for (let length = 0; length < bytes.length; ) {
    length = endOfNextLine(bytes, sound);
    if (!isUtf8(bytes.subarray(sound, length))) return sound;
    sound = length;
  }
  return sound;
}

function endOfNextLine(bytes: Buffer, start: number): number {
  for (let i = start; i < bytes.length; i++) {
    if (bytes[i] === 0x0a) return i + 1;
    if (bytes[i] === 0x0d) return bytes[i + 1] === 0x0a ? i + 2 : i + 1;
  }
  return bytes.length;
}

/**
 * Counts the lines of the first bytes of a file, which end where a line ends. Only an unreadable file is read
 * again.
 * @param bytes of the file as UTF-8
 */
async function linesBefore(handle: FileHandle, encoding: TextEncoding, bytes: number): Promise<number> {
  let [lines, left] = [0, bytes];
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of readUtf8(handle, encoding)) {
    const joined = Buffer.concat([rest, read.bytes.subarray(0, left)]);
    left -= Math.min(left, read.bytes.length);
    const length = endOfLastLine(joined);
    lines += countLines(joined.subarray(0, length));
    rest = joined.subarray(length);
    if (left === 0) break;
  }
  return lines + countLines(rest);
}

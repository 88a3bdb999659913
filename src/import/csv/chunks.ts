/** A CSV file → its bytes in chunks that end where lines end, each checked to be UTF-8. */
import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { fileFault } from '../records.ts';
import { countLines, endOfLastLine } from './line-ends.ts';

const CHUNK_BYTES = 256 * 1024;
/** A longer record is a quote that was never closed. */
export const MAX_RECORD_BYTES = 256 * 1024;

export interface Chunk {
  readonly bytes: Buffer;
  /** Bytes of the file up to the end of this chunk. */
  readonly end: number;
}

/**
 * Reads a file from its start. A line end is never inside a character, so each chunk is UTF-8 by itself.
 * @throws FileFault at the first line that is not UTF-8 or too long
 */
export async function* readChunks(handle: FileHandle): AsyncGenerator<Chunk> {
  let end = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of readBytes(handle)) {
    const bytes = rest.length === 0 ? read : Buffer.concat([rest, read]);
    const length = endOfLastLine(bytes);
    rest = bytes.subarray(length);
    if (length > 0) yield* checked(handle, bytes.subarray(0, length), end);
    end += length;
    if (rest.length > MAX_RECORD_BYTES)
      throw fileFault((await linesBefore(handle, end)) + 1, 'The line is too long to be a row.');
  }
  if (rest.length > 0) yield* checked(handle, rest, end);
}

/** A read stream would close the handle when its reader stops early; rejects read the file again. */
async function* readBytes(handle: FileHandle, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  for (let position = 0; position < end; ) {
    const length = Math.min(CHUNK_BYTES, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* checked(handle: FileHandle, bytes: Buffer, start: number): AsyncGenerator<Chunk> {
  const sound = isUtf8(bytes) ? bytes.length : soundLength(bytes);
  if (sound > 0) yield { bytes: bytes.subarray(0, sound), end: start + sound };
  if (sound === bytes.length) return;
  throw fileFault(
    (await linesBefore(handle, start + sound)) + 1,
    'The line is not UTF-8. Save the file as "CSV UTF-8" and import it again.',
  );
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
 */
async function linesBefore(handle: FileHandle, bytes: number): Promise<number> {
  let lines = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of readBytes(handle, bytes)) {
    const joined = Buffer.concat([rest, read]);
    const length = endOfLastLine(joined);
    lines += countLines(joined.subarray(0, length));
    rest = joined.subarray(length);
  }
  return lines + countLines(rest);
}

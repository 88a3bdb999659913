/** What has to be known of all bytes of a file before its first row is read. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const READ_BYTES = 256 * 1024;
const HEAD_BYTES = 64 * 1024;

export interface FileContent {
  /** Size in bytes. */
  readonly bytes: number;
  /** The first bytes, at most 64 KiB. */
  readonly head: Buffer;
  /** SHA-256 of all bytes, in hex. */
  readonly sha256: string;
  /** Whether all bytes are valid UTF-8: one that is not may come after millions that are. */
  readonly isUtf8: boolean;
  readonly hasNul: boolean;
}

/**
 * Reads a file once from start to end.
 * @throws the system's error
 */
export async function scanContent(handle: FileHandle): Promise<FileContent> {
  const hash = createHash('sha256');
  const heads: Buffer[] = [];
  let [bytes, isText, hasNul] = [0, true, false];
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of readBytes(handle, 0)) {
    if (bytes < HEAD_BYTES) heads.push(read.subarray(0, HEAD_BYTES - bytes));
    bytes += read.length;
    hash.update(read);
    hasNul ||= read.includes(0);
    if (!isText) continue;
    const joined = rest.length === 0 ? read : Buffer.concat([rest, read]);
    const length = endOfLastCharacter(joined);
    isText = isUtf8(joined.subarray(0, length));
    rest = joined.subarray(length);
  }
  isText &&= isUtf8(rest);
  return { bytes, head: Buffer.concat(heads), sha256: hash.digest('hex'), isUtf8: isText, hasNul };
}

/** Where a character begins whose other bytes may be missing, or the length of all bytes. */
function endOfLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte >= 0xc0) return bytes.length - back;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

/**
 * Reads a file in parts. A read stream would close the handle when its reader stops early; rejects read the
 * file again.
 */
export async function* readBytes(handle: FileHandle, start: number): AsyncGenerator<Buffer> {
  for (let position = start; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

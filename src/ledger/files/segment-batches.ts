/** The batches of one segment, from its beginning, in bounded memory. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type BatchHeader, HEADER_START, MAX_HEADER_BYTES, parseHeader } from './batch.ts';

export interface Batch extends BatchHeader {
  /** Where it begins in the segment, in bytes. */
  readonly offset: number;
  /** The lines of its entries; only valid until the next batch is asked for. */
  readonly lines: Buffer;
}

/** What follows the last batch that can be read. */
export interface SegmentEnd {
  /** Where it begins. */
  readonly offset: number;
  /** How many bytes follow that are not zero or stand before one that is not. */
  readonly rest: number;
  /**
   * `clean`: nothing; `torn`: a batch that was being written when the power failed, or is just being written;
   * `damaged`: something that no interruption of writing leaves.
   */
  readonly kind: 'clean' | 'torn' | 'damaged';
}

const CHUNK_BYTES = 1024 * 1024;
/** A disk writes at least so much at once: what it has not written begins at such a place. */
const SECTOR_BYTES = 512;
const LINE_FEED = 0x0a;

/** A window on a file that moves forward. */
class Window {
  private readonly handle: number;
  private buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  private begin = 0;
  private end = 0;
  offset: number;

  constructor(handle: number, offset: number) {
    this.handle = handle;
    this.offset = offset;
  }

  /** The next bytes, as many as asked for; fewer at the end of the file. */
  peek(bytes: number): Buffer {
    if (this.end - this.begin < bytes) this.fill(bytes);
    return this.buffer.subarray(this.begin, Math.min(this.begin + bytes, this.end));
  }

  skip(bytes: number): void {
    this.begin += bytes;
    this.offset += bytes;
  }

  private fill(asked: number): void {
    // A damaged header may claim any length.
    const bytes = Math.min(asked, Math.max(fstatSync(this.handle).size - this.offset, 0));
    const kept = this.buffer.subarray(this.begin, this.end);
    const target = bytes > this.buffer.length ? Buffer.allocUnsafe(bytes * 2) : this.buffer;
    kept.copy(target);
    this.buffer = target;
    this.begin = 0;
    this.end = kept.length;
    while (this.end < bytes) {
      const read = readSync(
        this.handle,
        this.buffer,
        this.end,
        this.buffer.length - this.end,
        this.offset + this.end,
      );
      if (read === 0) return;
      this.end += read;
    }
  }
}

/**
 * Whether the hashes fit is for the caller to say.
 * @param start where a batch begins
 */
export function* readBatches(handle: number, start = 0): Generator<Batch, SegmentEnd> {
  const window = new Window(handle, start);
  for (;;) {
    const head = window.peek(MAX_HEADER_BYTES);
    const length = head.indexOf(LINE_FEED);
    const header = length === -1 ? undefined : parseHeader(head.toString('latin1', 0, length));
    if (header === undefined) return endAt(handle, window.offset, undefined);
    const total = length + 1 + header.bytes;
    const batch = window.peek(total);
    const lines = batch.subarray(length + 1);
    if (batch.length < total || lines.includes(0) || lines.at(-1) !== LINE_FEED)
      return endAt(handle, window.offset, total);
    yield { ...header, offset: window.offset, lines };
    window.skip(total);
  }
}

/** @param total bytes of the batch, if its header can be read */
function endAt(handle: number, offset: number, total: number | undefined): SegmentEnd {
  const rest = readToEnd(handle, offset);
  const isCut = (place: number) => (offset + place) % SECTOR_BYTES === 0;
  if (rest.length === 0) return { offset, rest: 0, kind: 'clean' };
  // Another batch follows: each is on disk before the next one is written.
  if (rest.includes(`\n${HEADER_START}`)) return { offset, rest: rest.length, kind: 'damaged' };
  const zero = rest.indexOf(0);
  const firstMissing = zero === -1 ? rest.length : zero;
  const isTooLong = total !== undefined && rest.length > total;
  const isTorn = !isTooLong && isCut(zero === 0 ? countZeros(rest) : firstMissing);
  return { offset, rest: rest.length, kind: isTorn ? 'torn' : 'damaged' };
}

const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** How many zeros a buffer begins with, not all of which are zero. */
function countZeros(buffer: Buffer): number {
  let count = 0;
  while (buffer[count] === 0) count++;
  return count;
}

/** What is in a file from a place on, without the zeros at its end. */
function readToEnd(handle: number, offset: number): Buffer {
  const chunks: Buffer[] = [];
  let [length, end] = [0, 0];
  for (;;) {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    const read = readSync(handle, buffer, 0, CHUNK_BYTES, offset + length);
    if (read === 0) return Buffer.concat(chunks).subarray(0, end);
    const chunk = buffer.subarray(0, read);
    // Nearly all of it is room for later batches.
    if (!chunk.equals(ZEROS.subarray(0, read))) {
      let last = read;
      while (chunk[last - 1] === 0) last--;
      end = length + last;
    }
    chunks.push(chunk);
    length += read;
  }
}

/** Whether a segment has no batch, complete or not. */
export function isEmptySegment(file: string): boolean {
  const handle = openSync(file, 'r');
  try {
    const { done, value } = readBatches(handle).next();
    return done === true && value.kind === 'clean';
  } finally {
    closeSync(handle);
  }
}

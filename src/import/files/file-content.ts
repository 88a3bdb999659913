/** Scans a file for its size, hash and encoding before the first row is read, and decodes text files. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Encoding, fileFault } from './records.ts';

// Line ends: LF, CRLF, or a single CR, which old spreadsheets write.

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export const LINE_END = /\r\n|\n|\r/;

/**
 * Returns the end of the last complete line, or 0 if no line is complete. A CR as the last byte does not end
 * a line, because it may be the first half of a CRLF.
 */
function endOfLastLine(bytes: Buffer): number {
  const feed = bytes.lastIndexOf(LINE_FEED);
  const lastByte = bytes.length - 1;
  const carriage = bytes.lastIndexOf(CARRIAGE_RETURN, lastByte - 1);
  return lastByte > 0 ? Math.max(feed, carriage) + 1 : feed + 1;
}

const MARKS: ReadonlyMap<Encoding, Buffer> = new Map([
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
]);

export interface TextEncoding {
  readonly encoding: Encoding;
  /** Length of the byte order mark; 0 for a file without a mark. */
  readonly markBytes: number;
}

/** Returns the byte order mark of an encoding; empty for Windows-1252. */
export const markOf = (encoding: Encoding): Buffer => MARKS.get(encoding) ?? Buffer.alloc(0);

/**
 * Returns the encoding that the byte order mark names, or else the fallback. Without a mark or fallback, a
 * file is read as UTF-8 if it is mostly UTF-8. Any other file is read as Windows-1252, in which all bytes are
 * valid.
 */
export function encodingOf(content: FileContent, fallback: Encoding | undefined): TextEncoding {
  for (const [encoding, mark] of MARKS)
    if (content.head.subarray(0, mark.length).equals(mark)) return { encoding, markBytes: mark.length };
  return { encoding: fallback ?? (content.isMostlyUtf8 ? 'utf-8' : 'windows-1252'), markBytes: 0 };
}

interface EncodedBytes {
  /** Text in UTF-8. Invalid bytes are possible only if the encoding of the file is UTF-8. */
  readonly bytes: Buffer;
  /** Number of bytes of the file up to the end of `bytes`. */
  readonly end: number;
}

/**
 * Converts a text file to UTF-8, and leaves out the byte order mark.
 * @throws FileFault for bytes that are invalid in UTF-16; the bytes of a UTF-8 file are not checked here
 */
async function* readUtf8(
  handle: FileHandle,
  { encoding, markBytes }: TextEncoding,
): AsyncGenerator<EncodedBytes> {
  let end = markBytes;
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  try {
    for await (const bytes of readBytes(handle, markBytes)) {
      end += bytes.length;
      yield {
        bytes: encoding === 'utf-8' ? bytes : Buffer.from(decoder.decode(bytes, { stream: true })),
        end,
      };
    }
    const rest = decoder.decode();
    if (rest !== '') yield { bytes: Buffer.from(rest), end };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw fileFault(
      1,
      'The file begins like UTF-16 but is not UTF-16. Save it as "CSV UTF-8" and import it again.',
    );
  }
}

/** Decodes the `head` of a text file. Drops an incomplete character at its end. */
export function headText({ head }: FileContent, { encoding, markBytes }: TextEncoding): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(head.subarray(markBytes), { stream: true });
}

const READ_BYTES = 256 * 1024;
const HEAD_BYTES = 64 * 1024;

export interface FileContent {
  readonly bytes: number;
  /** First 64 KiB, or the entire file if it is smaller. */
  readonly head: Buffer;
  readonly sha256: string;
  /**
   * True if the file is valid UTF-8, or has more valid multi-byte characters than invalid sequences. Text in
   * another encoding hardly ever contains valid multi-byte characters. A damaged UTF-8 file has many such
   * characters. If it were read in another encoding, the names in it would be wrong.
   */
  readonly isMostlyUtf8: boolean;
  readonly hasNul: boolean;
}

/** @throws the system's error */
export async function scanContent(handle: FileHandle): Promise<FileContent> {
  const hash = createHash('sha256');
  const heads: Buffer[] = [];
  let [bytes, isValid, hasNul] = [0, true, false];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isUtf8Until = (end?: Buffer): boolean => {
    try {
      decoder.decode(end, { stream: end !== undefined });
      return true;
    } catch {
      return false;
    }
  };
  for await (const read of readBytes(handle, 0)) {
    if (bytes < HEAD_BYTES) heads.push(read.subarray(0, HEAD_BYTES - bytes));
    bytes += read.length;
    hash.update(read);
    hasNul ||= read.includes(0);
    isValid &&= isUtf8Until(read);
  }
  isValid &&= isUtf8Until();
  const isMostlyUtf8 = isValid || (!hasNul && (await hasMoreValidThanInvalidUtf8(handle)));
  return { bytes, head: Buffer.concat(heads), sha256: hash.digest('hex'), isMostlyUtf8, hasNul };
}

async function hasMoreValidThanInvalidUtf8(handle: FileHandle): Promise<boolean> {
  const decoder = new TextDecoder();
  let surplus = 0;
  const count = (text: string): void => {
    surplus += text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
    surplus -= text.match(/\ufffd/g)?.length ?? 0;
  };
  for await (const read of readBytes(handle, 0)) count(decoder.decode(read, { stream: true }));
  count(decoder.decode());
  return surplus > 0;
}

/** Reads a file in chunks. Unlike a read stream, leaves the handle open if the caller stops early. */
async function* readBytes(handle: FileHandle, start: number): AsyncGenerator<Buffer> {
  for (let position = start; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Maximum size of a record. A longer record means that a quote was never closed. */
export const MAX_RECORD_BYTES = 256 * 1024;

/**
 * Reads a text file in chunks of complete lines of valid UTF-8.
 * @param nextLine returns the number of the line after the chunks that the caller has read
 * @throws FileFault at the first line that is invalid in the encoding or too long
 */
export async function* readChunks(
  handle: FileHandle,
  encoding: TextEncoding,
  nextLine: () => number,
): AsyncGenerator<EncodedBytes> {
  let end = 0;
  let rest: Buffer = Buffer.alloc(0);
  async function* checked(bytes: Buffer): AsyncGenerator<EncodedBytes> {
    const sound = isUtf8(bytes) ? bytes.length : soundLength(bytes);
    if (sound > 0) yield { bytes: bytes.subarray(0, sound), end };
    if (sound < bytes.length)
      throw fileFault(nextLine(), 'The line is not UTF-8. Save the file as "CSV UTF-8" and import it again.');
  }

  for await (const encoded of readUtf8(handle, encoding)) {
    end = encoded.end;
    const bytes = rest.length === 0 ? encoded.bytes : Buffer.concat([rest, encoded.bytes]);
    const complete = endOfLastLine(bytes);
    rest = bytes.subarray(complete);
    if (complete > 0) yield* checked(bytes.subarray(0, complete));
    if (rest.length > MAX_RECORD_BYTES) throw fileFault(nextLine(), 'The line is too long to be a row.');
  }
  if (rest.length > 0) yield* checked(rest);
}

/** Returns the number of bytes before the first line that is not UTF-8. */
function soundLength(bytes: Buffer): number {
  let sound = 0;
  for (const line of bytes.toString('latin1').match(/[^\r\n]*(?:\r\n|[\r\n]|$)/g) ?? []) {
    if (!isUtf8(bytes.subarray(sound, sound + line.length))) break;
    sound += line.length;
  }
  return sound;
}

/** Encodes a text without a byte order mark. */
export function encodeText(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'windows-1252')
    return Buffer.from(text.replace(/[^\0-\x7f\xa0-\xff]/gu, inWindows), 'latin1');
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}

const WINDOWS_1252 = new TextDecoder('windows-1252');

/** Bytes 0x80 to 0x9f of Windows-1252 by their characters. In Latin-1, these bytes are control characters. */
const BYTES = new Map(
  Array.from({ length: 0x20 }, (_, i) => [WINDOWS_1252.decode(Buffer.from([0x80 + i])), 0x80 + i]),
);

/** Returns the byte of a character in Windows-1252, or of `?` if the encoding lacks the character. */
const inWindows = (character: string): string => String.fromCharCode(BYTES.get(character) ?? 0x3f);

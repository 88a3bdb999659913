/** The encoding of a text file, and its bytes as UTF-8. */
import type { FileHandle } from 'node:fs/promises';
import { type FileContent, readBytes } from '../source/file-content.ts';
import { type Encoding, fileFault } from '../source/records.ts';

const MARKS: readonly [Encoding, Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

export interface TextEncoding {
  readonly encoding: Encoding;
  /** Length of the byte order mark; 0 without one. */
  readonly markBytes: number;
}

/** The byte order mark of an encoding; Windows-1252 has none. */
export const markOf = (encoding: Encoding): Buffer =>
  MARKS.find(([marked]) => marked === encoding)?.[1] ?? Buffer.alloc(0);

/**
 * A byte order mark decides, then what is asked for; without both a file that is not UTF-8 throughout is
 * Windows-1252, which any bytes are.
 */
export function encodingOf(content: FileContent, asked: Encoding | undefined): TextEncoding {
  for (const [encoding, mark] of MARKS)
    if (content.head.subarray(0, mark.length).equals(mark)) return { encoding, markBytes: mark.length };
  return { encoding: asked ?? (content.isUtf8 ? 'utf-8' : 'windows-1252'), markBytes: 0 };
}

export interface EncodedBytes {
  /** UTF-8; only a file that claims to be UTF-8 may have invalid bytes. */
  readonly bytes: Buffer;
  /** Bytes of the file up to the end of these. */
  readonly end: number;
}

/**
 * Reads a text file from its start, without the byte order mark.
 * @throws FileFault where bytes are not of the encoding; UTF-8 is not checked
 */
export async function* readUtf8(
  handle: FileHandle,
  { encoding, markBytes }: TextEncoding,
): AsyncGenerator<EncodedBytes> {
  let end = markBytes;
  const decode = encoding === 'utf-8' ? undefined : createDecoder(encoding);
  for await (const read of readBytes(handle, markBytes)) {
    end += read.length;
    yield { bytes: decode === undefined ? read : decode(read), end };
  }
  const rest = decode?.();
  if (rest !== undefined && rest.length > 0) yield { bytes: rest, end };
}

function createDecoder(encoding: Encoding): (bytes?: Buffer) => Buffer {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return Buffer.from(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw fileFault(
        1,
        'The file begins like UTF-16 and is not. Save it as "CSV UTF-8" and import it again.',
      );
    }
  };
}

/** The beginning of a text file as a text; a character at its end may be incomplete. */
export function headText({ head }: FileContent, { encoding, markBytes }: TextEncoding): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(head.subarray(markBytes), { stream: true });
}

/** Opens a file for reading, recognised by its content, not by its name. */
import { type FileHandle, open } from 'node:fs/promises';
import { encodingOf } from './csv/encoding.ts';
import { openCsv } from './csv/open-csv.ts';
import type { ScoreHeader } from './csv/separator.ts';
import { refusalOf } from './refused-format.ts';
import { type FileContent, scanContent } from './source/file-content.ts';
import { type Encoding, fileFault, type RecordSource } from './source/records.ts';
import { UnreadableWorkbook } from './workbook/archive.ts';
import { openWorkbook } from './workbook/open-workbook.ts';

/** How a workbook begins, which is a ZIP archive. */
const ZIP = 'PK\u0003\u0004';

export interface OpenOptions {
  /** Of a text file without a byte order mark. */
  readonly encoding?: Encoding | undefined;
  /** Of a workbook; without it, the one whose header has most headings. */
  readonly sheet?: string | undefined;
  /** Finds the separator of a text file, and the sheet of a workbook. */
  readonly scoreHeader: ScoreHeader;
  /** Of a file that is opened several times: what `scanFile` has read of it. */
  readonly content?: FileContent | undefined;
}

/**
 * Reads a file that does not change once for all openings of it.
 * @throws the system's error when the file cannot be opened or read
 */
export async function scanFile(path: string): Promise<FileContent> {
  const handle = await open(path);
  try {
    return await scanContent(handle);
  } finally {
    await handle.close();
  }
}

/**
 * A file of a format that cannot be read is opened too: reading it throws the fault that says so.
 * @throws UnknownSheetError when a workbook has no such sheet; the system's error when the file cannot be
 *     opened or read
 */
export async function openFile(path: string, options: OpenOptions): Promise<RecordSource> {
  const handle = await open(path);
  try {
    return await openContent(handle, options.content ?? (await scanContent(handle)), options);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openContent(
  handle: FileHandle,
  content: FileContent,
  options: OpenOptions,
): Promise<RecordSource> {
  if (content.head.toString('latin1', 0, ZIP.length) === ZIP) {
    try {
      return await openWorkbook(handle, content, options);
    } catch (error) {
      if (error instanceof UnreadableWorkbook) return unreadable(handle, content, error.message, error);
      throw error;
    }
  }
  const { encoding } = encodingOf(content, options.encoding);
  const refusal = refusalOf(content, encoding.startsWith('utf-16'));
  return refusal === undefined ? openCsv(handle, content, options) : unreadable(handle, content, refusal);
}

/** @param cause where more is known of it than its message */
const unreadable = (
  handle: FileHandle,
  content: FileContent,
  refusal: string,
  cause?: Error,
): RecordSource => ({
  bytes: content.bytes,
  sha256: content.sha256,
  format: { type: 'text', encoding: 'utf-8', hasMark: false, separator: ',' },
  // biome-ignore lint/correctness/useYield: a reading that ends before its first batch
  async *read() {
    throw fileFault(1, refusal, { cause });
  },
  close: () => handle.close(),
});

/**
 * Opens a file to import (docs/import-reference.md#forms-of-files). The content decides the format, not the
 * name.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { COMPRESSED, SAVE, UnreadableWorkbook } from './archive.ts';
import { createCsvRows, detectSeparator, namedSeparator } from './csv-rows.ts';
import {
  encodingOf,
  type FileContent,
  headText,
  readChunks,
  scanContent,
  type TextEncoding,
} from './file-content.ts';
import { openWorkbook, type WorkbookOptions } from './open-workbook.ts';
import {
  type Encoding,
  type FormatSource,
  fileFault,
  type RecordBatch,
  type RecordSource,
  type ScoreHeader,
} from './records.ts';

function openCsv(
  handle: FileHandle,
  content: FileContent,
  encoding: TextEncoding,
  scoreHeader: ScoreHeader,
): FormatSource {
  const head = headText(content, encoding);
  const isComplete = content.head.length === content.bytes;
  const namedBy = namedSeparator(head);
  const separator = namedBy ?? detectSeparator(head, isComplete, scoreHeader);
  return {
    format: { type: 'text', encoding: encoding.encoding, hasMark: encoding.markBytes > 0, separator },
    read: () => readRecords(handle, encoding, separator, namedBy !== undefined),
  };
}

/** @param skipsLine true to skip the first line, which names the separator */
async function* readRecords(
  handle: FileHandle,
  encoding: TextEncoding,
  separator: string,
  skipsLine: boolean,
): AsyncGenerator<RecordBatch> {
  const rows = createCsvRows(separator, skipsLine ? 1 : 0);
  let skips = skipsLine;
  for await (const { bytes, end } of readChunks(handle, encoding, rows.nextLine)) {
    const text = bytes.toString('utf8');
    // Chunks consist of complete lines, so the first chunk contains the entire first line.
    const { records, fault } = rows.read(skips ? text.replace(FIRST_LINE, '') : text);
    skips = false;
    yield { records, bytesRead: end };
    if (fault !== undefined) throw fault;
  }
  const fault = rows.end();
  if (fault !== undefined) throw fault;
}

const FIRST_LINE = /^.*?(?:\r\n|[\r\n]|$)/s;

/** First bytes of each unsupported format, with the message that refuses it. */
const BEGINNINGS: readonly [string, string][] = [
  // First bytes of old .xls files, and of .xlsx workbooks with a password.
  ['\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1', `This is an .xls file or has a password. ${SAVE}`],
  ['%PDF', 'This is a PDF document, whose rows cannot be read. Ask for the spreadsheet it was made from.'],
  ['{\\rtf', `This is a text document, not a spreadsheet. ${SAVE}`],
  ['\u001f\u008b', COMPRESSED],
  ['Rar!', COMPRESSED],
  ["7z\u00bc\u00af'\u001c", COMPRESSED],
];

/** @returns undefined if the file may be text */
function refusalOf({ head, hasNul }: FileContent, encoding: Encoding): string | undefined {
  const start = head.toString('latin1', 0, 512);
  const [, refusal] = BEGINNINGS.find(([beginning]) => start.startsWith(beginning)) ?? [];
  if (refusal !== undefined) return refusal;
  // Many programs export a table as a web page, but name the file .xls.
  if (/^(?:\u00ef\u00bb\u00bf)?\s*<[!?a-z]/i.test(start))
    return `This is a web page or an XML document, whatever its name says. Open it in a spreadsheet. ${SAVE}`;
  if (hasNul && !encoding.startsWith('utf-16'))
    return `This is not a text file: it contains NUL characters. ${SAVE}`;
  return undefined;
}

/** First bytes of a ZIP archive, and so of a workbook. */
const ZIP = 'PK\u0003\u0004';

export interface OpenOptions extends WorkbookOptions {
  /** Encoding of a text file without a byte order mark. */
  readonly encoding?: Encoding | undefined;
  /** Result of an earlier `scanFile`, so that the file need not be scanned again. */
  readonly content?: FileContent | undefined;
}

/** Scans a file once for several calls of `openFile` with the unchanged file. @throws the system's error */
export async function scanFile(path: string): Promise<FileContent> {
  const handle = await open(path);
  try {
    return await scanContent(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Opens a file of any format. For an unsupported format, opening succeeds and `read` throws a fault.
 * @throws UnknownSheetError if a workbook lacks the sheet that the options name; the system's error
 */
export async function openFile(path: string, options: OpenOptions): Promise<RecordSource> {
  const handle = await open(path);
  try {
    const content = options.content ?? (await scanContent(handle));
    const { bytes, sha256 } = content;
    return { bytes, sha256, close: () => handle.close(), ...(await openContent(handle, content, options)) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openContent(
  handle: FileHandle,
  content: FileContent,
  options: OpenOptions,
): Promise<FormatSource> {
  if (content.head.toString('latin1', 0, ZIP.length) === ZIP) {
    try {
      return await openWorkbook(handle, content.bytes, options);
    } catch (error) {
      if (error instanceof UnreadableWorkbook) return unreadable(error.message, error);
      throw error;
    }
  }
  const encoding = encodingOf(content, options.encoding);
  const refusal = refusalOf(content, encoding.encoding);
  return refusal === undefined
    ? openCsv(handle, content, encoding, options.scoreHeader)
    : unreadable(refusal);
}

const unreadable = (refusal: string, cause?: Error): FormatSource => ({
  format: { type: 'text', encoding: 'utf-8', hasMark: false, separator: ',' },
  // biome-ignore lint/correctness/useYield: a generator that throws before its first batch
  async *read() {
    throw fileFault(1, refusal, { cause });
  },
});

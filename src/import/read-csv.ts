/** A CSV file → its records with the lines on which they start. */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';
import { FileFault } from './rows.ts';

const CHUNK_BYTES = 256 * 1024;
/** A longer record is a quote that was never closed. */
const MAX_RECORD_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;
const QUOTE = 0x22;
/** How a ZIP archive begins, which a workbook is. */
const WORKBOOK = 'PK\u0003\u0004';
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const hasByteOrderMark = (chunk: Buffer): boolean => BYTE_ORDER_MARK.every((byte, i) => chunk[i] === byte);

export interface CsvOptions {
  /** @param line on which the record starts; the header is line 1 */
  readonly onRecord: (cells: string[], line: number) => void;
  /** @param bytes read so far */
  readonly onProgress?: (bytes: number) => void;
}

const wholeFault = (line: number, message: string) => new FileFault([{ line, column: '', message }]);

/**
 * Reads a whole file. A byte order mark, CRLF, quoted fields and `;` as separator are accepted; empty lines are
 * passed over. A line without quotes is cut at its separators; from the first quote on, csv-parse reads the rest.
 * @throws FileFault for bytes that are not UTF-8, for quotes that do not match, and what onRecord throws
 */
export async function readCsv(file: string, { onRecord, onProgress }: CsvOptions): Promise<void> {
  const delimiter = await detectDelimiter(file);
  let bytes = 0;
  let lines = 0;
  let quoted: QuotedRows | undefined;
  for await (const chunk of utf8Chunks(createReadStream(file, { highWaterMark: CHUNK_BYTES }))) {
    bytes += chunk.length;
    if (quoted === undefined && chunk.includes(QUOTE)) quoted = createQuotedRows(delimiter, lines, onRecord);
    if (quoted === undefined) lines += readPlainLines(chunk, delimiter, lines, onRecord);
    else await quoted.write(chunk);
    onProgress?.(bytes);
  }
  await quoted?.end();
}

/**
 * Reads whole lines that hold no quote.
 * @param linesBefore of the file
 * @returns how many lines it read
 */
function readPlainLines(
  chunk: Buffer,
  delimiter: string,
  linesBefore: number,
  onRecord: CsvOptions['onRecord'],
): number {
  const text = chunk.toString(
    'utf8',
    linesBefore === 0 && hasByteOrderMark(chunk) ? BYTE_ORDER_MARK.length : 0,
  );
  let lines = 0;
  for (let start = 0; start < text.length; lines++) {
    const feed = text.indexOf('\n', start);
    const next = feed === -1 ? text.length : feed + 1;
    const end = feed === -1 ? text.length : feed;
    const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
    const cells = line.split(delimiter);
    // Rows of separators alone are what spreadsheets leave behind the last one.
    if (cells.some((cell) => cell.trim() !== '')) onRecord(cells, linesBefore + lines + 1);
    start = next;
  }
  return lines;
}

interface QuotedRows {
  write(chunk: Buffer): Promise<void>;
  end(): Promise<void>;
}

/** Reads the rest of a file with csv-parse. @param linesBefore lines that were read without it */
function createQuotedRows(
  delimiter: string,
  linesBefore: number,
  onRecord: CsvOptions['onRecord'],
): QuotedRows {
  const lineOf = createLineCount(linesBefore);
  const parser = parse({
    bom: linesBefore === 0,
    // Both, so that a file put together from two keeps its rows apart.
    record_delimiter: ['\r\n', '\n'],
    delimiter,
    relax_column_count: true,
    skip_records_with_empty_values: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_BYTES,
    // Handled as it is read and dropped: no record waits in a stream.
    on_record(cells: string[], { lines }: { lines: number }) {
      onRecord(cells, lineOf.record(cells, lines));
      return null;
    },
  });
  const ended = new Promise<void>((resolve, reject) => {
    parser.on('end', resolve).on('error', reject);
  });
  // Awaited below; this alone keeps a fault in the middle of a chunk from counting as unhandled.
  ended.catch(() => {});
  parser.resume();

  async function orFault<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      parser.destroy();
      throw error instanceof CsvError ? toFileFault(error, lineOf.next()) : error;
    }
  }

  return {
    async write(chunk) {
      if (parser.write(chunk)) return;
      await orFault(Promise.race([new Promise((resolve) => parser.once('drain', resolve)), ended]));
    },
    async end() {
      parser.end();
      await orFault(ended);
    },
  };
}

/** @param line on which the record starts that cannot be read */
function toFileFault(error: CsvError, line: number): FileFault {
  if (error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE') {
    return wholeFault(line, 'A quote (") is opened in this row and never closed.');
  }
  return wholeFault(
    line,
    'A quote (") stands inside a cell. Put the whole cell in quotes and double the inner one ("").',
  );
}

/**
 * The lines on which records start. csv-parse gives the line on which one ends, and counts a CRLF inside quotes
 * twice.
 */
function createLineCount(linesBefore: number) {
  let countedTwice = 0;
  let lastLine = linesBefore;
  return {
    record(cells: readonly string[], lines: number): number {
      let breaks = 0;
      for (const cell of cells) {
        if (!cell.includes('\n') && !cell.includes('\r')) continue;
        breaks += cell.match(/\r\n|\n|\r/g)?.length ?? 0;
        countedTwice += cell.match(/\r\n/g)?.length ?? 0;
      }
      lastLine = linesBefore + lines - countedTwice;
      return lastLine - breaks;
    },
    /** The line after the last record: where the one starts that could not be read. */
    next: () => lastLine + 1,
  };
}

async function detectDelimiter(file: string): Promise<',' | ';'> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16 * 1024), 0, 16 * 1024, 0);
    if (buffer.toString('latin1', 0, WORKBOOK.length) === WORKBOOK) {
      throw wholeFault(1, 'This is an Excel workbook. Save it as "CSV UTF-8" and import that file.');
    }
    const header = buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? '';
    return header.split(';').length > header.split(',').length ? ';' : ',';
  } finally {
    await handle.close();
  }
}

/** Passes chunks on at line ends, each checked to be UTF-8: a line feed is never inside a character. */
async function* utf8Chunks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const joined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = joined.lastIndexOf(LINE_FEED) + 1;
    if (end === 0 && joined.length > MAX_RECORD_BYTES)
      throw wholeFault(line, 'The line is too long to be a row.');
    const whole = joined.subarray(0, end);
    rest = joined.subarray(end);
    line += checkUtf8(whole, line);
    if (whole.length > 0) yield whole;
  }
  checkUtf8(rest, line);
  if (rest.length > 0) yield rest;
}

/** @returns how many lines the bytes have when they are valid */
function checkUtf8(bytes: Buffer, firstLine: number): number {
  const isValid = isUtf8(bytes);
  let lines = 0;
  for (let start = 0; start < bytes.length; lines++) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed;
    if (!isValid && !isUtf8(bytes.subarray(start, end))) {
      throw wholeFault(
        firstLine + lines,
        'The line is not UTF-8. Save the file as "CSV UTF-8" and import it again.',
      );
    }
    start = end + 1;
  }
  return lines;
}

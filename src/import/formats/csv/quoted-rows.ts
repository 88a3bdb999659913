/** Rows with quotes → their records, by csv-parse. */
import { CsvError, parse } from 'csv-parse';
import { type FileFault, type FileRecord, fileFault } from '../source/records.ts';
import { MAX_RECORD_BYTES } from './chunks.ts';
import { LINE_END } from './line-ends.ts';

export interface QuotedRows {
  /** Resolves when the bytes are parsed. @returns the fault of a row that cannot be read */
  write(bytes: Buffer): Promise<FileFault | undefined>;
  /** Ends the file. @returns as `write` does */
  end(): Promise<FileFault | undefined>;
  /** The records since the last call. */
  take(): FileRecord[];
}

/**
 * Cells such as `="1198…"` without quotes around them, as database tools write them, become cells in quotes.
 * In a quoted cell every quote is doubled, so nothing in one looks like this.
 * @returns a function of the bytes of entire lines
 */
function createFormulaQuoting(separator: string): (bytes: Buffer) => Buffer {
  const ends = `\\r\\n${separator}`;
  const cell = new RegExp(`(^|[${ends}])="([^"${ends}]+)"(?=[${ends}]|$)`, 'g');
  return (bytes) =>
    bytes.includes('="') ? Buffer.from(bytes.toString('utf8').replace(cell, QUOTED)) : bytes;
}

/** What precedes the cell, and the cell in quotes, with its own doubled. */
const QUOTED = '$1"=""$2"""';

/** @param linesBefore lines of the file that were read without this */
export function createQuotedRows(separator: string, linesBefore: number): QuotedRows {
  const lineCount = createLineCount(linesBefore);
  const quoteFormulas = createFormulaQuoting(separator);
  let records: FileRecord[] = [];
  const parser = parse({
    // All of them, so that a file put together from several keeps its rows apart.
    record_delimiter: ['\r\n', '\n', '\r'],
    delimiter: separator,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_BYTES,
    // Records are collected as they are read and never queue in a stream.
    on_record(cells: string[], { lines }: { lines: number }) {
      const { line, lastLine } = lineCount.record(cells, lines);
      if (cells.some((cell) => cell.trim() !== ''))
        records.push(line === lastLine ? { line, cells } : { line, lastLine, cells });
      return null;
    },
  });
  parser.resume();
  // Each error is also given to the callback of the call that met it.
  parser.on('error', () => {});

  function toFault(error: Error | null | undefined): FileFault | undefined {
    if (error === null || error === undefined) return undefined;
    if (error instanceof CsvError) return faultOf(error, lineCount.next());
    throw error;
  }

  return {
    async write(bytes) {
      const quoted = quoteFormulas(bytes);
      return toFault(await new Promise<Error | null | undefined>((resolve) => parser.write(quoted, resolve)));
    },
    end: async () =>
      toFault(
        await new Promise<Error | undefined>((resolve) => {
          parser.once('error', resolve).once('end', () => resolve(undefined));
          parser.end();
        }),
      ),
    take() {
      const taken = records;
      records = [];
      return taken;
    },
  };
}

/** @param line on which the row starts that cannot be read */
function faultOf(error: CsvError, line: number): FileFault {
  const text =
    error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE'
      ? 'A quote (") is opened in this row and never closed.'
      : 'A quote (") appears inside a cell. Put the entire cell in quotes and double the inner one ("").';
  return fileFault(line, text, { cause: error.code });
}

/**
 * The lines on which records start. csv-parse gives the line on which one ends, and counts a CRLF inside
 * quotes twice.
 */
function createLineCount(linesBefore: number) {
  let countedTwice = 0;
  let lastLine = linesBefore;
  return {
    record(cells: readonly string[], lines: number): { line: number; lastLine: number } {
      let breaks = 0;
      for (const cell of cells) {
        if (!cell.includes('\n') && !cell.includes('\r')) continue;
        breaks += cell.split(LINE_END).length - 1;
        countedTwice += cell.match(/\r\n/g)?.length ?? 0;
      }
      lastLine = linesBefore + lines - countedTwice;
      return { line: lastLine - breaks, lastLine };
    },
    /** The line after the last record: where the one starts that could not be read. */
    next: () => lastLine + 1,
  };
}

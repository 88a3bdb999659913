/** The text of a CSV file → its records, as RFC 4180 has them, with the lines on which they are. */
import { type FileFault, type FileRecord, fileFault } from '../source/records.ts';
import { MAX_RECORD_BYTES } from './chunks.ts';
import { LINE_END, splitLines } from './line-ends.ts';

export interface CsvRows {
  /** Reads on, up to a row that is not complete or cannot be read. @param text of entire lines */
  read(text: string): ReadRows;
  /** Ends the file. @returns the fault of a row that is not complete */
  end(): FileFault | undefined;
}

export interface ReadRows {
  readonly records: FileRecord[];
  /** What is wrong with the row after them; nothing behind it is read. */
  readonly fault: FileFault | undefined;
}

const NEVER_CLOSED = 'A quote (") is opened in this row and never closed.';
const INSIDE_CELL =
  'A quote (") appears inside a cell. Put the entire cell in quotes and double the inner one ("").';
/** Such as `="1198…"` without quotes around it, as database tools write it: it is its own text. */
const FORMULA = /^="[^"]+"$/;

/** @param linesBefore lines of the file that are not read by this */
export function createCsvRows(separator: string, linesBefore: number): CsvRows {
  let lines = linesBefore;
  /** The row that is not complete. */
  let rest = '';

  /** Lines without quotes are cut at their separators, which is fast. */
  function readPlain(text: string, records: FileRecord[]): void {
    for (const line of splitLines(text)) {
      lines++;
      if (line !== '') addRecord(records, lines, lines, line.split(separator));
    }
  }

  return {
    read(more) {
      const text = rest + more;
      const records: FileRecord[] = [];
      rest = '';
      for (let at = 0; at < text.length; ) {
        const start = startOfQuotedLine(text, at);
        if (start > at) readPlain(text.slice(at, start), records);
        if (start === text.length) break;
        const row = readRow(text, start, separator);
        const size = (row === 'open' || row === 'broken' ? text.length : row.end) - start;
        if (row === 'broken') return { records, fault: fileFault(lines + 1, INSIDE_CELL) };
        if (size > MAX_RECORD_BYTES) return { records, fault: fileFault(lines + 1, NEVER_CLOSED) };
        if (row === 'open') {
          rest = text.slice(start);
          break;
        }
        const line = lines + 1;
        lines = line + row.breaks;
        addRecord(records, line, lines, row.cells);
        at = row.end;
      }
      return { records, fault: undefined };
    },
    end: () => (rest === '' ? undefined : fileFault(lines + 1, NEVER_CLOSED)),
  };
}

/** Rows of separators only are what spreadsheets leave behind the last one. */
function addRecord(records: FileRecord[], line: number, lastLine: number, cells: readonly string[]): void {
  if (cells.every((cell) => cell.trim() === '')) return;
  records.push(line === lastLine ? { line, cells } : { line, lastLine, cells });
}

/** Where the line of the next quote begins, or the end of the text. @param at where a line begins */
function startOfQuotedLine(text: string, at: number): number {
  const quote = text.indexOf('"', at);
  if (quote < 0) return text.length;
  for (let i = quote; i > at; i--) if (isLineEnd(text, i - 1)) return i;
  return at;
}

const isLineEnd = (text: string, at: number): boolean => text[at] === '\n' || text[at] === '\r';

interface QuotedRow {
  readonly cells: string[];
  /** Line ends inside its cells. */
  readonly breaks: number;
  /** Where the next row begins. */
  readonly end: number;
}

/** @returns `open` where the text ends in quotes, `broken` where a quote is in the middle of a cell */
function readRow(text: string, start: number, separator: string): QuotedRow | 'open' | 'broken' {
  const cells: string[] = [];
  let [at, breaks] = [start, 0];
  for (;;) {
    let end = at;
    let cell: string;
    if (text[at] === '"') {
      const close = closingQuote(text, at);
      if (close < 0) return 'open';
      end = close + 1;
      cell = text.slice(at + 1, close).replaceAll('""', '"');
      if (/[\r\n]/.test(cell)) breaks += cell.split(LINE_END).length - 1;
      if (end < text.length && text[end] !== separator && !isLineEnd(text, end)) return 'broken';
    } else {
      while (end < text.length && text[end] !== separator && !isLineEnd(text, end)) end++;
      cell = text.slice(at, end);
      if (cell.includes('"') && !FORMULA.test(cell)) return 'broken';
    }
    cells.push(cell);
    at = end + 1;
    if (text[end] === separator) continue;
    return { cells, breaks, end: text[end] === '\r' && text[at] === '\n' ? at + 1 : at };
  }
}

/** The quote that ends a cell: doubled ones are inside of it. @returns -1 where the text has none */
function closingQuote(text: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0 || text[at + 1] !== '"') return at;
  }
}

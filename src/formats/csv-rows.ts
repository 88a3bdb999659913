/** Parses the text of a CSV file into records as in RFC 4180, with their line numbers. */

import { LINE_END, MAX_RECORD_BYTES, splitLines } from './file-content.ts';
import { type FileFault, type FileRecord, fileFault } from './records.ts';

interface CsvRows {
  /** Continues up to a row that is incomplete or cannot be read. @param text of entire lines */
  read(text: string): ReadRows;
  /** Ends the file. @returns the fault of an incomplete row */
  end(): FileFault | undefined;
}

interface ReadRows {
  readonly records: FileRecord[];
  /** Fault of the row after them; nothing after it is read. */
  readonly fault: FileFault | undefined;
}

const NEVER_CLOSED = 'A quote (") is opened in this row and never closed.';
const INSIDE_CELL =
  'A quote (") appears inside a cell. Put the entire cell in quotes and double the inner one ("").';
/** A cell such as `="1198…"` without quotes around it, as database tools write it, is taken literally. */
const FORMULA = /^="[^"]+"$/;

/** @param linesBefore lines of the file that precede the text */
export function createCsvRows(separator: string, linesBefore: number): CsvRows {
  let lines = linesBefore;
  /** Text of the incomplete row. */
  let rest = '';

  /** Splits lines without quotes at their separators, which is fast. */
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

/** Leaves out rows of separators only, which spreadsheets write after the last row. */
function addRecord(records: FileRecord[], line: number, lastLine: number, cells: readonly string[]): void {
  if (cells.every((cell) => cell.trim() === '')) return;
  records.push(line === lastLine ? { line, cells } : { line, lastLine, cells });
}

/** Beginning of the line with the next quote, or the end of the text. @param at beginning of a line */
function startOfQuotedLine(text: string, at: number): number {
  const quote = text.indexOf('"', at);
  if (quote < 0) return text.length;
  for (let i = quote; i > at; i--) if (isLineEnd(text, i - 1)) return i;
  return at;
}

const isLineEnd = (text: string, at: number): boolean => text[at] === '\n' || text[at] === '\r';

interface QuotedRow {
  readonly cells: string[];
  /** Number of line ends inside its cells. */
  readonly breaks: number;
  /** Beginning of the next row. */
  readonly end: number;
}

/** @returns `open` if the text ends in quotes, `broken` if a quote is in the middle of a cell */
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

/** Position of the quote that ends a cell, which a doubled one does not. @returns -1 if the text has none */
function closingQuote(text: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0 || text[at + 1] !== '"') return at;
  }
}

/** Parses CSV text into records (RFC 4180), and detects the separator. */

import { LINE_END, MAX_RECORD_BYTES } from './file-content.ts';
import { type FileFault, type FileRecord, fileFault, HEADER_ROWS, type ScoreHeader } from './records.ts';

const NEVER_CLOSED = 'A quote (") is opened in this row and never closed.';
const INSIDE_CELL =
  'A quote (") appears inside a cell. Put the entire cell in quotes and double the inner one ("").';
/** Matches cells such as `="1198…"`. Database tools write them without outer quotes. */
const FORMULA = /^="[^"]+"$/;

function splitLines(text: string): string[] {
  const lines = text.includes('\r') ? text.split(LINE_END) : text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** @param linesBefore number of lines of the file before the text */
export function createCsvRows(separator: string, linesBefore: number) {
  let lines = linesBefore;
  /** Text of an incomplete last row. */
  let rest = '';

  /** Splits lines without quotes at their separators, which is faster than parsing. */
  function readPlain(text: string, records: FileRecord[]): void {
    for (const line of splitLines(text)) {
      lines++;
      if (line !== '') addRecord(records, lines, lines, line.split(separator));
    }
  }

  return {
    /** Parses the next part of the file, up to an incomplete or faulty row. @param text complete lines */
    read(text: string): { readonly records: FileRecord[]; readonly fault: FileFault | undefined } {
      const unread = rest + text;
      const records: FileRecord[] = [];
      rest = '';
      for (let at = 0; at < unread.length; ) {
        const start = startOfQuotedLine(unread, at);
        if (start > at) readPlain(unread.slice(at, start), records);
        if (start === unread.length) break;
        const row = readRow(unread, start, separator);
        const size = (row === 'open' || row === 'broken' ? unread.length : row.end) - start;
        if (row === 'broken') return { records, fault: fileFault(lines + 1, INSIDE_CELL) };
        if (size > MAX_RECORD_BYTES) return { records, fault: fileFault(lines + 1, NEVER_CLOSED) };
        if (row === 'open') {
          rest = unread.slice(start);
          break;
        }
        const line = lines + 1;
        lines = line + row.lineEnds;
        addRecord(records, line, lines, row.cells);
        at = row.end;
      }
      return { records, fault: undefined };
    },
    /** Returns the number of the next line, after the lines of an incomplete last row. */
    nextLine: () => lines + splitLines(rest).length + 1,
    /** Returns the fault of an incomplete last row. */
    end: () => (rest === '' ? undefined : fileFault(lines + 1, NEVER_CLOSED)),
  };
}

/** Skips rows that consist of separators only, which spreadsheets write after the last row. */
function addRecord(records: FileRecord[], line: number, lastLine: number, cells: readonly string[]): void {
  if (cells.every((cell) => cell.trim() === '')) return;
  records.push(line === lastLine ? { line, cells } : { line, lastLine, cells });
}

/** Returns the start of the next line with a quote, or the end of the text. @param at start of a line */
function startOfQuotedLine(text: string, at: number): number {
  const quote = text.indexOf('"', at);
  if (quote < 0) return text.length;
  for (let i = quote; i > at; i--) if (isLineEnd(text, i - 1)) return i;
  return at;
}

const isLineEnd = (text: string, at: number): boolean => text[at] === '\n' || text[at] === '\r';

/** @returns `open` if the text ends inside quotes; `broken` if a quote is in the middle of a cell */
function readRow(text: string, start: number, separator: string) {
  const cells: string[] = [];
  let [at, lineEnds] = [start, 0];
  for (;;) {
    let end = at;
    let cell: string;
    if (text[at] === '"') {
      const close = closingQuote(text, at);
      if (close < 0) return 'open' as const;
      end = close + 1;
      cell = text.slice(at + 1, close).replaceAll('""', '"');
      if (/[\r\n]/.test(cell)) lineEnds += cell.split(LINE_END).length - 1;
      if (end < text.length && text[end] !== separator && !isLineEnd(text, end)) return 'broken' as const;
    } else {
      while (end < text.length && text[end] !== separator && !isLineEnd(text, end)) end++;
      cell = text.slice(at, end);
      if (cell.includes('"') && !FORMULA.test(cell)) return 'broken';
    }
    cells.push(cell);
    at = end + 1;
    if (text[end] === separator) continue;
    return { cells, lineEnds, end: text[end] === '\r' && text[at] === '\n' ? at + 1 : at };
  }
}

/** Returns the index of the closing quote; -1 if the text ends before it. Skips doubled quotes. */
function closingQuote(text: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0 || text[at + 1] !== '"') return at;
  }
}

export const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Maximum number of rows to examine: title rows may precede the header. */
const ROWS = 30;

/**
 * Returns the separator that finds the most known headings in one row. Among equal separators, it prefers the
 * one with which most rows have the same number of cells, then the one with more cells. Commas in titles or
 * decimals are thus not mistaken for separators.
 * @param head the beginning of the file
 * @param isComplete true if `head` is the entire file; otherwise the last line of `head` may be incomplete
 */
export function detectSeparator(head: string, isComplete: boolean, scoreHeader: ScoreHeader): string {
  let best: { separator: string; marks: readonly number[] } | undefined;
  for (const separator of SEPARATORS) {
    // Broken quotes are reported later, when the file is read.
    const { records } = createCsvRows(separator, 0).read(head);
    const rows = records.slice(0, ROWS).map(({ cells }) => cells);
    if (!isComplete && rows.length > 1 && rows.length < ROWS) rows.pop();
    const headings = Math.max(0, ...rows.slice(0, HEADER_ROWS).map(scoreHeader));
    const marks = [headings, ...regularity(rows)];
    if (best === undefined || isGreater(marks, best.marks)) best = { separator, marks };
  }
  return best?.separator ?? ',';
}

/** Returns the number of rows with the most common width, and this width. Ignores rows of one cell. */
function regularity(rows: readonly (readonly string[])[]): [number, number] {
  const counts = new Map<number, number>();
  for (const { length } of rows) if (length > 1) counts.set(length, (counts.get(length) ?? 0) + 1);
  let best: [number, number] = [0, 0];
  for (const [width, count] of counts) if (isGreater([count, width], best)) best = [count, width];
  return best;
}

/** Compares lists of numbers by their first difference. */
function isGreater(a: readonly number[], b: readonly number[]): boolean {
  const i = a.findIndex((value, place) => value !== b[place]);
  return i >= 0 && (a[i] as number) > (b[i] as number);
}

/** Returns the separator that the first line of a file names, as in `sep=;`, which Excel writes. */
export function namedSeparator(head: string): string | undefined {
  const [line = ''] = head.split(LINE_END, 1);
  return /^"?sep=([,;\t|])"?$/i.exec(line)?.[1];
}

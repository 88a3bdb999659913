/** Detects the character that separates the cells of a text file, from its first rows. */

import { createCsvRows } from './csv-rows.ts';
import { LINE_END } from './file-content.ts';
import { HEADER_ROWS } from './records.ts';

export const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Counts the headings of the kind in a row. */
export type ScoreHeader = (cells: readonly string[]) => number;

/** Number of rows examined, as title rows may precede the header. */
const ROWS = 30;

/**
 * The separator with which a row has most headings; otherwise the one with which most rows have the same
 * number of cells, the larger number first. Thus neither the commas of a title nor those of decimals are
 * mistaken for separators.
 * @param head the beginning of the file
 * @param isComplete true if it is the entire file: otherwise its last line may be incomplete
 */
export function detectSeparator(head: string, isComplete: boolean, scoreHeader: ScoreHeader): string {
  let best: { separator: string; marks: readonly number[] } | undefined;
  for (const separator of SEPARATORS) {
    const rows = firstRows(head, separator);
    if (!isComplete && rows.length > 1 && rows.length < ROWS) rows.pop();
    const headings = Math.max(0, ...rows.slice(0, HEADER_ROWS).map(scoreHeader));
    const marks = [headings, ...regularity(rows)];
    if (best === undefined || isGreater(marks, best.marks)) best = { separator, marks };
  }
  return best?.separator ?? ',';
}

/** Number of rows with the commonest number of cells, and that number. Rows of one cell are not separated. */
function regularity(rows: readonly (readonly string[])[]): [number, number] {
  const counts = new Map<number, number>();
  for (const { length } of rows) if (length > 1) counts.set(length, (counts.get(length) ?? 0) + 1);
  let best: [number, number] = [0, 0];
  for (const [width, count] of counts) if (isGreater([count, width], best)) best = [count, width];
  return best;
}

function isGreater(a: readonly number[], b: readonly number[]): boolean {
  const i = a.findIndex((value, place) => value !== b[place]);
  return i >= 0 && (a[i] as number) > (b[i] as number);
}

/** The first rows with a value; broken quotes are reported when the file is read. */
const firstRows = (text: string, separator: string): (readonly string[])[] =>
  createCsvRows(separator, 0)
    .read(text)
    .records.slice(0, ROWS)
    .map(({ cells }) => cells);

/**
 * The separator in a first line such as `sep=;`, which Excel writes.
 * @returns undefined if the file has no such line
 */
export function namedSeparator(head: string): string | undefined {
  const [line = ''] = head.split(LINE_END, 1);
  return /^"?sep=([,;\t|])"?$/i.exec(line)?.[1];
}

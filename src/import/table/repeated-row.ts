/**
 * The mark of a row that was rejected because its file has it twice, in the column `registry_repeats`: such a
 * row, imported as it was, would overwrite the other one (docs/import-reference.md#rejects).
 */
import { hash } from 'node:crypto';
import type { FileRecord } from '../formats/source/records.ts';
import type { RowFindings } from './cell-reader.ts';
import { type Heading, REPEATS_COLUMN } from './headings.ts';

const MARK = /^key:[0-9a-f]{16}$/;
/** The first that a kind of file has identifies its rows, in their cooperative. */
const KEYS = ['code', 'reference', 'identity_card'];
/** What spreadsheets add to a code or number, and people between its digits. */
const AROUND = /[\s"'=]/g;

/** @returns gives the mark of a row by the cells that identify it */
export function createMarks(headings: readonly Heading[]): (cells: readonly string[]) => string {
  const placeOf = (name: string) => headings.findIndex(({ column }) => column === name);
  const key = KEYS.map(placeOf).find((place) => place >= 0) ?? -1;
  const places = [placeOf('cooperative_code'), key];
  return (cells) => {
    const values = places.map((place) => (cells[place] ?? '').replace(AROUND, '').toUpperCase());
    return `key:${hash('sha256', values.join('\n')).slice(0, 16)}`;
  };
}

const REPEATED =
  'This row was rejected because its file has it twice. Correct what tells the two apart, or leave it out; ' +
  'if this one is right, empty this cell.';

/** @param place of the column, -1 for a file without it */
export function createRepeatCheck(
  place: number,
  headings: readonly Heading[],
): (record: FileRecord, findings: RowFindings) => void {
  if (place < 0) return () => {};
  const markOf = createMarks(headings);
  return ({ cells }, findings) => {
    const mark = (cells[place] ?? '').trim();
    if (mark === '') return;
    if (mark === markOf(cells)) findings.fault(REPEATS_COLUMN, REPEATED);
    else if (!MARK.test(mark))
      findings.fault(
        REPEATS_COLUMN,
        'This cell is not as the rejects had it. Copy it from there, or empty it.',
      );
  };
}

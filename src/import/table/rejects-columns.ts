/** Columns `registry_file` and `registry_repeats` of rejects (docs/import-reference.md#rejects). */

import { hash } from 'node:crypto';
import { FILE_COLUMN, REPEATS_COLUMN } from '../../registry/file-columns.ts';
import type { FileRecord } from '../files/records.ts';
import type { RowFindings } from './cell-reader.ts';
import type { Heading } from './header.ts';

// Column `registry_file`: the files that have rejected a row

const DIGITS = 16;
const FILES = /^sha256:[0-9a-f]{16}(?: sha256:[0-9a-f]{16}){0,99}$/;
/** Maximum number of distinct cells. A separate query looks up the rows of each cell. */
const MAX_CELLS = 100;

const DIFFERENT = 'This cell differs from the one in the rejects. Copy it from there again, or empty it.';

/**
 * Returns the cell `registry_file` of a row that was rejected: the earlier files, then this file.
 * @param sha256 of this file @param before the row's cell in this file
 */
export function filesOf(sha256: string, before: string): string {
  const file = `sha256:${sha256.slice(0, DIGITS)}`;
  return FILES.test(before) ? `${before} ${file}` : file;
}

/** @returns a function that returns undefined for a row that no file has rejected */
export function createFilesReader(place: number) {
  const distinct = new Set<string>();
  return ({ cells }: FileRecord, findings: RowFindings): string | undefined => {
    const cell = cells[place]?.trim() ?? '';
    if (cell === '') return undefined;
    if (!FILES.test(cell)) findings.fault(FILE_COLUMN, DIFFERENT);
    else if (distinct.size < MAX_CELLS) distinct.add(cell);
    else if (!distinct.has(cell))
      findings.fault(
        FILE_COLUMN,
        `The rows are from more than ${MAX_CELLS} files. Import each rejects file separately.`,
      );
    return cell;
  };
}

// Column `registry_repeats`: a mark of rows that were rejected because they repeat another row of their file.
// If imported unchanged, a marked row would overwrite the other row.

const MARK = /^key:[0-9a-f]{16}$/;
/** Columns that identify a row within its cooperative. A mark uses the first one that the file has. */
const KEYS = ['code', 'reference', 'identity_card'];
/** Characters that spreadsheets add around a code or number, or that people write between digits. */
const AROUND = /[\s"'=]/g;

/** @returns a function that computes the mark of a row: a hash of the cells that identify the row */
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

export function createRepeatCheck(place: number, headings: readonly Heading[]) {
  const markOf = createMarks(headings);
  return ({ cells }: FileRecord, findings: RowFindings): void => {
    const mark = cells[place]?.trim() ?? '';
    if (mark === '') return;
    if (mark === markOf(cells)) findings.fault(REPEATS_COLUMN, REPEATED);
    else if (!MARK.test(mark)) findings.fault(REPEATS_COLUMN, DIFFERENT);
  };
}

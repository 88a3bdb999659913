/** Which files have rejected a row, in the column `registry_file` (docs/import-reference.md#rejects). */
import type { FileRecord } from '../formats/source/records.ts';
import type { RowFindings } from './cell-reader.ts';
import { FILE_COLUMN } from './headings.ts';

const DIGITS = 16;
const FILES = /^sha256:[0-9a-f]{16}(?: sha256:[0-9a-f]{16}){0,99}$/;
/** Rows of each are looked up apart. */
const MAX_CELLS = 100;

/** The cell of a row of this file. @param before its cell, when other files have rejected it already */
export function filesOf(sha256: string, before: string): string {
  const own = `sha256:${sha256.slice(0, DIGITS)}`;
  return FILES.test(before) ? `${before} ${own}` : own;
}

/**
 * @param place of the column, -1 for a file without it
 * @returns reads the cell of a row; undefined for one that no file has rejected
 */
export function createFilesReader(
  place: number,
): (record: FileRecord, findings: RowFindings) => string | undefined {
  if (place < 0) return () => undefined;
  const known = new Set<string>();
  return ({ cells }, findings) => {
    const cell = (cells[place] ?? '').trim();
    if (cell === '') return undefined;
    if (!FILES.test(cell))
      findings.fault(FILE_COLUMN, 'This cell is not as the rejects had it. Copy it from there, or empty it.');
    else if (known.size < MAX_CELLS) known.add(cell);
    else if (!known.has(cell))
      findings.fault(FILE_COLUMN, `The rows are of more than ${MAX_CELLS} files. Import the rejects apart.`);
    return cell;
  };
}

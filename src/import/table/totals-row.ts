/** Rows of totals among or below the rows of a file (docs/import-reference.md#notes). */
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { isEmptyWord, trimmedCell } from '../cells/blanks.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import type { Header } from './header.ts';

const WORDS = 'total|totals|totale|totaux|somme|sum|igiteranyo|yose|byose|zose';
const TOTAL = new RegExp(`^(?:(?:grand|sous|sub)[\\s-]*)?(?:${WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** What says whose row it is. The cooperative's code may be filled in everywhere, so it does not count. */
const IDENTITY = ['code', 'identity_card', 'member_code', 'loan_reference', 'reference', 'account_number'];

/**
 * Whether a row that cannot be read is one of totals: its first cell says so, and nothing identifies it. It
 * is not asked of a row without a fault, so a person called Total stays a person.
 */
export function isTotalsRow(
  kind: ImportKind,
  { places, headings }: Pick<Header, 'places' | 'headings'>,
  cells: readonly string[],
): boolean {
  const isOfCooperative = (place: number) => headings[place]?.column === 'cooperative_code';
  const isTotal = (place: number) => TOTAL.test(trimmedCell(cells, place));
  const first = cells.findIndex(
    (cell, place) => cell.trim() !== '' && !(isOfCooperative(place) && !isTotal(place)),
  );
  if (!isTotal(first)) return false;
  return IMPORT_COLUMNS[kind].every(({ name }, i) => {
    const place = places[i] as number;
    const cell = (cells[place] ?? '').trim();
    return !IDENTITY.includes(name) || place === first || cell === '' || isEmptyWord(cell);
  });
}

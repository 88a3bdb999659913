/** The headings of a file, each with the column that it means, is guessed to mean, or null. */
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { valueIn } from '../cells/blanks.ts';
import type { CellContext } from '../cells/context.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import { foldHeading } from '../dictionary/fold.ts';
import { addedColumnOf, FAULTS_COLUMN, mayBeData, recogniseHeadings } from '../table/headings.ts';
import { isTotalsRow } from '../table/totals-row.ts';
import { type Guess, guessColumns } from './guess-columns.ts';
import type { FileSample } from './sample-file.ts';

export interface PlacedHeading {
  readonly text: string;
  readonly column: string | null;
  /** By what the column is known. */
  readonly by?: 'name' | 'dictionary' | Guess['by'];
  /** Whether a map can name it: it is not blank, no other heading has the same letters, and it is no data. */
  readonly isNameable: boolean;
}

/** By place: the headings of a sample. */
export function placeHeadings(
  { header, rows }: FileSample,
  { kind, cells }: { kind: ImportKind; cells: CellContext },
): PlacedHeading[] {
  const recognised = recogniseHeadings(kind, header.cells);
  const spellings = countBy(recognised, ({ text }) => foldHeading(text));
  const known = withoutRivals(
    recognised.map((heading) => toPlaced(heading, (spellings.get(foldHeading(heading.text)) ?? 0) > 1)),
  );
  const taken = new Set(known.flatMap(({ column }) => column ?? []));
  const isTotals = totalsCheck(kind, known);
  const counted = rows.filter((row) => !isTotals(row.cells));
  const unknown = known.flatMap(({ text, isNameable, column }, place) => {
    if (column !== null || !isNameable) return [];
    const values = counted.map((row) => valueIn(row.cells, place)).filter((value) => value !== '');
    return [{ place, text, values }];
  });
  const guesses = guessColumns(unknown, { kind, cells, taken });
  return known.map((heading, place) => {
    const guess = guesses.find((each) => each.place === place);
    return guess === undefined ? heading : { ...heading, column: guess.column, by: guess.by };
  });
}

/** Whether a row is one of totals, as far as the headings show. */
export function totalsCheck(
  kind: ImportKind,
  placed: readonly PlacedHeading[],
): (cells: readonly string[]) => boolean {
  const headings = placed.map(({ text, column }) => ({ text, column }));
  const places = IMPORT_COLUMNS[kind].map(({ name }) => headings.findIndex(({ column }) => column === name));
  return (cells) => isTotalsRow(kind, { places, headings }, cells);
}

type Recognised = ReturnType<typeof recogniseHeadings>[number];

/** @param isRepeated whether another heading has the same letters */
function toPlaced({ text, column, by }: Recognised, isRepeated: boolean): PlacedHeading {
  const isNameable = text !== '' && addedColumnOf(text) !== FAULTS_COLUMN && !isRepeated && !mayBeData(text);
  if (typeof column !== 'string' || by === 'map' || (isRepeated && by !== 'name'))
    return { text, column: null, isNameable };
  return { text, column, isNameable, ...(by !== undefined && { by }) };
}

/** Of several headings that mean one column only its exact name keeps it: which is right is not known. */
function withoutRivals(headings: readonly PlacedHeading[]): PlacedHeading[] {
  const rivals = countBy(headings, ({ column }) => column);
  return headings.map((heading) => {
    const isOnly = heading.column === null || rivals.get(heading.column) === 1;
    if (isOnly || heading.by === 'name') return heading;
    return { text: heading.text, column: null, isNameable: heading.isNameable };
  });
}

/** How many have each key. */
function countBy<T, Key>(all: readonly T[], keyOf: (each: T) => Key): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  for (const each of all) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  return counts;
}

/** What was chosen on the page → the map that the import reads the file by. */
import { IMPORT_COLUMNS } from '../../../import/columns/columns.ts';
import type { MapProposal } from '../../../import/proposal/propose-map.ts';
import type { Form } from '../../visit/screen.ts';

/** Beyond them a file has columns that nobody chooses from; they are ignored. */
const MOST_UNKNOWN = 60;

/** Names of the fields of the form. */
export const FIELD = {
  heading: (place: number) => `heading-${place}`,
  constant: (column: string) => `constant-${column}`,
  word: (column: string, place: number) => `word-${column}-${place}`,
} as const;

/** Places of the headings that are asked about: those that mean something, and the first of the others. */
export function askedHeadings({ headings }: MapProposal): readonly number[] {
  let unknown = 0;
  return headings.flatMap(({ isNameable, column }, place) => {
    if (!isNameable) return [];
    return column !== null || ++unknown <= MOST_UNKNOWN ? place : [];
  });
}

/** Columns of which every row may have the same value, as no heading is read as them. */
export function askedConstants({ document, headings }: MapProposal): readonly string[] {
  const { kind, constants = {} } = document;
  const given = new Set(headings.map(({ column }) => column));
  const also = IMPORT_COLUMNS[kind].map(({ name }) => name).filter((name) => name === 'paid_until');
  return [...Object.keys(constants), ...also.filter((name) => !given.has(name))];
}

/** @returns the map as a JSON text; what was left open is left out */
export function chosenMap(proposal: MapProposal, form: Form): string {
  const { document, headings, unknownWords } = proposal;
  const asked = new Set(askedHeadings(proposal));
  const columns: [string, string | null][] = headings.flatMap(({ text, column, isNameable }, place) => {
    if (!isNameable) return [];
    return [[text, asked.has(place) ? form.get(FIELD.heading(place)) || null : column]];
  });
  const taken = new Set(columns.map(([, column]) => column));
  const constants = askedConstants(proposal).flatMap((column) => {
    const given = form.get(FIELD.constant(column));
    return given === '' || taken.has(column) ? [] : [[column, given] as const];
  });
  const values = unknownWords.flatMap(({ column, words }) => {
    const chosen = words.flatMap((word, place) => {
      const value = form.get(FIELD.word(column, place));
      return value === '' ? [] : [[word, value] as const];
    });
    return chosen.length === 0 ? [] : [[column, Object.fromEntries(chosen)] as const];
  });
  const { dates, decimal } = document;
  return JSON.stringify({
    ...document,
    columns: Object.fromEntries(columns),
    constants: Object.fromEntries(constants),
    values: Object.fromEntries(values),
    dates: dates === null ? form.get('dates') || undefined : dates,
    decimal: decimal === null ? form.get('decimal') || undefined : decimal,
  });
}

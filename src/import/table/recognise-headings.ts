/** Recognises the columns that the headings of a file name. */

import {
  ADDED_LABELS,
  byKind,
  FAULTS_COLUMN,
  FILE_COLUMN,
  FILE_COLUMNS,
  type ImportKind,
  REPEATS_COLUMN,
} from '../../registry/file-columns.ts';
import { inLanguage, LANGUAGES, type Language } from '../../values/language.ts';
import { BRACKETS, HEADINGS, SINGLE_NAMES } from '../reading/dictionary-headings.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { foldHeading, foldPhrase } from '../reading/fold-and-misspellings.ts';
import { IMPORT_COLUMNS } from './columns.ts';

type AddedColumn = typeof FAULTS_COLUMN | typeof FILE_COLUMN | typeof REPEATS_COLUMN;

/** @param labels language of the heading; undefined to use the column's name, which has no language */
export const addedHeading = (column: AddedColumn, labels: Language | undefined): string =>
  labels === undefined ? column : inLanguage(ADDED_LABELS[column], labels);

/** Returns all possible headings of a column that files of rejects add. */
export const addedHeadingsOf = (column: AddedColumn): readonly string[] => [
  ...new Set([undefined, ...LANGUAGES].map((language) => addedHeading(column, language))),
];

const ADDED = new Map(
  ([FAULTS_COLUMN, FILE_COLUMN, REPEATS_COLUMN] as const).flatMap((column) =>
    addedHeadingsOf(column).map((heading): [string, AddedColumn] => [heading.toLowerCase(), column]),
  ),
);

/** Returns the column that rejects add under a heading, or undefined for any other heading. */
export const addedColumnOf = (text: string): AddedColumn | undefined => ADDED.get(text.trim().toLowerCase());

/** Maximum number of columns in the header of a file: the maximum of spreadsheets. */
export const MAX_COLUMNS = 16_384;

export interface Heading {
  /** Trimmed text in the file; empty for a column without a heading. */
  readonly text: string;
  /** Name of the column; null if the heading is ignored, undefined if it is not recognised. */
  readonly column: string | null | undefined;
  /** Reason for the recognition: the column's `name` in any letter case, the `map`, or the `dictionary`. */
  readonly by?: 'name' | 'map' | 'dictionary';
}

/** Recognises the headings of a row (docs/import-reference.md#headings). */
export function recogniseHeadings(kind: ImportKind, cells: readonly string[], map?: FileLayout): Heading[] {
  const headings = cells.map((cell) => recognise(kind, cell.trim(), map));
  const exact = new Set(headings.filter(({ by }) => by === 'name').map(({ column }) => column));
  const columns = headings.map(({ column }) => column);
  const hasFirstNames = columns.includes('first_name') && !columns.includes('last_name');
  return headings.map((heading, i) => {
    const { text, column, by } = heading;
    if (by !== 'dictionary') return heading;
    // An export has a column of row ids, which is ignored, besides the column with the code or reference.
    if (IDS.includes(text) && exact.has(column)) return { text, column: undefined };
    if (kind === 'members')
      return hasFirstNames && SINGLE.has(foldPhrase(text)) ? { ...heading, column: 'last_name' } : heading;
    // A ledger's names are only compared with stored names, so the first column of names is enough.
    const isFurtherName = column === 'full_name' && i !== columns.indexOf('full_name');
    return isFurtherName ? { text, column: undefined } : heading;
  });
}

/** Headings of row ids in exports. In files of cooperatives, these are headings of codes and references. */
const IDS: readonly string[] = ['id', 'member_id', 'loan_id'];

function recognise(kind: ImportKind, text: string, map: FileLayout | undefined): Heading {
  if (text === '') return { text, column: undefined };
  const name = text.toLowerCase();
  if (addedColumnOf(text) !== undefined) return { text, column: null, by: 'name' };
  const mapped = map?.columns.get(foldHeading(text));
  if (mapped !== undefined) return { text, column: mapped, by: 'map' };
  if (IMPORT_COLUMNS[kind].some((column) => column.name === name)) return { text, column: name, by: 'name' };
  const column = lookUp(kind, text);
  return column === undefined ? { text, column } : { text, column, by: 'dictionary' };
}

const SINGLE = new Set(SINGLE_NAMES.map(foldPhrase));
const BRACKETED = /^(.*\S)\s*[([{]([^)\]}]*)[)\]}]\s*$/su;

/** Maximum length of a heading that is looked up. */
const MAX_HEADING_CHARACTERS = 200;

function lookUp(kind: ImportKind, text: string): string | undefined {
  if (text.length > MAX_HEADING_CHARACTERS) return undefined;
  const dictionary = DICTIONARIES[kind];
  const column = dictionary.get(foldHeading(text)) ?? dictionary.get(foldPhrase(text));
  if (column !== undefined) return column;
  const [, before = '', inside = ''] = BRACKETED.exec(text) ?? [];
  const bracketed = dictionary.get(foldPhrase(before));
  if (bracketed === undefined || !/[\p{L}\p{N}]/u.test(inside)) return bracketed;
  const isHarmless = BRACKETS[bracketed]?.some((word) => foldHeading(word) === foldHeading(inside));
  return isHarmless === true ? bracketed : undefined;
}

/** Returns the headings of a column: its name, its labels on the desk, and further headings (`HEADINGS`). */
export function headingsOf(kind: ImportKind, column: string): string[] {
  const { label = column } = FILE_COLUMNS[kind].find(({ name }) => name === column) ?? {};
  const labels = LANGUAGES.map((language) => inLanguage(label, language));
  return [...new Set([column, ...labels, ...(HEADINGS[kind][column] ?? [])])];
}

/** True for a text that may be personal data: too long, with many digits or with control characters. */
export const mayBeData = (text: string): boolean =>
  text.length > 100 || /\p{C}/u.test(text) || /\p{Nd}{6}|(?:\p{Nd}\s*){9}/u.test(text);

/** Columns of each kind by heading. Each heading is folded in both ways (`foldHeading` and `foldPhrase`). */
export const DICTIONARIES = byKind(
  (kind): ReadonlyMap<string, string> =>
    new Map(
      IMPORT_COLUMNS[kind].flatMap(({ name }) =>
        headingsOf(kind, name).flatMap((heading): [string, string][] => [
          [foldHeading(heading), name],
          [foldPhrase(heading), name],
        ]),
      ),
    ),
);

/**
 * Counts the known headings in a row, including headings that the map ignores. The row with the highest count
 * is the header of a file, and the sheet with this row is the sheet to read.
 */
export function scoreHeader(kind: ImportKind, cells: readonly string[], map?: FileLayout): number {
  if (cells.length > MAX_COLUMNS) return 0;
  const headings = recogniseHeadings(kind, cells, map).filter(({ column }) => column !== undefined);
  return new Set(headings.map(({ column, text }) => column ?? foldHeading(text))).size;
}

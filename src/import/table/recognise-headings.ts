/** Recognises the columns named by the headings of a file. */

import {
  ADDED_LABELS,
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

/**
 * Returns the heading of a column that rejects add.
 * @param labels language of the label; undefined for the column name, which is the same in all languages
 */
export const addedHeading = (column: AddedColumn, labels: Language | undefined): string =>
  labels === undefined ? column : inLanguage(ADDED_LABELS[column], labels);

/** Returns all headings that the added column may have in a corrected file. */
export const addedHeadingsOf = (column: AddedColumn): readonly string[] => [
  ...new Set([undefined, ...LANGUAGES].map((language) => addedHeading(column, language))),
];

const ADDED = new Map(
  ([FAULTS_COLUMN, FILE_COLUMN, REPEATS_COLUMN] as const).flatMap((column) =>
    addedHeadingsOf(column).map((heading): [string, AddedColumn] => [heading.toLowerCase(), column]),
  ),
);

/** Returns the added column that a heading of a rejects file names, or undefined. */
export const addedColumnOf = (text: string): AddedColumn | undefined => ADDED.get(text.trim().toLowerCase());

/** Maximum number of columns of a spreadsheet. */
export const MAX_COLUMNS = 16_384;

export interface Heading {
  /** Trimmed heading in the file; empty if the column has none. */
  readonly text: string;
  /** Column of the kind; null if ignored, undefined if not recognised. */
  readonly column: string | null | undefined;
  /** Source of the recognition: a column `name` in any letter case, the `map`, or the `dictionary`. */
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
    // The registry's exports have the identifying column under its own name too, so the row id is ignored.
    if (IDS.includes(text) && exact.has(column)) return { text, column: undefined };
    if (kind === 'members')
      return hasFirstNames && SINGLE.has(foldPhrase(text)) ? { ...heading, column: 'last_name' } : heading;
    // A ledger uses names only for comparison, so the first column of names is enough.
    const isFurtherName = column === 'full_name' && i !== columns.indexOf('full_name');
    return isFurtherName ? { text, column: undefined } : heading;
  });
}

/** Headings of row ids in the registry's exports. Cooperatives use them for their own numbers. */
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

/** Headings of full names, or of family names if the file also has a column of first names. */
const SINGLE = new Set(SINGLE_NAMES.map(foldPhrase));
const BRACKETED = /^(.*\S)\s*[([{]([^)\]}]*)[)\]}]\s*$/su;

/** Maximum length of a heading that is looked up. */
const MAX_HEADING_CHARACTERS = 200;

function lookUp(kind: ImportKind, text: string): string | undefined {
  if (text.length > MAX_HEADING_CHARACTERS) return undefined;
  const dictionary = dictionaryOf(kind);
  const column = dictionary.get(foldHeading(text)) ?? dictionary.get(foldPhrase(text));
  if (column !== undefined) return column;
  const [, before = '', inside = ''] = BRACKETED.exec(text) ?? [];
  const bracketed = dictionary.get(foldPhrase(before));
  if (bracketed === undefined || !/[\p{L}\p{N}]/u.test(inside)) return bracketed;
  const isHarmless = BRACKETS[bracketed]?.some((word) => foldHeading(word) === foldHeading(inside));
  return isHarmless === true ? bracketed : undefined;
}

/** Returns the headings of a column: its name, its labels on the desk, and others that cooperatives use. */
export function headingsOf(kind: ImportKind, column: string): string[] {
  const { label = column } = FILE_COLUMNS[kind].find(({ name }) => name === column) ?? {};
  const labels = LANGUAGES.map((language) => inLanguage(label, language));
  return [...new Set([column, ...labels, ...(HEADINGS[kind][column] ?? [])])];
}

/**
 * True for a text that may be personal data: longer than any heading, or with six digits in a row, or nine
 * digits across spaces. Years in a heading have fewer digits.
 */
export const mayBeData = (text: string): boolean =>
  text.length > 100 || /\p{C}/u.test(text) || /\p{Nd}{6}|(?:\p{Nd}\s*){9}/u.test(text);

const dictionaries = new Map<ImportKind, ReadonlyMap<string, string>>();

/** Returns the columns of a kind by heading, folded in both ways (`foldHeading` and `foldPhrase`). */
export function dictionaryOf(kind: ImportKind): ReadonlyMap<string, string> {
  let dictionary = dictionaries.get(kind);
  if (dictionary === undefined) {
    dictionary = new Map(
      IMPORT_COLUMNS[kind].flatMap(({ name }) =>
        headingsOf(kind, name).flatMap((heading): [string, string][] => [
          [foldHeading(heading), name],
          [foldPhrase(heading), name],
        ]),
      ),
    );
    dictionaries.set(kind, dictionary);
  }
  return dictionary;
}

/**
 * Counts the columns named by the cells of a row, including columns that the map ignores. The row with the
 * highest score in a file, or in all sheets of a workbook, is the header.
 */
export function scoreHeader(kind: ImportKind, cells: readonly string[], map?: FileLayout): number {
  if (cells.length > MAX_COLUMNS) return 0;
  const headings = recogniseHeadings(kind, cells, map).filter(({ column }) => column !== undefined);
  return new Set(headings.map(({ column, text }) => column ?? foldHeading(text))).size;
}

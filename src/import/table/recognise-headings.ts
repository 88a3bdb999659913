/** Recognises the columns that the headings of a file mean. */

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
import { foldHeading, foldPhrase } from '../reading/fold.ts';
import { IMPORT_COLUMNS } from './columns.ts';

type AddedColumn = typeof FAULTS_COLUMN | typeof FILE_COLUMN | typeof REPEATS_COLUMN;

/** @param labels undefined for the name of the column, which is the same in all languages */
export const addedHeading = (column: AddedColumn, labels: Language | undefined): string =>
  labels === undefined ? column : inLanguage(ADDED_LABELS[column], labels);

/** Spellings that the heading may have in a corrected file. */
export const addedHeadingsOf = (column: AddedColumn): readonly string[] => [
  ...new Set([undefined, ...LANGUAGES].map((language) => addedHeading(column, language))),
];

const ADDED = new Map(
  ([FAULTS_COLUMN, FILE_COLUMN, REPEATS_COLUMN] as const).flatMap((column) =>
    addedHeadingsOf(column).map((heading): [string, AddedColumn] => [heading.toLowerCase(), column]),
  ),
);

/** The column of a file of refused rows that a heading names, if any. */
export const addedColumnOf = (text: string): AddedColumn | undefined => ADDED.get(text.trim().toLowerCase());

/** The limit of spreadsheets. */
export const MAX_COLUMNS = 16_384;

export interface Heading {
  /** The heading in the file, trimmed; empty for a column without one. */
  readonly text: string;
  /** The column of the kind; null if ignored, undefined if not recognised. */
  readonly column: string | null | undefined;
  /** Source of the recognition: `name` in any letter case, `map`, or `dictionary`, which is a guess. */
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
    // An export also has the identifying column itself, under its name.
    if (IDS.includes(text) && exact.has(column)) return { text, column: undefined };
    if (kind === 'members')
      return hasFirstNames && SINGLE.has(foldPhrase(text)) ? { ...heading, column: 'last_name' } : heading;
    // In a ledger, names are merely compared, so the first one is enough.
    const isFurtherName = column === 'full_name' && i !== columns.indexOf('full_name');
    return isFurtherName ? { text, column: undefined } : heading;
  });
}

/** Headings of row ids in the registry's own exports, used by cooperatives for their own numbers. */
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

/** Headings of a single name, such as `Nom`: the family name beside a column of first names. */
const SINGLE = new Set(SINGLE_NAMES.map(foldPhrase));
const BRACKETED = /^(.*\S)\s*[([{]([^)\]}]*)[)\]}]\s*$/su;

/** Limit of a heading: nobody writes longer ones. */
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

/** Headings for a column: its name, its labels on the desk, and others in use at cooperatives. */
export function headingsOf(kind: ImportKind, column: string): string[] {
  const { label = column } = FILE_COLUMNS[kind].find(({ name }) => name === column) ?? {};
  const labels = LANGUAGES.map((language) => inLanguage(label, language));
  return [...new Set([column, ...labels, ...(HEADINGS[kind][column] ?? [])])];
}

/**
 * True for a text that may be personal data: it is longer than any heading, or has a run of digits that may
 * be part of a national ID. Across spaces the run is longer, as a heading may have two years.
 */
export const mayBeData = (text: string): boolean =>
  text.length > 100 || /\p{C}/u.test(text) || /\p{Nd}{6}|(?:\p{Nd}\s*){9}/u.test(text);

const dictionaries = new Map<ImportKind, ReadonlyMap<string, string>>();

/** Columns of a kind by folded heading, in both ways of folding. */
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
 * Number of columns of the kind that the cells name, including those that the map ignores. The header is the
 * row of a file, or of all sheets of a workbook, with the highest score.
 */
export function scoreHeader(kind: ImportKind, cells: readonly string[], map?: FileLayout): number {
  if (cells.length > MAX_COLUMNS) return 0;
  const headings = recogniseHeadings(kind, cells, map).filter(({ column }) => column !== undefined);
  return new Set(headings.map(({ column, text }) => column ?? foldHeading(text))).size;
}

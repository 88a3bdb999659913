/** The headings of a file → the columns that they mean. */
import { say } from '../../domain/values/message.ts';
import { inLanguage, LANGUAGES, type Language } from '../../language/language.ts';
import { FILE_COLUMNS } from '../../store/contract/import/import-columns.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import { foldHeading } from '../dictionary/fold.ts';
import { foldPhrase } from '../dictionary/fold-phrase.ts';
import { BRACKETS, HEADINGS, SINGLE_NAMES } from '../dictionary/headings.ts';
import type { FileLayout } from '../map/file-layout.ts';

/** Holds the reasons in a file of refused rows, and is never read. */
export const FAULTS_COLUMN = 'registry_faults';
/** Says in a file of refused rows from which file each is, for rows without a reference. */
export const FILE_COLUMN = 'registry_file';
/** Marks in a file of refused rows those that their file has twice. */
export const REPEATS_COLUMN = 'registry_repeats';

type AddedColumn = typeof FAULTS_COLUMN | typeof FILE_COLUMN | typeof REPEATS_COLUMN;

/** What they are called in a file of refused rows that is written for people. */
export const ADDED_LABELS = {
  [FAULTS_COLUMN]: say('Registry: what is wrong'),
  [FILE_COLUMN]: say('Registry: from which file'),
  [REPEATS_COLUMN]: say('Registry: twice in the file'),
} as const;

/** @param labels undefined for the name, which is the same in all languages */
export const addedHeading = (column: AddedColumn, labels: Language | undefined): string =>
  labels === undefined ? column : inLanguage(ADDED_LABELS[column], labels);

/** In any of these spellings a file comes back with it. */
export const addedHeadingsOf = (column: AddedColumn): readonly string[] => [
  ...new Set([undefined, ...LANGUAGES].map((language) => addedHeading(column, language))),
];

const ADDED = new Map(
  ([FAULTS_COLUMN, FILE_COLUMN, REPEATS_COLUMN] as const).flatMap((column) =>
    addedHeadingsOf(column).map((heading): [string, AddedColumn] => [heading.toLowerCase(), column]),
  ),
);

/** Which column of a file of refused rows a heading is, if any. */
export const addedColumnOf = (text: string): AddedColumn | undefined => ADDED.get(text.trim().toLowerCase());

/** As many as a spreadsheet has. */
export const MAX_COLUMNS = 16_384;

export interface Heading {
  /** As it is in the file, trimmed; empty for a column without one. */
  readonly text: string;
  /** The column of the kind; null for one to be ignored, undefined for one that is not recognised. */
  readonly column: string | null | undefined;
  /** By what it was recognised: `name` in any letter case, `map`, or `dictionary`, which is a guess. */
  readonly by?: 'name' | 'map' | 'dictionary';
}

/** What each heading of a row means (docs/import-reference.md#headings). */
export function recogniseHeadings(kind: ImportKind, cells: readonly string[], map?: FileLayout): Heading[] {
  const headings = withoutIds(cells.map((cell) => recognise(kind, cell.trim(), map)));
  return kind === 'members' ? withFamilyName(headings) : withOneName(headings);
}

/** What the registry's own exports call the ids of rows, and cooperatives what people call them. */
const IDS: readonly string[] = ['id', 'member_id', 'loan_id'];

/** In an export the column itself is there too, by its name. */
function withoutIds(headings: readonly Heading[]): Heading[] {
  const named = new Set(headings.filter(({ by }) => by === 'name').map(({ column }) => column));
  return headings.map((heading) =>
    heading.by === 'dictionary' && IDS.includes(heading.text) && named.has(heading.column)
      ? { text: heading.text, column: undefined }
      : heading,
  );
}

/** In a ledger the name is only compared: of several headings of one, the first is enough. */
function withOneName(headings: Heading[]): Heading[] {
  const first = headings.findIndex(({ column }) => column === 'full_name');
  return headings.map((heading, i) =>
    heading.column === 'full_name' && heading.by === 'dictionary' && i !== first
      ? { text: heading.text, column: undefined }
      : heading,
  );
}

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

/** Beside a column of first names, `Nom` is the family name. */
function withFamilyName(headings: Heading[]): Heading[] {
  const has = (column: string) => headings.some((heading) => heading.column === column);
  if (!has('first_name') || has('last_name')) return headings;
  return headings.map((heading) =>
    heading.by === 'dictionary' && SINGLE.has(foldPhrase(heading.text))
      ? { ...heading, column: 'last_name' }
      : heading,
  );
}

const SINGLE = new Set(SINGLE_NAMES.map(foldPhrase));
const BRACKETED = /^(.*\S)\s*[([{]([^)\]}]*)[)\]}]\s*$/su;

/** Nobody writes longer ones. */
const MAX_HEADING_CHARACTERS = 200;

function lookUp(kind: ImportKind, text: string): string | undefined {
  if (text.length > MAX_HEADING_CHARACTERS) return undefined;
  const known = dictionaryOf(kind);
  const column = known.get(foldHeading(text)) ?? known.get(foldPhrase(text));
  if (column !== undefined) return column;
  const [, before = '', inside = ''] = BRACKETED.exec(text) ?? [];
  const bracketed = known.get(foldPhrase(before));
  if (bracketed === undefined) return undefined;
  const isHarmless =
    !/[\p{L}\p{N}]/u.test(inside) ||
    BRACKETS[bracketed]?.some((word) => foldHeading(word) === foldHeading(inside));
  return isHarmless === true ? bracketed : undefined;
}

/** Its name, what the desk calls it, and what else cooperatives write. */
export function headingsOf(kind: ImportKind, column: string): string[] {
  const { label = column } = FILE_COLUMNS[kind].find(({ name }) => name === column) ?? {};
  const labels = LANGUAGES.map((language) => inLanguage(label, language));
  return [...new Set([column, ...labels, ...(HEADINGS[kind][column] ?? [])])];
}

/** A run of digits may be part of a national ID; nobody writes headings of that length. */
export const mayBeData = (text: string): boolean => text.length > 100 || /\p{Nd}{6}|\p{C}/u.test(text);

const dictionaries = new Map<ImportKind, ReadonlyMap<string, string>>();

/** By folded heading, in both ways of folding, the columns of a kind. */
export function dictionaryOf(kind: ImportKind): ReadonlyMap<string, string> {
  let known = dictionaries.get(kind);
  if (known === undefined) {
    known = new Map(
      IMPORT_COLUMNS[kind].flatMap(({ name }) =>
        headingsOf(kind, name).flatMap((heading): [string, string][] => [
          [foldHeading(heading), name],
          [foldPhrase(heading), name],
        ]),
      ),
    );
    dictionaries.set(kind, known);
  }
  return known;
}

/**
 * How many columns of the kind the cells name. The header is the row of a file, or of all sheets of a
 * workbook, with the highest score. Columns that the map ignores count too.
 */
export function scoreHeader(kind: ImportKind, cells: readonly string[], map?: FileLayout): number {
  if (cells.length > MAX_COLUMNS) return 0;
  const found = recogniseHeadings(kind, cells, map).filter(({ column }) => column !== undefined);
  return new Set(found.map(({ column, text }) => column ?? foldHeading(text))).size;
}

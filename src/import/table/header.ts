/**
 * Finds and reads the header of a file: recognises its headings, and returns the positions of the columns or
 * all faults of the header.
 */

import {
  ADDED_LABELS,
  byKind,
  FAULTS_COLUMN,
  FILE_COLUMN,
  FILE_COLUMNS,
  type ImportKind,
  REPEATS_COLUMN,
} from '../../registry/file-columns.ts';
import { mayEcho } from '../../values/errors.ts';
import { inLanguage, LANGUAGES, type Language } from '../../values/language.ts';
import { asMessage, say, type Text } from '../../values/message.ts';
import { SEPARATORS } from '../files/csv-rows.ts';
import {
  FileFault,
  type FileRecord,
  fileFault,
  HEADER_ROWS,
  type RecordBatch,
  type SourceFormat,
} from '../files/records.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { foldHeading, foldPhrase, nearestName } from '../reading/fold-and-misspellings.ts';
import type { NoteLog } from '../reading/notes.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, missingColumns } from './columns.ts';
import { BRACKETS, HEADINGS, SINGLE_NAMES } from './known-headings.ts';

export interface Header {
  readonly line: number;
  readonly headings: readonly Heading[];
  /** Columns that the file or a constant provides. */
  readonly columns: ReadonlySet<string>;
  /** Position in the file of each column in `IMPORT_COLUMNS`; -1 for a column that the file lacks. */
  readonly places: readonly number[];
  // Positions of `registry_file` and `registry_repeats`; -1 if the file lacks the column.
  readonly filePlace: number;
  readonly repeatsPlace: number;
  readonly isOfRejects: boolean;
}

interface HeaderFault {
  readonly column: string;
  readonly message: Text;
}

interface HeaderOptions {
  readonly map?: FileLayout | undefined;
  /** True if the row is certainly the header. Otherwise each unknown column is a fault. */
  readonly isCertain: boolean;
  readonly notes: NoteLog;
}

/** @throws FileFault with all faults of the header, such as repeated, unknown and missing columns */
export function readHeader(kind: ImportKind, record: FileRecord, options: HeaderOptions): Header {
  const { line, cells, cellFaults } = record;
  const { map, notes } = options;
  if (cells.length > MAX_COLUMNS)
    throw fileFault(
      line,
      say('The header has more than {count} columns. Delete the empty ones.', { count: MAX_COLUMNS }),
    );
  const headings = recogniseHeadings(kind, cells, map);
  const constants = [...(map?.constants ?? [])].flatMap(([column, cell]) =>
    cell.trim() === '' ? [] : column,
  );
  const named = headings.flatMap(({ column }) => column ?? []);
  const columns = new Set([...named, ...constants]);
  const faults = [
    ...Array.from(cellFaults ?? [], ([place, fault]) => headingFault(place, fault)),
    ...repeatedColumns(headings),
    ...constants.filter((column) => named.includes(column)).map(columnAndConstant),
    ...unknownColumns(kind, line, headings, columns, options),
    ...missingColumns(kind, columns).map((column) => ({ column, message: missing(kind, column) })),
  ];
  if (faults.length > 0)
    throw new FileFault(faults.map((fault) => ({ line, ...fault, refuses: 'file' as const })));
  for (const { column, by } of headings) if (by === 'dictionary') notes.note('heading', column ?? '', line);
  return {
    line,
    headings,
    columns,
    places: IMPORT_COLUMNS[kind].map(({ name }) => headings.findIndex(({ column }) => column === name)),
    filePlace: headings.findIndex(({ text }) => addedColumnOf(text) === FILE_COLUMN),
    repeatsPlace: headings.findIndex(({ text }) => addedColumnOf(text) === REPEATS_COLUMN),
    isOfRejects: headings.some(({ text }) => addedColumnOf(text) === FAULTS_COLUMN),
  };
}

const headingFault = (place: number, fault: Text): HeaderFault => ({
  column: '',
  message: say('The heading in position {position} cannot be read. {fault}', {
    position: place + 1,
    fault: asMessage(fault),
  }),
});

function repeatedColumns(headings: readonly Heading[]): HeaderFault[] {
  return headings.flatMap(({ column, text }, i) => {
    const first = headings.findIndex((other) => other.column === column);
    if (column === undefined || column === null || first === i) return [];
    const isSameText = headings[first]?.text.toLowerCase() === text.toLowerCase();
    const message = isSameText
      ? 'This column appears twice in the header.'
      : say('The headings in positions {first} and {second} both mean this column. Let a map ignore one.', {
          first: first + 1,
          second: i + 1,
        });
    return [{ column, message }];
  });
}

const columnAndConstant = (column: string): HeaderFault => ({
  column,
  message:
    column === 'cooperative_code'
      ? 'The file has this column, and --cooperative or the map gives a code too. Leave out one of them.'
      : 'The file has this column, and a constant is given for it. Remove one of them.',
});

const SEPARATOR_NAMES = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical lines' } as const;

/**
 * Returns faults of unknown columns. If the row is certainly the header, only headings similar to the name of
 * a missing column are faults. The other unknown columns get notes.
 */
function unknownColumns(
  kind: ImportKind,
  line: number,
  headings: readonly Heading[],
  columns: ReadonlySet<string>,
  { isCertain, notes }: HeaderOptions,
): HeaderFault[] {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name);
  const absent = known.filter((name) => !columns.has(name));
  const isHeader = looksLikeHeader(headings);
  return headings.flatMap(({ text, column: recognised }, i) => {
    if (text === '' || recognised !== undefined) return [];
    const column = isHeader && looksLikeHeading(text) ? text.toLowerCase() : '';
    const position = i + 1;
    const meant = nearestName(text, absent);
    if (meant !== undefined) {
      const message =
        column === ''
          ? say('Unknown column in position {position}. Did you mean "{meant}"?', { position, meant })
          : say('Unknown column "{column}". Did you mean "{meant}"?', { column, meant });
      return [{ column, message }];
    }
    const separator = headings.length === 1 ? SEPARATORS.find((mark) => text.includes(mark)) : undefined;
    const message =
      separator === undefined
        ? say('Unknown column in position {position}. Known: {known}.', { position, known })
        : `The header is one cell with ${SEPARATOR_NAMES[separator]} in it. If these separate the columns, ` +
          'write no quotes around the line, and no line "sep=…" with another character above it.';
    if (!isCertain) return [{ column, message }];
    notes.note('ignored_column', column === '' ? `#${position}` : column, line, { refusal: message });
    return [];
  });
}

/**
 * True if at least half of the headings are known. Otherwise the file may lack a header, and the row may be
 * personal data, which messages must not show.
 */
function looksLikeHeader(headings: readonly Heading[]): boolean {
  const written = headings.filter(({ text }) => text !== '');
  return 2 * written.filter(({ column }) => column !== undefined).length >= written.length;
}

/** Lists unknown and ignored headings, with positions from 1. Omits texts that may be personal data. */
export function ignoredHeadings({ headings }: Pick<Header, 'headings'>) {
  const isHeader = looksLikeHeader(headings);
  return headings.flatMap(({ text, column, by }, i) => {
    const isIgnored = text !== '' && (column === undefined || (column === null && by === 'map'));
    return isIgnored ? { position: i + 1, text: isHeader && !mayBeData(text) ? text : undefined } : [];
  });
}

/** True for a single word. Names of people, codes and dates have other characters. */
const looksLikeHeading = (text: string): boolean => /^\p{L}[\p{L}\p{N}_]*$/u.test(text) && mayEcho(text);

function missing(kind: ImportKind, column: string): string {
  if (column === 'cooperative_code')
    return 'The column is missing. For a file of one cooperative, give its code with --cooperative CODE.';
  const alternatives = ALTERNATIVES[kind];
  return column === alternatives?.column ? alternatives.missingMessage : 'The column is missing.';
}

// Search for the header among the first rows (docs/import-reference.md#headings)

/** Minimum number of recognised headings in a header. A row with fewer may be data. */
const LOWEST_SCORE = 2;

/**
 * @param records at least the rows of the file that are searched for the header (`withHeaderRows`)
 * @returns the index of the header; `isCertain` is false if the row may be personal data, which messages must
 *   not show
 * @throws FileFault if the map names a line without a row
 */
export function findHeader(kind: ImportKind, records: readonly FileRecord[], map?: FileLayout) {
  const [first] = records;
  // A file of rejects begins with its header, even if the map names another line for the original file.
  if (first?.cells.some((cell) => addedColumnOf(cell) === FAULTS_COLUMN) === true)
    return { index: 0, isCertain: true };
  if (map?.headerRow !== undefined) {
    const index = records.findIndex(({ line }) => line === map.headerRow);
    if (index >= 0) return { index, isCertain: true };
    throw fileFault(map.headerRow, 'The map expects the header on this line, which is empty.');
  }
  if (first !== undefined && isExact(kind, first.cells)) return { index: 0, isCertain: true };
  const scores = records.slice(0, HEADER_ROWS).map(({ cells }) => scoreHeader(kind, cells, map));
  const best = Math.max(...scores);
  return best >= LOWEST_SCORE
    ? { index: scores.indexOf(best), isCertain: true }
    : { index: 0, isCertain: false };
}

const isExact = (kind: ImportKind, cells: readonly string[]): boolean =>
  cells.length <= MAX_COLUMNS &&
  recogniseHeadings(kind, cells).every(({ text, by }) => text === '' || by === 'name');

/** Detects repeated headers. Files for printing have a header on each page. */
export function createHeaderCheck(
  headings: readonly Pick<Heading, 'text'>[],
): (cells: readonly string[]) => boolean {
  const texts = headings.map(({ text }) => text.toLowerCase());
  const isRepeatable = texts.filter((text) => text !== '').length > 1;
  return (cells) =>
    isRepeatable && texts.every((text, place) => (cells[place] ?? '').trim().toLowerCase() === text);
}

/**
 * Joins the first batches, so that the first batch has all rows that are searched for the header. Yields the
 * rows before an error, then throws the error.
 */
export async function* withHeaderRows(
  batches: AsyncIterable<RecordBatch>,
  map?: FileLayout,
): AsyncGenerator<RecordBatch> {
  const records: FileRecord[] = [];
  let first: RecordBatch = { records, bytesRead: 0 };
  let isComplete = false;
  try {
    for await (const batch of batches) {
      if (isComplete) {
        yield batch;
        continue;
      }
      for (const record of batch.records) records.push(record);
      first = { ...batch, records };
      isComplete = records.length >= HEADER_ROWS && (records.at(-1)?.line ?? 0) >= (map?.headerRow ?? 0);
      if (isComplete) yield first;
    }
  } catch (error) {
    if (!isComplete) yield first;
    throw error;
  }
  if (!isComplete) yield first;
}

/**
 * Detects rows with too few or too many cells. In a text file, an extra cell shows that a separator inside a
 * value, as in `12,500`, has shifted the other values. So even an empty extra cell is refused, unless the
 * header ends with an empty cell. In a workbook, a row ends with its last value, so no row is too short.
 */
export function createWidthCheck(
  { headings }: Pick<Header, 'headings'>,
  format: SourceFormat,
): (cells: readonly string[]) => boolean {
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  const mayBeLonger = format.type !== 'text' || namedWidth < width;
  return (cells) => {
    if (cells.length === width) return false;
    if (cells.length < namedWidth) return format.type === 'text';
    return cells.length > width && (!mayBeLonger || cells.slice(width).some((cell) => cell.trim() !== ''));
  };
}

// Recognition of headings

type AddedColumn = typeof FAULTS_COLUMN | typeof FILE_COLUMN | typeof REPEATS_COLUMN;

/** @param labels language of the heading; undefined to use the column's name, which has no language */
export const addedHeading = (column: AddedColumn, labels: Language | undefined): string =>
  labels === undefined ? column : inLanguage(ADDED_LABELS[column], labels);

export const addedHeadingsOf = (column: AddedColumn): readonly string[] => [
  ...new Set([undefined, ...LANGUAGES].map((language) => addedHeading(column, language))),
];

const ADDED = new Map(
  ([FAULTS_COLUMN, FILE_COLUMN, REPEATS_COLUMN] as const).flatMap((column) =>
    addedHeadingsOf(column).map((heading): [string, AddedColumn] => [heading.toLowerCase(), column]),
  ),
);

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

/** Follows docs/import-reference.md#headings. */
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
      return hasFirstNames && SINGLE_NAMES.has(foldPhrase(text))
        ? { ...heading, column: 'last_name' }
        : heading;
    // In files of entries, names are only compared with stored names, so the first column of names is enough.
    const isFurtherName = column === 'full_name' && i !== columns.indexOf('full_name');
    return isFurtherName ? { text, column: undefined } : heading;
  });
}

/** Headings of row ids in exports. In files that cooperatives write, they mean codes and references. */
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

const BRACKETED = /^(.*\S)\s*[([{]([^)\]}]*)[)\]}]\s*$/su;

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

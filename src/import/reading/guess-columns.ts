/** Finds the column that each heading of a file means, or guesses it from the values below the heading. */

import { valueIn } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import { FAULTS_COLUMN, type ImportKind } from '../../registry/file-columns.ts';
import { formatDate } from '../../values/date-time.ts';
import { FieldError, mayEcho } from '../../values/errors.ts';
import { say } from '../../values/message.ts';
import { type FileRecord, fileFault, HEADER_ROWS, type RecordSource } from '../files/records.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn, isOfDates } from '../table/columns.ts';
import { isTotalsRow } from '../table/compare-totals.ts';
import {
  addedColumnOf,
  DICTIONARIES,
  findHeader,
  mayBeData,
  recogniseHeadings,
  withHeaderRows,
} from '../table/header.ts';
import { type CellContext, ColumnSurvey, type DecimalForm } from './cell-context.ts';
import { collectDateForms, dateOrderOf } from './dates.ts';
import { decimalMarkOf } from './decimals.ts';
import { foldHeading, nearestName } from './fold-and-misspellings.ts';

// Ambiguities in the cells of known columns: order of day and month, decimal mark, unknown words

/** Maximum number of distinct unknown words in a column of choices. More words may be personal data. */
const MOST_WORDS = 20;

export interface UnknownWords {
  readonly column: string;
  /** Distinct words, each in the spelling that occurs first; empty if the column has too many. */
  readonly words: readonly string[];
  /** True if the column has unknown words that `words` omits, because they may be personal data. */
  readonly hasMore: boolean;
}

/** True for a column whose cells may be ambiguous. */
export const isObserved = (column: ImportColumn): boolean =>
  isOfDates(column) || column.kind === 'decimal' || column.kind === 'choice';

export type Observer = ReturnType<typeof createObserver>;

export function createObserver(cells: CellContext) {
  const survey = new ColumnSurvey();
  // A file has a single decimal mark, so any column may give evidence.
  const decimals = new Set<DecimalForm>();
  const numbers: CellContext = { ...cells, showDecimal: (form) => decimals.add(form) };
  /** First spelling of each unknown word, by column and folded word. */
  const unknown = new Map<string, Map<string, string>>();

  function lookAtWord({ name, parse }: ImportColumn, cell: string): void {
    if (!(parse(cell, cells) instanceof FieldError)) return;
    const words = unknown.get(name) ?? new Map<string, string>();
    unknown.set(name, words);
    const word = foldHeading(cell);
    if (words.size <= MOST_WORDS && !words.has(word)) words.set(word, cell);
  }

  return {
    /** Examines a trimmed, non-empty cell. */
    look(column: ImportColumn, cell: string): void {
      if (isOfDates(column)) collectDateForms(cell, survey);
      else if (column.kind === 'decimal') column.parse(cell, numbers);
      else if (column.kind === 'choice') lookAtWord(column, cell);
    },
    dates: () => dateOrderOf(survey),
    decimal: () => decimalMarkOf(decimals),
    unknownWords: () =>
      [...unknown].map(([column, spellings]): UnknownWords => {
        const words = spellings.size > MOST_WORDS ? [] : [...spellings.values()].filter(mayEcho);
        return { column, words, hasMore: words.length < spellings.size };
      }),
  };
}

const SAMPLED_ROWS = 2000;

/**
 * @returns `isFirstRow` is true if no row with a value is above the header; `rows` are below the header
 * @throws FileFault if the file cannot be read or no row looks like headings
 */
export async function sampleFile(source: RecordSource, kind: ImportKind) {
  const records: FileRecord[] = [];
  for await (const batch of withHeaderRows(source.read())) {
    for (const record of batch.records) records.push(record);
    if (records.length > SAMPLED_ROWS) break;
  }
  const place = findHeader(kind, records);
  const index = place.isCertain
    ? place.index
    : records.slice(0, HEADER_ROWS).findIndex((_, i) => isHeaderOf(records, i));
  const header = records[index];
  if (header === undefined)
    throw fileFault(1, say('No row among the first {rows} looks like headings.', { rows: HEADER_ROWS }));
  return { header, isFirstRow: index === 0, rows: records.slice(index + 1, index + 1 + SAMPLED_ROWS) };
}

const HAS_DIGIT = /\p{Nd}/u;
const HAS_LETTER = /\p{L}/u;
const COMPARED_ROWS = 100;

/**
 * Detects a header without known headings: all its cells are words without digits, and nearly all values
 * below one of the words contain a digit. If the row were data, this word would contain a digit too.
 */
function isHeaderOf(records: readonly FileRecord[], index: number): boolean {
  const cells = (records[index] as FileRecord).cells.map((cell) => cell.trim());
  const words = cells.filter((cell) => cell !== '');
  if (words.length < 2 || new Set(words).size < words.length) return false;
  if (words.some((word) => HAS_DIGIT.test(word) || !HAS_LETTER.test(word))) return false;
  const below = records.slice(index + 1, index + 1 + COMPARED_ROWS);
  return cells.some((cell, place) => {
    const values = below.map((record) => (record.cells[place] ?? '').trim()).filter((value) => value !== '');
    return cell !== '' && values.length > 0 && nearlyAll(values, (value) => HAS_DIGIT.test(value));
  });
}

// Guesses of columns for unknown headings, from their values and spelling. A heading gets a guess only if its
// values fit a single column, and if no other heading fits that column.

interface UnknownHeading {
  readonly place: number;
  readonly text: string;
  /** Non-empty, trimmed values below the heading in the sample. */
  readonly values: readonly string[];
}

interface Guess {
  readonly place: number;
  readonly column: string;
  readonly by: 'values' | 'spelling';
}

interface GuessContext {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  readonly assigned: ReadonlySet<string>;
}

const NEARLY_ALL = 0.95;
/** Minimum number of values for a guess from values. `FEWEST_NAMES` is the minimum for names of people. */
const FEWEST_VALUES = 3;
const FEWEST_NAMES = 5;
/** Maximum number of unknown headings that are examined. Ten thousand would take minutes. */
const MOST_GUESSED = 200;

export function guessColumns(headings: readonly UnknownHeading[], context: GuessContext): Guess[] {
  const unknown = headings.slice(0, MOST_GUESSED);
  const byValues = unique(unknown, 'values', (heading) => columnsByValues(heading, context));
  const assigned = new Set([...context.assigned, ...byValues.map(({ column }) => column)]);
  const rest = unknown.filter(({ place }) => byValues.every((guess) => guess.place !== place));
  const bySpelling = unique(rest, 'spelling', (heading) =>
    columnsBySpelling(heading, { ...context, assigned }),
  );
  return [...byValues, ...bySpelling];
}

/** Returns guesses for the headings whose only candidate is not a candidate of any other heading. */
function unique(
  headings: readonly UnknownHeading[],
  by: Guess['by'],
  candidatesOf: (heading: UnknownHeading) => readonly string[],
): Guess[] {
  const candidates = headings.map((heading) => ({ place: heading.place, columns: candidatesOf(heading) }));
  return candidates.flatMap(({ place, columns }) => {
    const [column] = columns;
    if (column === undefined || columns.length > 1) return [];
    const rivals = candidates.filter((other) => other.columns.includes(column));
    return rivals.length === 1 ? [{ place, column, by }] : [];
  });
}

function columnsByValues({ values }: UnknownHeading, context: GuessContext): string[] {
  const { kind, cells, assigned } = context;
  if (values.length < FEWEST_VALUES) return [];
  const hasNames = ALTERNATIVES[kind]?.others.some((name) => assigned.has(name)) === true;
  const dates = IMPORT_COLUMNS[kind].filter(isOfDates);
  return IMPORT_COLUMNS[kind]
    .filter((column) => {
      if (column.choices !== undefined) return areWordsOf(column, values, cells);
      if (column.kind === 'identity_card' || column.kind === 'mobile') return areOf(column, values, cells);
      if (column.name === 'full_name') return areNames(values) && !hasNames;
      return isOfDates(column) && areDatesOf(column, values, dates.length === 1, cells);
    })
    .map(({ name }) => name)
    .filter((name) => !assigned.has(name));
}

const nearlyAll = (values: readonly string[], fits: (value: string) => boolean): boolean =>
  values.filter(fits).length >= NEARLY_ALL * values.length;

/** Parses values as cells of a column, and drops the values that the column refuses. */
function readValues(
  column: ImportColumn,
  values: readonly string[],
  cells: CellContext,
): (string | number)[] {
  const observer = createObserver(cells);
  for (const value of values) observer.look(column, value);
  // The operator decides later how ambiguous values are read. A default keeps the column as a candidate.
  const [order, mark] = [observer.dates(), observer.decimal()];
  const context: CellContext = {
    ...cells,
    dateOrder: order === null ? 'dmy' : order,
    decimalMark: mark === null ? ',' : mark,
  };
  const parsed = values.map((value) => column.parse(value, context));
  return parsed.filter((value): value is string | number => !(value instanceof FieldError));
}

const areOf = (column: ImportColumn, values: readonly string[], cells: CellContext): boolean =>
  readValues(column, values, cells).length >= NEARLY_ALL * values.length;

/**
 * True if nearly all values are words of a column of choices. If all mean the same choice, one of the words
 * must be longer than three letters, because a letter such as `M` may mean anything.
 */
function areWordsOf(column: ImportColumn, values: readonly string[], cells: CellContext): boolean {
  const words = new Map<unknown, string>();
  const areWords = nearlyAll(values, (cell) => {
    const value = column.parse(cell, cells);
    if (value instanceof FieldError) return false;
    words.set(value, cell);
    return true;
  });
  return areWords && (words.size > 1 || [...words.values()].some((word) => word.length > 3));
}

const NAME = /^\p{L}[\p{L}\p{M}'’.-]*(?:\s+\p{L}[\p{L}\p{M}'’.-]*){1,5}$/u;

/** True for a text of two to six words of letters. */
export const isPersonsName = (cell: string): boolean => NAME.test(cell);

/** True if the values look like names of people, which repeat less often than other words. */
const areNames = (values: readonly string[]): boolean =>
  values.length >= FEWEST_NAMES &&
  nearlyAll(values, isPersonsName) &&
  new Set(values).size >= 0.9 * values.length;

/** Minimum age of members, in years. */
const YOUNGEST = 15;
/** Minimum age of the oldest quarter of members, in years. Hardly any cooperative is this old. */
const OLD = 50;

/** @param isOnly true if the kind has no other column of dates; otherwise the years must fit the column */
function areDatesOf(
  column: ImportColumn,
  values: readonly string[],
  isOnly: boolean,
  cells: CellContext,
): boolean {
  const thisYear = Number(cells.today.slice(0, 4));
  const ages = readValues(column, values, cells).flatMap((value) => {
    const year = Number((typeof value === 'number' ? formatDate(value, cells.zone) : value).slice(0, 4));
    return year < 1900 || year > thisYear ? [] : thisYear - year;
  });
  if (ages.length < NEARLY_ALL * values.length) return false;
  if (isOnly) return true;
  const share = (fits: (age: number) => boolean) => ages.filter(fits).length / ages.length;
  if (column.name === 'date_of_birth')
    return share((age) => age >= YOUNGEST) >= NEARLY_ALL && share((age) => age >= OLD) >= 0.25;
  return column.name === 'registration_date' && share((age) => age < YOUNGEST) >= NEARLY_ALL;
}

/** Returns the column of the nearest known heading. The column must accept nearly all values. */
function columnsBySpelling(
  { text, values }: UnknownHeading,
  { kind, cells, assigned }: GuessContext,
): string[] {
  const dictionary = DICTIONARIES[kind];
  const nearest = nearestName(text, [...dictionary.keys()]) ?? '';
  const column = IMPORT_COLUMNS[kind].find(({ name }) => name === dictionary.get(nearest));
  if (column === undefined || assigned.has(column.name)) return [];
  return areOf(column, values, cells) ? [column.name] : [];
}

export interface PlacedHeading {
  readonly text: string;
  readonly column: string | null;
  readonly by?: 'name' | 'dictionary' | Guess['by'];
  /** True if a map can contain the heading: it is not data, and no other heading has the same folded form. */
  readonly isNameable: boolean;
}

export function placeHeadings(
  header: FileRecord,
  rowsBelow: readonly FileRecord[],
  { kind, cells }: { kind: ImportKind; cells: CellContext },
): PlacedHeading[] {
  const placed = placeKnown(kind, header.cells);
  const assigned = new Set(placed.flatMap(({ column }) => column ?? []));
  const counted = rowsBelow.filter((row) => !isTotalsRow(placed, row.cells));
  const unknown = placed.flatMap(({ text, isNameable, column }, place) => {
    if (column !== null || !isNameable) return [];
    const values = counted.map((row) => valueIn(row.cells, place)).filter((value) => value !== '');
    return [{ place, text, values }];
  });
  const guesses = new Map(
    guessColumns(unknown, { kind, cells, assigned }).map(({ place, column, by }) => [place, { column, by }]),
  );
  return placed.map((heading, place) => ({ ...heading, ...guesses.get(place) }));
}

/**
 * Assigns columns by name and dictionary. If several headings mean one column, only a heading that is the
 * column's exact name gets the column: nothing shows which other heading would be right.
 */
function placeKnown(kind: ImportKind, cells: readonly string[]): PlacedHeading[] {
  const recognised = recogniseHeadings(kind, cells);
  const spellings = Map.groupBy(recognised, ({ text }) => foldHeading(text));
  const placed = recognised.map(({ text, column, by }): PlacedHeading => {
    const isRepeated = (spellings.get(foldHeading(text))?.length ?? 0) > 1;
    const isNameable =
      text !== '' && addedColumnOf(text) !== FAULTS_COLUMN && !isRepeated && !mayBeData(text);
    if (typeof column !== 'string' || by === 'map' || (isRepeated && by !== 'name'))
      return { text, column: null, isNameable };
    return { text, column, isNameable, ...(by !== undefined && { by }) };
  });
  const byColumn = Map.groupBy(placed, ({ column }) => column);
  return placed.map((heading) => {
    const { text, column, by, isNameable } = heading;
    const isOnly = column === null || byColumn.get(column)?.length === 1;
    return isOnly || by === 'name' ? heading : { text, column: null, isNameable };
  });
}

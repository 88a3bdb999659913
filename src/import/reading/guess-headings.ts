/** Assigns each heading of a file to a known column, a guessed one, or null. */

import { valueIn } from '../../formats/blanks.ts';
import { type FileRecord, fileFault, HEADER_ROWS, type RecordSource } from '../../formats/records.ts';
import { FAULTS_COLUMN, type ImportKind } from '../../registry/file-columns.ts';
import { formatDate } from '../../values/date-time.ts';
import { FieldError, mayEcho } from '../../values/errors.ts';
import { say } from '../../values/message.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn, isOfDates } from '../table/columns.ts';
import { isTotalsRow } from '../table/compare-totals.ts';
import { findHeader, withHeaderRows } from '../table/header.ts';
import { addedColumnOf, dictionaryOf, mayBeData, recogniseHeadings } from '../table/recognise-headings.ts';
import { type CellContext, type DateOrder, type DecimalForm, noDates } from './cell-context.ts';
import { collectDateEvidence, dateOrderOf } from './dates.ts';
import { decimalMarkOf } from './decimals.ts';
import type { DecimalMark } from './file-layout.ts';
import { foldHeading, nearestName } from './fold.ts';

// Questions that the cells of known columns leave open: order of dates, decimal mark, unknown words

/** With more different words than these, a column is not one of choices, and they may be personal data. */
const MOST_WORDS = 20;

export interface UnknownWords {
  readonly column: string;
  /** Words in the spelling that comes first; empty if there are too many. */
  readonly words: readonly string[];
  /** True if there are others, which may be personal data. */
  readonly hasMore: boolean;
}

export interface Observer {
  /** True for columns whose cells may leave something open. */
  watches(column: ImportColumn): boolean;
  /** Examines a trimmed cell that is not empty. */
  look(column: ImportColumn, cell: string): void;
  /** The order of the dates; null if the file does not settle it, undefined if none is needed. */
  dates(): DateOrder | null | undefined;
  /** The decimal mark, with null and undefined as in `dates`. */
  decimal(): DecimalMark | null | undefined;
  unknownWords(): UnknownWords[];
}

export function createObserver(cells: CellContext): Observer {
  const dates = noDates();
  // A file has one decimal mark, so any column may show it.
  const forms = new Set<DecimalForm>();
  const numbers: CellContext = { ...cells, showDecimal: (form) => forms.add(form) };
  /** First spellings by column and folded word. */
  const unknown = new Map<string, Map<string, string>>();

  function lookAtWord({ name, parse }: ImportColumn, cell: string): void {
    if (!(parse(cell, cells) instanceof FieldError)) return;
    const words = unknown.get(name) ?? new Map<string, string>();
    unknown.set(name, words);
    const word = foldHeading(cell);
    if (words.size <= MOST_WORDS && !words.has(word)) words.set(word, cell);
  }

  return {
    watches: (column) => isOfDates(column) || column.kind === 'decimal' || column.kind === 'choice',
    look(column, cell) {
      if (isOfDates(column)) collectDateEvidence(cell, dates);
      else if (column.kind === 'decimal') column.parse(cell, numbers);
      else if (column.kind === 'choice') lookAtWord(column, cell);
    },
    dates: () => dateOrderOf(dates),
    decimal: () => decimalMarkOf(forms),
    unknownWords: () => [...unknown].map(([column, words]) => shownWords(column, [...words.values()])),
  };
}

function shownWords(column: string, words: readonly string[]): UnknownWords {
  const shown = words.length > MOST_WORDS ? [] : words.filter(mayEcho);
  return { column, words: shown, hasMore: shown.length < words.length };
}

// The first rows of a file: its header, and the rows below

export interface FileSample {
  readonly header: FileRecord;
  /** True if no row with a value precedes the header. */
  readonly isFirstRow: boolean;
  /** Rows below the header, up to `SAMPLED_ROWS`. */
  readonly rows: readonly FileRecord[];
}

const SAMPLED_ROWS = 2000;

/** @throws FileFault if the file cannot be read, or no row of it looks like headings */
export async function sampleFile(source: RecordSource, kind: ImportKind): Promise<FileSample> {
  const records: FileRecord[] = [];
  for await (const batch of withHeaderRows(source.read())) {
    for (const record of batch.records) records.push(record);
    if (records.length > SAMPLED_ROWS) break;
  }
  const { index: found, isCertain } = findHeader(kind, records);
  const index = isCertain ? found : records.slice(0, HEADER_ROWS).findIndex((_, i) => isHeaderOf(records, i));
  const header = records[index];
  if (header === undefined)
    throw fileFault(1, say('No row among the first {rows} looks like headings.', { rows: HEADER_ROWS }));
  return { header, isFirstRow: index === 0, rows: records.slice(index + 1, index + 1 + SAMPLED_ROWS) };
}

const HAS_DIGIT = /\p{Nd}/u;
const HAS_LETTER = /\p{L}/u;
/** Rows that a possible header is compared with. */
const COMPARED_ROWS = 100;

/**
 * Detects a header without any known heading: it has words only, and below one of them nearly every value has
 * a digit. A row of data would have digits there, too.
 */
function isHeaderOf(records: readonly FileRecord[], index: number): boolean {
  const cells = (records[index] as FileRecord).cells.map((cell) => cell.trim());
  const words = cells.filter((cell) => cell !== '');
  if (words.length < 2 || new Set(words).size < words.length) return false;
  if (words.some((word) => HAS_DIGIT.test(word) || !HAS_LETTER.test(word))) return false;
  const below = records.slice(index + 1, index + 1 + COMPARED_ROWS);
  return cells.some((cell, place) => {
    const values = below.map((record) => (record.cells[place] ?? '').trim()).filter((value) => value !== '');
    return (
      cell !== '' &&
      values.length > 0 &&
      values.filter((value) => HAS_DIGIT.test(value)).length >= 0.95 * values.length
    );
  });
}

// Columns of unknown headings, guessed from their values and spelling. A heading gets a guess only if nearly
// all of its values fit one column, and no other heading fits that column.

interface UnknownHeading {
  /** Index of its cells. */
  readonly place: number;
  readonly text: string;
  /** Its values in the first rows, trimmed, without empty ones. */
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
  /** Columns that other headings mean. */
  readonly taken: ReadonlySet<string>;
}

const NEARLY_ALL = 0.95;
/** Fewer values show too little. */
const FEWEST_VALUES = 3;
const FEWEST_NAMES = 5;
/** More unknown columns than any ledger has; a file with ten thousand would take minutes. */
const MOST_GUESSED = 200;

export function guessColumns(all: readonly UnknownHeading[], context: GuessContext): Guess[] {
  const unknown = all.slice(0, MOST_GUESSED);
  const byValues = unique(unknown, 'values', (heading) => columnsByValues(heading, context));
  const taken = new Set([...context.taken, ...byValues.map(({ column }) => column)]);
  const rest = unknown.filter(({ place }) => byValues.every((guess) => guess.place !== place));
  const bySpelling = unique(rest, 'spelling', (heading) => columnsBySpelling(heading, { ...context, taken }));
  return [...byValues, ...bySpelling];
}

/** Guesses for headings with a single candidate that no other heading has. */
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
  const { kind, cells, taken } = context;
  if (values.length < FEWEST_VALUES) return [];
  const dates = IMPORT_COLUMNS[kind].filter(isOfDates);
  return IMPORT_COLUMNS[kind]
    .filter((column) => {
      if (column.choices !== undefined) return areWordsOf(column, values, cells);
      if (column.kind === 'identity_card' || column.kind === 'mobile') return areOf(column, values, cells);
      if (column.name === 'full_name') return areNames(values) && !hasNames(context);
      return dates.includes(column) && areDatesOf(column, values, { only: dates.length === 1, cells });
    })
    .map(({ name }) => name)
    .filter((name) => !taken.has(name));
}

const nearlyAll = (values: readonly string[], fits: (value: string) => boolean): boolean =>
  values.filter(fits).length >= NEARLY_ALL * values.length;

/** The values as the column reads them, without those that it refuses. */
function readValues(
  column: ImportColumn,
  values: readonly string[],
  cells: CellContext,
): (string | number)[] {
  const observer = createObserver(cells);
  for (const value of values) observer.look(column, value);
  // A person settles later what the values leave open, so neither answer may exclude a column here.
  const [order, mark] = [observer.dates(), observer.decimal()];
  const context: CellContext = {
    ...cells,
    dateOrder: order === null ? 'dmy' : order,
    decimalMark: mark === null ? ',' : mark,
  };
  return values.flatMap((value) => {
    const read = column.parse(value, context);
    return read instanceof FieldError ? [] : [read];
  });
}

const areOf = (column: ImportColumn, values: readonly string[], cells: CellContext): boolean =>
  readValues(column, values, cells).length >= NEARLY_ALL * values.length;

/**
 * True for two different values, or for one that is a word and not a letter such as `M`, which may mean
 * anything.
 */
function areWordsOf(column: ImportColumn, values: readonly string[], cells: CellContext): boolean {
  const meant = new Map<unknown, string>();
  const areWords = nearlyAll(values, (cell) => {
    const value = column.parse(cell, cells);
    if (value instanceof FieldError) return false;
    meant.set(value, cell);
    return true;
  });
  return areWords && (meant.size > 1 || [...meant.values()].some((word) => word.length > 3));
}

const NAME = /^\p{L}[\p{L}\p{M}'’.-]*(?:\s+\p{L}[\p{L}\p{M}'’.-]*){1,5}$/u;

/** Two to six words of letters. */
export const isPersonsName = (cell: string): boolean => NAME.test(cell);

/** Names differ from each other; other words repeat. */
const areNames = (values: readonly string[]): boolean =>
  values.length >= FEWEST_NAMES &&
  nearlyAll(values, isPersonsName) &&
  new Set(values).size >= 0.9 * values.length;

const hasNames = ({ kind, taken }: GuessContext): boolean =>
  ALTERNATIVES[kind]?.others.some((name) => taken.has(name)) ?? false;

/** Lowest age of members, in years. */
const YOUNGEST = 15;
/** Age in years that a quarter of the members have reached, but hardly any cooperative. */
const OLD = 50;

/**
 * @param only true if the kind has no other column of dates; otherwise the years must tell which one it is
 */
function areDatesOf(
  column: ImportColumn,
  values: readonly string[],
  { only, cells }: { only: boolean; cells: CellContext },
): boolean {
  const thisYear = Number(cells.today.slice(0, 4));
  const ages = readValues(column, values, cells).flatMap((value) => {
    const year = Number((typeof value === 'number' ? formatDate(value, cells.zone) : value).slice(0, 4));
    return year < 1900 || year > thisYear ? [] : thisYear - year;
  });
  if (ages.length < NEARLY_ALL * values.length) return false;
  if (only) return true;
  const share = (fits: (age: number) => boolean) => ages.filter(fits).length / ages.length;
  if (column.name === 'date_of_birth')
    return share((age) => age >= YOUNGEST) >= NEARLY_ALL && share((age) => age >= OLD) >= 0.25;
  return column.name === 'registration_date' && share((age) => age < YOUNGEST) >= NEARLY_ALL;
}

/** The column with a known heading that differs by a typo, if it accepts nearly all of the values. */
function columnsBySpelling({ text, values }: UnknownHeading, { kind, cells, taken }: GuessContext): string[] {
  const dictionary = dictionaryOf(kind);
  const nearest = nearestName(text, [...dictionary.keys()]) ?? '';
  const column = IMPORT_COLUMNS[kind].find(({ name }) => name === dictionary.get(nearest));
  if (column === undefined || taken.has(column.name)) return [];
  return areOf(column, values, cells) ? [column.name] : [];
}

export interface PlacedHeading {
  readonly text: string;
  readonly column: string | null;
  readonly by?: 'name' | 'dictionary' | Guess['by'];
  /** True if a map can name the heading: not blank, no data, and no other heading has the same letters. */
  readonly isNameable: boolean;
}

/** The headings of a sample, in the order of its cells. */
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

/** Detects rows of totals, as far as the headings allow. */
export function totalsCheck(
  kind: ImportKind,
  placed: readonly PlacedHeading[],
): (cells: readonly string[]) => boolean {
  const headings = placed.map(({ text, column }) => ({ text, column }));
  const places = IMPORT_COLUMNS[kind].map(({ name }) => headings.findIndex(({ column }) => column === name));
  return (cells) => isTotalsRow(kind, { places, headings }, cells);
}

type Recognised = ReturnType<typeof recogniseHeadings>[number];

/** @param isRepeated true if another heading has the same letters */
function toPlaced({ text, column, by }: Recognised, isRepeated: boolean): PlacedHeading {
  const isNameable = text !== '' && addedColumnOf(text) !== FAULTS_COLUMN && !isRepeated && !mayBeData(text);
  if (typeof column !== 'string' || by === 'map' || (isRepeated && by !== 'name'))
    return { text, column: null, isNameable };
  return { text, column, isNameable, ...(by !== undefined && { by }) };
}

/** Keeps only the exact name where several headings mean one column, since nothing tells which is right. */
function withoutRivals(headings: readonly PlacedHeading[]): PlacedHeading[] {
  const rivals = countBy(headings, ({ column }) => column);
  return headings.map((heading) => {
    const isOnly = heading.column === null || rivals.get(heading.column) === 1;
    if (isOnly || heading.by === 'name') return heading;
    return { text: heading.text, column: null, isNameable: heading.isNameable };
  });
}

function countBy<T, Key>(all: readonly T[], keyOf: (each: T) => Key): ReadonlyMap<Key, number> {
  const counts = new Map<Key, number>();
  for (const each of all) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  return counts;
}

/**
 * The columns that unknown headings probably mean, guessed from their values and spelling. A heading gets a
 * guess only if nearly all of its values fit one column, and the column no other heading.
 */
import { formatDate } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { CellContext } from '../cells/context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn, isOfDates } from '../columns/columns.ts';
import { nearestName } from '../dictionary/near-spelling.ts';
import { dictionaryOf } from '../table/headings.ts';
import { createObserver } from './observe-cells.ts';

export interface UnknownHeading {
  /** Index of its cells. */
  readonly place: number;
  readonly text: string;
  /** Its values in the first rows, trimmed, without empty ones. */
  readonly values: readonly string[];
}

export interface Guess {
  readonly place: number;
  readonly column: string;
  readonly by: 'values' | 'spelling';
}

interface GuessContext {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  /** The columns that other headings mean. */
  readonly taken: ReadonlySet<string>;
}

const NEARLY_ALL = 0.95;
/** Fewer values show too little. */
const FEWEST_VALUES = 3;
const FEWEST_NAMES = 5;
/** No ledger has more columns that are unknown; a file with ten thousand would take minutes. */
const MOST_GUESSED = 200;

export function guessColumns(all: readonly UnknownHeading[], context: GuessContext): Guess[] {
  const unknown = all.slice(0, MOST_GUESSED);
  const byValues = unique(unknown, 'values', (heading) => columnsByValues(heading, context));
  const taken = new Set([...context.taken, ...byValues.map(({ column }) => column)]);
  const rest = unknown.filter(({ place }) => byValues.every((guess) => guess.place !== place));
  const bySpelling = unique(rest, 'spelling', (heading) => columnsBySpelling(heading, { ...context, taken }));
  return [...byValues, ...bySpelling];
}

/** Guesses where a heading has one candidate, which is no candidate of another heading. */
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

/** What the values are as those of a column; those that it refuses are left out. */
function readValues(
  column: ImportColumn,
  values: readonly string[],
  cells: CellContext,
): (string | number)[] {
  const observer = createObserver(cells);
  for (const value of values) observer.look(column, value);
  // What the values do not settle is asked of a person later, whichever column they are of.
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

/** Two different values, or one that is a word and not a letter such as `M`, which may stand for anything. */
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

/** Names differ from each other, other words of people repeat themselves. */
const areNames = (values: readonly string[]): boolean =>
  values.length >= FEWEST_NAMES &&
  nearlyAll(values, isPersonsName) &&
  new Set(values).size >= 0.9 * values.length;

const hasNames = ({ kind, taken }: GuessContext): boolean =>
  ALTERNATIVES[kind]?.others.some((name) => taken.has(name)) ?? false;

/** No member is younger. */
const YOUNGEST = 15;
/** Of the members, a quarter is older; of the cooperatives, hardly any. */
const OLD = 50;

/** @param only whether the kind has no other column of dates; otherwise the years must tell which it is */
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

/** The column with a known heading that differs by a typo, if it takes nearly all of the values. */
function columnsBySpelling({ text, values }: UnknownHeading, { kind, cells, taken }: GuessContext): string[] {
  const dictionary = dictionaryOf(kind);
  const nearest = nearestName(text, [...dictionary.keys()]) ?? '';
  const column = IMPORT_COLUMNS[kind].find(({ name }) => name === dictionary.get(nearest));
  if (column === undefined || taken.has(column.name)) return [];
  return areOf(column, values, cells) ? [column.name] : [];
}

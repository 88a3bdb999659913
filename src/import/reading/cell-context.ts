/** Context of a cell: facts that its value may depend on, besides its text. Also words for choices. */

import { GENDERS, type Gender } from '../../registry/members.ts';
import { CHOICE_LABELS } from '../../values/choice-labels.ts';
import { formatDate, type TimeZone } from '../../values/date-time.ts';
import { FieldError, mayEchoCell } from '../../values/errors.ts';
import { inLanguage, LANGUAGES } from '../../values/language.ts';
import { say } from '../../values/message.ts';
import { GENDER_WORDS, type Words } from './dictionary-words.ts';
import { foldHeading } from './fold-and-misspellings.ts';
import type { NoteKind } from './notes.ts';

/** Orders of day, month and year: `dmy` for 31/3/2024, `mdy` for 3/31/2024, `ymd` for 2024/3/31. */
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Evidence about the order of day, month and year in a column. ISO dates give no evidence. */
type DateForm =
  /** `31/3/2024` */
  | 'day first'
  /** `3/31/2024` */
  | 'month first'
  /** `2024/3/31` */
  | 'year first'
  | 'year last'
  /** `3/4/2024`. Only dates with two digits for day and month, as in 03/04/2024, default to day first. */
  | 'one digit'
  /** `31/3/24`, which may also be 24 March 2031 */
  | 'short year, day first'
  /** `99/3/31` */
  | 'short year first'
  /** `31/3/99` */
  | 'short year last';

/** Result for a cell that cannot be read before its entire column is scanned. */
export const NOT_SURVEYED = new FieldError('');

/** Evidence from all cells of a column, for cells that are ambiguous by themselves. */
export class ColumnSurvey {
  readonly dates = new Set<DateForm>();
  /** First numbers and last numbers of the dates with a two-digit year. Either number may be the year. */
  readonly shortDates = { first: new Set<number>(), last: new Set<number>() };
  /** Highest rate in the column, in per cent. */
  highestRate = 0;
}

/** Evidence about the decimal mark of a column, and about the number of its decimals. */
export type DecimalForm =
  | 'comma'
  /** `1,250,000` */
  | 'thousands'
  /** `12,500`, recorded in addition to `comma` or `thousands` */
  | 'comma before three'
  /** `1250.5` */
  | 'point'
  /** `12.500`, recorded in addition to `point` */
  | 'point before three'
  /** Refused number such as `12,500`, in which the mark may separate decimals or thousands */
  | 'unclear'
  /** Number with more decimals than the column may have, which a map can round */
  | 'too many';

export interface CellContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
  /** The current day in the zone, `YYYY-MM-DD`. */
  readonly today: string;
  /** Order that a map names; undefined without a map or an order. */
  readonly dateOrder: DateOrder | undefined;
  readonly decimalMark: ',' | '.' | undefined;
  /** True for a file with semicolons between cells. Its numbers usually have decimal commas. */
  readonly isSeparatedBySemicolons: boolean;
  /** True for a cell that a workbook stores as a number. */
  readonly isNumber: boolean;
  /** Folded unknown words of a column of choices; undefined if messages must not show the words. */
  readonly unknownWords: Set<string> | undefined;
  /** Evidence from the entire column; undefined before the column is scanned. */
  readonly survey: ColumnSurvey | undefined;
  showDecimal(form: DecimalForm): void;
  note(kind: NoteKind): void;
}

/** Returns a context for a cell that is read on its own. */
export const cellContext = (zone: TimeZone, nowSeconds: number): CellContext => ({
  zone,
  nowSeconds,
  today: formatDate(nowSeconds, zone),
  dateOrder: undefined,
  decimalMark: undefined,
  isSeparatedBySemicolons: false,
  isNumber: false,
  unknownWords: undefined,
  survey: new ColumnSurvey(),
  showDecimal() {},
  note() {},
});

// Words for choices (docs/import-reference.md#words)

/** Words for a gender that are read without a note. */
const GENDER_FORMS: ReadonlyMap<string, Gender> = new Map([
  ['m', 'MALE'],
  ['gabo', 'MALE'],
  ['f', 'FEMALE'],
  ['gore', 'FEMALE'],
]);

const readGenderWord = readChoice(GENDERS, GENDER_WORDS);

export const readGender = (cell: string, context: CellContext): Gender | FieldError =>
  GENDER_FORMS.get(cell.toLowerCase()) ?? readGenderWord(cell, context);

/**
 * Returns a parser of choices in any letter case, and of words that mean a choice. A cell with a question
 * mark expresses doubt and is refused.
 */
export function readChoice<T extends string>(choices: readonly T[], words: Words<T> = {}) {
  const meanings = meaningsOf(choices, words);
  return (cell: string, context: CellContext): T | FieldError => {
    const lower = cell.toLowerCase();
    const choice = choices.find((name) => name.toLowerCase() === lower);
    if (choice !== undefined) return choice;
    const meaning = cell.includes('?') ? undefined : meanings.get(foldHeading(cell));
    if (meaning === undefined) return unknownChoice(cell, choices, context);
    context.note('word');
    return meaning;
  };
}

/** Returns choices by folded word. The words are the choice itself, its labels on the desk, and `words`. */
export function meaningsOf<T extends string>(choices: readonly T[], words: Words<T>): ReadonlyMap<string, T> {
  const spellings = choices.flatMap((choice) => {
    const label = CHOICE_LABELS[choice];
    const labels = label === undefined ? [] : LANGUAGES.map((language) => inLanguage(label, language));
    return [choice, ...labels, ...(words[choice] ?? [])].map((word): [string, T] => [
      foldHeading(word),
      choice,
    ]);
  });
  return new Map(spellings);
}

/** Messages show the unknown words of a column only up to this number: more may be names of people. */
export const MOST_UNKNOWN_WORDS = 3;

function unknownChoice(cell: string, choices: readonly string[], { unknownWords }: CellContext): FieldError {
  if (unknownWords !== undefined && unknownWords.size <= MOST_UNKNOWN_WORDS)
    unknownWords.add(foldHeading(cell));
  return new FieldError(
    unknownWords !== undefined && mayEchoCell(cell)
      ? say('"{cell}" is not a valid choice. Known: {known}.', { cell, known: choices })
      : say('Not a valid choice. Known: {known}.', { known: choices }),
  );
}

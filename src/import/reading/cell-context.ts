/** Facts beside the text of a cell on which its value may depend. */

import { GENDERS, type Gender } from '../../registry/members.ts';
import { formatDate, type TimeZone } from '../../values/date-time.ts';
import { FieldError, mayEchoCell } from '../../values/errors.ts';
import { inLanguage, LANGUAGES } from '../../values/language.ts';
import { say } from '../../values/message.ts';
import { CHOICE_LABELS } from '../../values/text.ts';
import { GENDER_WORDS, type Words } from './dictionary-words.ts';
import { foldHeading } from './fold.ts';
import type { NoteKind } from './notes.ts';

/** `dmy`: 31/3/2024, `mdy`: 3/31/2024, `ymd`: 2024/3/31. */
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/**
 * Orders that the dates of a column show. A date such as `2024-03-31` shows none: it is read in any order.
 */
type DateForm =
  /** `31/3/2024` */
  | 'day first'
  /** `3/31/2024` */
  | 'month first'
  /** `2024/3/31` */
  | 'year first'
  | 'year last'
  /** `3/4/2024`: without evidence, only two digits each are read as day first. */
  | 'one digit'
  /** `31/3/24`, unless it is the 24th of March 2031 */
  | 'short year, day first'
  /** `99/3/31` */
  | 'short year first'
  /** `31/3/99` */
  | 'short year last';

/** Placeholder for the value of a cell that cannot be read before its entire column is surveyed. */
export const NOT_SURVEYED = new FieldError('');

/** Evidence in the cells of an entire column, for those that cannot be read by themselves. */
export class ColumnSurvey {
  readonly dates = new Set<DateForm>();
  /** First and last numbers of its dates with a year of two digits, in either of which the year may be. */
  readonly shortDates = { first: new Set<number>(), last: new Set<number>() };
  /** Per cent. */
  highestRate = 0;
}

/** Evidence of the decimal mark that the decimals of a column give. */
export type DecimalForm =
  | 'comma'
  /** Commas that separate thousands */
  | 'thousands'
  /** `12,500`, which the file reads in one of these two ways */
  | 'comma before three'
  /** `1250.5` */
  | 'point'
  /** `12.500`, which is twelve and a half unless a point separates thousands */
  | 'point before three'
  /** `12,500`, or `12.500` in money, where nothing decides between the two */
  | 'unclear';

/** Context of one column of one file. */
export interface CellContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
  /** The current day in the zone, `YYYY-MM-DD`. */
  readonly today: string;
  /** The order that a map names; undefined without one. */
  readonly dateOrder: DateOrder | undefined;
  readonly decimalMark: ',' | '.' | undefined;
  /** Files separated by semicolons mostly have a decimal comma. */
  readonly isSeparatedBySemicolons: boolean;
  /** True for a cell that a workbook stores as a number. */
  readonly isNumber: boolean;
  /** Unknown words of a column of choices so far, folded; undefined where none of them may be shown. */
  readonly unknownWords: Set<string> | undefined;
  /** Undefined until the column is surveyed. */
  readonly survey: ColumnSurvey | undefined;
  /** Requests a survey of the entire column, without which the cell cannot be read. */
  askForSurvey(): void;
  /** Records a decimal form. A number without a decimal mark has none. */
  showDecimal(form: DecimalForm): void;
  note(kind: NoteKind): void;
}

/** Context for cells of no particular file. */
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
  askForSurvey() {},
  showDecimal() {},
  note() {},
});

// Words for the values of a choice (docs/import-reference.md#words)

/** The registry's own forms, which need no note. */
const GENDER_FORMS: ReadonlyMap<string, Gender> = new Map([
  ['m', 'MALE'],
  ['gabo', 'MALE'],
  ['f', 'FEMALE'],
  ['gore', 'FEMALE'],
]);

const readGenderWord = readChoice(GENDERS, GENDER_WORDS);

export const readGender = (cell: string, context: CellContext): Gender | FieldError =>
  GENDER_FORMS.get(cell.toLowerCase()) ?? readGenderWord(cell, context);

/** Reads a choice in any letter case, or a word that means one. A question mark in the cell means doubt. */
export function readChoice<T extends string>(choices: readonly T[], words: Words<T> = {}) {
  let meanings: ReadonlyMap<string, T> | undefined;
  return (cell: string, context: CellContext): T | FieldError => {
    const lower = cell.toLowerCase();
    const choice = choices.find((name) => name.toLowerCase() === lower);
    if (choice !== undefined) return choice;
    meanings ??= meaningsOf(choices, words);
    const meaning = cell.includes('?') ? undefined : meanings.get(foldHeading(cell));
    if (meaning === undefined) return unknownChoice(cell, choices, context);
    context.note('word');
    return meaning;
  };
}

/** Choices by folded word: the choice itself, its labels on the desk, and the other words in use for it. */
export const meaningsOf = <T extends string>(
  choices: readonly T[],
  words: Words<T>,
): ReadonlyMap<string, T> =>
  new Map(
    choices.flatMap((choice) => {
      const label = CHOICE_LABELS[choice];
      const labels = label === undefined ? [] : LANGUAGES.map((language) => inLanguage(label, language));
      const spellings = [choice, ...labels, ...(words[choice] ?? [])];
      return spellings.map((word): [string, T] => [foldHeading(word), choice]);
    }),
  );

/** With more different words than these, a column is hardly one of choices, and they may be names. */
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

/** Context of a cell: facts other than the cell's text that its value may depend on. */

import { GENDERS, type Gender } from '../../registry/members.ts';
import { formatDate, type TimeZone } from '../../values/date-time.ts';
import { FieldError, mayEchoCell } from '../../values/errors.ts';
import { inLanguage, LANGUAGES } from '../../values/language.ts';
import { say } from '../../values/message.ts';
import { CHOICE_LABELS } from '../../values/text.ts';
import { GENDER_WORDS, type Words } from './dictionary-words.ts';
import { foldHeading } from './fold-and-misspellings.ts';
import type { NoteKind } from './notes.ts';

/** Orders of day, month and year: `dmy` for 31/3/2024, `mdy` for 3/31/2024, `ymd` for 2024/3/31. */
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Evidence about the order of day, month and year in a column. ISO dates such as `2024-03-31` give none. */
type DateForm =
  /** `31/3/2024` */
  | 'day first'
  /** `3/31/2024` */
  | 'month first'
  /** `2024/3/31` */
  | 'year first'
  | 'year last'
  /** `3/4/2024`: ambiguous without evidence, because only dates such as 03/04/2024 default to day first */
  | 'one digit'
  /** `31/3/24`, which might also be 24 March 2031 */
  | 'short year, day first'
  /** `99/3/31` */
  | 'short year first'
  /** `31/3/99` */
  | 'short year last';

/** Result for a cell that cannot be read until its entire column has been scanned. */
export const NOT_SURVEYED = new FieldError('');

/** Evidence from all cells of a column, for cells that are ambiguous by themselves. */
export class ColumnSurvey {
  readonly dates = new Set<DateForm>();
  /** First and last numbers of the dates with a two-digit year. Either may be the year. */
  readonly shortDates = { first: new Set<number>(), last: new Set<number>() };
  /** Highest rate in the column, in per cent. */
  highestRate = 0;
}

/** Evidence about the decimal mark of a column, and about the number of its decimals. */
export type DecimalForm =
  | 'comma'
  /** Commas that separate thousands */
  | 'thousands'
  /** `12,500`, which is read either as `comma` or as `thousands` */
  | 'comma before three'
  /** `1250.5` */
  | 'point'
  /** `12.500`: twelve and a half, unless points separate thousands */
  | 'point before three'
  /** `12,500`, or `12.500` in money, if nothing decides between decimals and thousands */
  | 'unclear'
  /** More decimals than the column may have, in a number that a map could round */
  | 'too many';

/** Context for reading the cells of one column. */
export interface CellContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
  /** The current day in the zone, `YYYY-MM-DD`. */
  readonly today: string;
  /** Order from a map; undefined without an order. */
  readonly dateOrder: DateOrder | undefined;
  readonly decimalMark: ',' | '.' | undefined;
  /** True for a file separated by semicolons, which usually has decimal commas. */
  readonly isSeparatedBySemicolons: boolean;
  /** True for a cell that a workbook stores as a number. */
  readonly isNumber: boolean;
  /** Unknown words found so far in a column of choices, folded; undefined if messages must not show any. */
  readonly unknownWords: Set<string> | undefined;
  /** Evidence from the entire column; undefined until the column has been scanned. */
  readonly survey: ColumnSurvey | undefined;
  /** Requests a scan of the entire column, without which the cell cannot be read. */
  askForSurvey(): void;
  /** Records evidence about the decimal mark. A number without a mark gives no evidence. */
  showDecimal(form: DecimalForm): void;
  note(kind: NoteKind): void;
}

/** Returns a context for a single cell outside a file. */
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

// Words for choices (docs/import-reference.md#words)

/** Forms that the registry itself uses, so they need no note. */
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
 * Returns a reader for a choice in any letter case, or for a word that means a choice. Cells with a question
 * mark express doubt and are refused.
 */
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

/** Returns the choices by folded word: the choice itself, its labels on the desk, and other common words. */
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

/** Maximum number of unknown words in a column of choices. More may be names of people. */
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

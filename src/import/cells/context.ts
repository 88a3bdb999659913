/** What the value of a cell may depend on, beside the cell. */
import { formatDate, type TimeZone } from '../../domain/values/date-time.ts';
import type { NoteKind } from './notes.ts';

/** `dmy`: 31/3/2024, `mdy`: 3/31/2024, `ymd`: 2024/3/31. */
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Which orders the dates of a column show. One such as `2024-03-31` shows nothing: it is read in any. */
export interface DateEvidence {
  /** `31/3/2024` */
  hasDayFirst: boolean;
  /** `3/31/2024` */
  hasMonthFirst: boolean;
  /** `2024/3/31` */
  hasYearFirst: boolean;
  hasYearLast: boolean;
  /** `3/4/2024`: only two digits each are read as day first. */
  hasOneDigit: boolean;
}

/** What the decimals of a column show of its decimal mark. */
export type DecimalForm =
  | 'comma'
  /** Commas that separate thousands. */
  | 'thousands'
  /** `12,500`, which the file reads in one of these two ways. */
  | 'comma before three'
  /** `1250.5` */
  | 'point'
  /** `12.500`, which is twelve and a half unless a point separates thousands. */
  | 'point before three'
  /** `12,500` where nothing says which it is. */
  | 'unclear';

/** Of one column of one file. */
export interface CellContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
  /** The day of now in the zone, `YYYY-MM-DD`. */
  readonly today: string;
  /** What a map says; undefined where none does. */
  readonly dateOrder: DateOrder | undefined;
  readonly decimalMark: ',' | '.' | undefined;
  /** As it is where the comma is the decimal mark. */
  readonly isSeparatedBySemicolons: boolean;
  /** Whether a workbook stores this cell as a number. */
  readonly isNumber: boolean;
  /** The unknown words of a column of words so far, folded; undefined where none of them is shown. */
  readonly unknownWords: Set<string> | undefined;
  /** Undefined until the dates of the column were surveyed. */
  readonly dates: DateEvidence | undefined;
  /** The order of day and month cannot be known before the entire column is. */
  askForSurvey(): void;
  /** Of a number without a decimal mark there is nothing to show. */
  showDecimal(form: DecimalForm): void;
  note(kind: NoteKind): void;
}

export const noDates = (): DateEvidence => ({
  hasDayFirst: false,
  hasMonthFirst: false,
  hasYearFirst: false,
  hasYearLast: false,
  hasOneDigit: false,
});

/** For cells of no particular file. */
export const cellContext = (zone: TimeZone, nowSeconds: number): CellContext => ({
  zone,
  nowSeconds,
  today: formatDate(nowSeconds, zone),
  dateOrder: undefined,
  decimalMark: undefined,
  isSeparatedBySemicolons: false,
  isNumber: false,
  unknownWords: undefined,
  dates: noDates(),
  askForSurvey() {},
  showDecimal() {},
  note() {},
});

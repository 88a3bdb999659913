/** Parses dates in the forms of spreadsheets into days and instants (docs/import-reference.md#dates). */
import { FUTURE_ERROR, formatDate, outOfRange, parseDate, parseDateTime } from '../../values/date-time.ts';
import { FieldError } from '../../values/errors.ts';
import { inLanguage, LANGUAGES } from '../../values/language.ts';
import { asMessage, say } from '../../values/message.ts';
import { type CellContext, type ColumnSurvey, type DateOrder, NOT_SURVEYED } from './cell-context.ts';
import { foldHeading } from './fold-and-misspellings.ts';

// Each pattern captures the first number, the separator, the second and third number, then hour, minute and
// second. Named groups would be slow.

const TIME = String.raw`(?:\s+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?`;
/** Matches three numbers with equal separators, and an optional time. */
const NUMBERS = new RegExp(`^([0-9]{1,4})([/.-])([0-9]{1,2})\\2([0-9]{1,4})${TIME}$`);
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const LAST_MONTH = 12;
const LAST_DAY = 31;

// Dates with the name of the month, in lower case without accents

const DAY = '([0-9]{1,2})(?:er|st|nd|rd|th)?';
const MONTH = String.raw`([a-z]{3,})\.?`;
const MARK = ' ?[ /.,-] ?';
const NAMED = (
  [
    ['dmy', `(?:(?:le|ku ?wa|tariki ya) )?${DAY}(${MARK})${MONTH}${MARK}([0-9]{4}|[0-9]{2})`],
    ['mdy', `${MONTH}([ -])${DAY}(?:, ?|[ -])([0-9]{4})`],
    ['ymd', `([0-9]{4})(${MARK})${MONTH}${MARK}${DAY}`],
  ] as const
).map(([order, date]) => ({ order, pattern: new RegExp(`^${date}${TIME}$`) }));
const HAS_LETTER = /[a-z]/i;

/** Names of each month in all languages, folded. */
const MONTH_NAMES = MONTHS.map((month) => [
  ...LANGUAGES.map((language) => foldHeading(inLanguage(asMessage(month), language))),
  ...(month === 'September' ? ['nzeli'] : []),
]);

/**
 * Returns the number of the month that a word names or abbreviates, such as `fev` or `juil`.
 * @returns undefined for an unknown word, and for an ambiguous abbreviation such as `jui`
 */
function monthNamed(word: string): string | undefined {
  const isMeant = (names: readonly string[]) => names.some((name) => name.startsWith(word));
  const month = MONTH_NAMES.findIndex(isMeant);
  return month < 0 || month !== MONTH_NAMES.findLastIndex(isMeant) ? undefined : String(month + 1);
}

/** Maximum age of a date with a two-digit year, in years. `CENTURY` is the maximum for dates of birth. */
const OLDEST = 50;
const CENTURY = 100;

const CELL_DATE_FAULT = new FieldError('Date has wrong format. Write 2024-03-31 or 31/03/2024.');
const CELL_DATE_TIME_FAULT = new FieldError(
  'Date has wrong format. Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.',
);
const MONTH_FIRST_FAULT = new FieldError(
  'This date begins with the month. If all dates of the file do, say so in a map, "dates": "mdy"; ' +
    'or write 2024-03-31.',
);
const CONTRADICTORY_FAULT = new FieldError(
  'Some dates of this column begin with the day and others with the month. Write 2024-03-31.',
);

/** Reads a date, or the day of a date-time in the registry's time zone. Refuses future days. */
export const readPastDate = (cell: string, context: CellContext) => readDay(cell, context, OLDEST);

export const readBirthDate = (cell: string, context: CellContext) => readDay(cell, context, CENTURY);

function readDay(cell: string, context: CellContext, oldest: number): string | FieldError {
  const { zone, today } = context;
  const iso = toIso(cell, context, oldest);
  if (iso instanceof FieldError) return iso;
  const instant = iso.length > 10 ? parseDateTime(iso, zone) : undefined;
  const date = typeof instant === 'number' ? formatDate(instant, zone) : parseDate(iso);
  const refused = outOfRange(instant) ?? outOfRange(date);
  if (refused !== undefined) return refused;
  if (date instanceof FieldError) return CELL_DATE_FAULT;
  return date > today ? FUTURE_ERROR : date;
}

/** Converts a date or date-time to epoch seconds. Without an offset, the registry's time zone applies. */
export function readDateTime(cell: string, context: CellContext): number | FieldError {
  const iso = toIso(cell, context, OLDEST);
  if (iso instanceof FieldError) return iso;
  const instant = parseDateTime(iso, context.zone);
  if (typeof instant === 'number') return instant;
  return outOfRange(instant) ?? CELL_DATE_TIME_FAULT;
}

export function readPastDateTime(cell: string, context: CellContext): number | FieldError {
  const instant = readDateTime(cell, context);
  return typeof instant === 'number' && instant > context.nowSeconds ? FUTURE_ERROR : instant;
}

export function collectDateForms(cell: string, { dates, shortDates }: ColumnSurvey): void {
  if (isInIsoOrder(cell)) return;
  const [, first = '', , second = '', third = ''] = NUMBERS.exec(cell) ?? [];
  if (first.length === 4 && third.length <= 2) dates.add('year first');
  if (first.length > 2 || (third.length !== 4 && third.length !== 2)) return;
  const [one, two, three] = [Number(first), Number(second), Number(third)];
  const isMonthFirst = two > LAST_MONTH && one <= LAST_MONTH;
  const isDayFirst = one > LAST_MONTH && two <= LAST_MONTH;
  if (third.length === 2) {
    if (one === 0 || one > LAST_DAY) {
      dates.add('short year first');
      return;
    }
    shortDates.first.add(one);
    shortDates.last.add(three);
    if (three === 0 || three > LAST_DAY) dates.add('short year last');
    if (isDayFirst) dates.add('short year, day first');
    if (isMonthFirst) dates.add('month first');
    return;
  }
  dates.add('year last');
  if (isDayFirst) dates.add('day first');
  if (isMonthFirst) dates.add('month first');
  // With equal day and month, both orders give the same date.
  if ((first.length === 1 || second.length === 1) && one !== two) dates.add('one digit');
}

/**
 * True if the first numbers of the dates in a column may be years of two digits. Years repeat more often than
 * days. So fewer distinct first numbers than last numbers indicate years.
 */
const mayBeginWithYear = ({ dates, shortDates: { first, last } }: ColumnSurvey): boolean =>
  dates.has('year first') ||
  dates.has('short year first') ||
  (!dates.has('short year last') && first.size < last.size);

const isDayFirst = (survey: ColumnSurvey): boolean =>
  survey.dates.has('day first') || (survey.dates.has('short year, day first') && !mayBeginWithYear(survey));

/** Returns the value of `dates` in a map; null for ambiguous dates, undefined if the map needs no order. */
export function dateOrderOf(survey: ColumnSurvey): DateOrder | null | undefined {
  const { dates, shortDates } = survey;
  const hasShort = shortDates.first.size > 0;
  if (dates.has('year first') || dates.has('short year first'))
    return dates.has('year last') || hasShort ? null : 'ymd';
  // A single date that is valid only with the month first must not decide how all other dates are read.
  if (dates.has('month first') || (hasShort && mayBeginWithYear(survey))) return null;
  if (isDayFirst(survey)) return 'dmy';
  return dates.has('one digit') || hasShort ? null : undefined;
}

const isInIsoOrder = (cell: string): boolean => cell[4] === '-' && cell[7] === '-';

/** Converts a date in any accepted form to ISO 8601. Returns a text that is not a date unchanged. */
function toIso(cell: string, context: CellContext, oldest: number): string | FieldError {
  if (isInIsoOrder(cell)) return cell;
  const match = NUMBERS.exec(cell);
  const date = match === null ? withMonthName(cell, context) : withNumbers(match, context);
  if (date === undefined || date instanceof FieldError) return date ?? cell;
  const { year, month, day, hour, minute, second } = date;
  const monthAndDay = `${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const fullYear = year.length === 4 ? year : pastYear(cell, { year, monthAndDay, oldest }, context);
  if (fullYear instanceof FieldError) return fullYear;
  const iso = `${fullYear}-${monthAndDay}`;
  return hour === undefined ? iso : `${iso}T${hour.padStart(2, '0')}:${minute}:${second}`;
}

function partsOf(match: RegExpExecArray, order: DateOrder) {
  const [, first = '', , second = '', third = '', hour, minute = '', seconds = '00'] = match;
  const [year, month, day] = {
    ymd: [first, second, third] as const,
    mdy: [third, first, second] as const,
    dmy: [third, second, first] as const,
  }[order];
  return { year, month, day, hour, minute, second: seconds };
}

type DateParts = ReturnType<typeof partsOf>;

/** @returns undefined if the text is not a date, or if the map expects the year in another position */
function withMonthName(cell: string, { dateOrder }: CellContext): DateParts | undefined {
  if (!HAS_LETTER.test(cell)) return undefined;
  const text = cell.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  for (const { order, pattern } of NAMED) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const parts = partsOf(match, order);
    const month = monthNamed(parts.month);
    const isYearElsewhere = parts.year.length === 2 && dateOrder === 'ymd';
    return month === undefined || isYearElsewhere ? undefined : { ...parts, month };
  }
  return undefined;
}

/** @returns undefined if the numbers are not a date, or if the map expects the year in another position */
function withNumbers(match: RegExpExecArray, context: CellContext): DateParts | undefined | FieldError {
  const [, first = '', mark = '', second = '', third = ''] = match;
  const order = context.dateOrder ?? orderOf({ first, second, third, mark }, context);
  if (order === undefined || order instanceof FieldError) return order;
  const parts = partsOf(match, order);
  const { year, month, day } = parts;
  if ((year.length !== 4 && year.length !== 2) || month.length > 2 || day.length > 2) return undefined;
  return parts;
}

/** Completes a two-digit year so that the date is in the past. @param oldest maximum age, in years */
function pastYear(
  cell: string,
  { year, monthAndDay, oldest }: { year: string; monthAndDay: string; oldest: number },
  { today, note }: CellContext,
): string | FieldError {
  const thisCentury = today.slice(0, 2) + year;
  const date = parseDate(`${thisCentury}-${monthAndDay}`);
  if (date instanceof FieldError) return thisCentury;
  const lastCentury = String(Number(thisCentury) - CENTURY);
  const isPast = date <= today;
  if (!isPast && Number(today.slice(0, 4)) - Number(lastCentury) > oldest)
    return new FieldError(
      say('{date} may be in {one} or {other}. Write the year with four digits.', {
        date: cell,
        one: lastCentury,
        other: thisCentury,
      }),
    );
  note('two_digit_year');
  return isPast ? thisCentury : lastCentury;
}

/** Numbers of a date in the order of the cell, and the separator between them (`mark`). */
type Numbers = Readonly<Record<'first' | 'second' | 'third' | 'mark', string>>;

/**
 * Determines the order of a date without a map. A date such as 03/04/2024 begins with the day unless other
 * dates of the column show another order. For any other form, other dates must show the order.
 * @returns undefined for a text that is not a date
 */
function orderOf(numbers: Numbers, context: CellContext): 'dmy' | undefined | FieldError {
  const { first, second, third } = numbers;
  const isShort = third.length === 2;
  if (first.length > 2 || (third.length !== 4 && !isShort)) return undefined;
  const [one, two] = [Number(first), Number(second)];
  const hasTwoDigits = first.length === 2 && second.length === 2 && !isShort;
  const isMonthFirst = two > LAST_MONTH && one <= LAST_MONTH;
  const { survey } = context;
  if (survey === undefined) return hasTwoDigits && !isMonthFirst ? 'dmy' : NOT_SURVEYED;
  const [hasDayFirst, hasMonthFirst] = [isDayFirst(survey), survey.dates.has('month first')];
  if (isMonthFirst) return hasDayFirst ? CONTRADICTORY_FAULT : MONTH_FIRST_FAULT;
  if (isShort && (!hasDayFirst || hasMonthFirst || mayBeginWithYear(survey)))
    return hasDayFirst && hasMonthFirst ? CONTRADICTORY_FAULT : unclearNumbers(numbers);
  const isOpen = one <= LAST_MONTH && one !== two;
  if (isOpen && (hasMonthFirst || (!hasDayFirst && !hasTwoDigits)))
    return hasDayFirst ? CONTRADICTORY_FAULT : bothOrders(numbers);
  if (!hasTwoDigits && !isShort) context.note('date_order');
  return 'dmy';
}

const textOf = ({ first, second, third, mark }: Numbers): string => [first, second, third].join(mark);

const unclearNumbers = (numbers: Numbers): FieldError =>
  new FieldError(
    say(
      'It is unclear which number of {date} is the day, the month and the year. ' +
        'Write the year with four digits, or name the order in a map, "dates": "dmy", "mdy" or "ymd".',
      { date: textOf(numbers) },
    ),
  );

function bothOrders(numbers: Numbers): FieldError {
  const { first, second, third: year } = numbers;
  const inWords = (day: string, month: string) =>
    say('{day} {month}', { day: Number(day), month: asMessage(MONTHS[Number(month) - 1] as string) });
  return new FieldError(
    say(
      '{date} may be {one} or {other} {year}. Name the order in a map, "dates": "dmy" or "mdy", ' +
        'or write 2024-03-31.',
      {
        date: textOf(numbers),
        one: inWords(first, second),
        other: inWords(second, first),
        year,
      },
    ),
  );
}

export const LAST_SECOND = 'T23:59:59';

/**
 * Returns the `paid_until` for a paid amount that includes all payments of a day: the end of the day. For
 * today, which has not ended, returns an empty cell, which means the time of the import.
 * @param today `YYYY-MM-DD`
 */
export function untilEndOf(day: string, today: string): string {
  if (day === today) return '';
  return /^\d{4}-\d\d-\d\d$/.test(day) ? day + LAST_SECOND : day;
}

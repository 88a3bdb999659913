/** Parses dates as spreadsheets write them into days and instants (docs/import-reference.md#dates). */
import { FUTURE_ERROR, formatDate, outOfRange, parseDate, parseDateTime } from '../../values/date-time.ts';
import { FieldError } from '../../values/errors.ts';
import { asMessage, say } from '../../values/message.ts';
import type { CellContext, DateForm, DateOrder } from './cell-context.ts';

/** Three numbers with the same separator, and an optional time. */
const NUMBERS =
  /^([0-9]{1,4})([/.-])([0-9]{1,2})\2([0-9]{1,4})(?:\s+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?$/;
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

const CELL_DATE_FAULT = new FieldError('Date has wrong format. Write 2024-03-31 or 31/03/2024.');
const CELL_DATE_TIME_FAULT = new FieldError(
  'Date has wrong format. Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.',
);
const MONTH_FIRST_FAULT = new FieldError(
  'This date begins with the month. If all of the file do, say so in a map, "dates": "mdy"; ' +
    'or write 2024-03-31.',
);
const CONTRADICTORY_FAULT = new FieldError(
  'Some dates of this column begin with the day and others with the month. Write 2024-03-31.',
);
/** Placeholder for the result of a cell that cannot be read before its entire column is surveyed. */
const NOT_SURVEYED = new FieldError('');

/** Reads `2024-03-31`, `31/03/2024` or the day of a date-time in the registry's zone; not after today. */
export function readPastDate(cell: string, context: CellContext): string | FieldError {
  const { zone, today } = context;
  const iso = toIso(cell, context);
  if (iso instanceof FieldError) return iso;
  const instant = iso.length > 10 ? parseDateTime(iso, zone) : undefined;
  const date = typeof instant === 'number' ? formatDate(instant, zone) : parseDate(iso);
  const refused = outOfRange(instant) ?? outOfRange(date);
  if (refused !== undefined) return refused;
  if (date instanceof FieldError) return CELL_DATE_FAULT;
  return date > today ? FUTURE_ERROR : date;
}

/** Epoch seconds of a date or date-time, which is in the registry's zone unless it has an offset. */
export function readDateTime(cell: string, context: CellContext): number | FieldError {
  const iso = toIso(cell, context);
  if (iso instanceof FieldError) return iso;
  const instant = parseDateTime(iso, context.zone);
  if (typeof instant === 'number') return instant;
  return outOfRange(instant) ?? CELL_DATE_TIME_FAULT;
}

export function readPastDateTime(cell: string, context: CellContext): number | FieldError {
  const instant = readDateTime(cell, context);
  return typeof instant === 'number' && instant > context.nowSeconds ? FUTURE_ERROR : instant;
}

/** Adds the orders that a cell shows to the evidence of its column. */
export function collectDateForms(cell: string, forms: Set<DateForm>): void {
  if (isInIsoOrder(cell)) return;
  const [, first = '', , second = '', third = ''] = NUMBERS.exec(cell) ?? [];
  if (first.length === 4 && third.length <= 2) forms.add('year first');
  if (first.length > 2 || third.length !== 4) return;
  const [one, two] = [Number(first), Number(second)];
  forms.add('year last');
  if (one > LAST_MONTH && two <= LAST_MONTH) forms.add('day first');
  if (two > LAST_MONTH && one <= LAST_MONTH) forms.add('month first');
  // Equal numbers are the same date in either order.
  if ((first.length === 1 || second.length === 1) && one !== two) forms.add('one digit');
}

/** The order for a map; null if the dates do not settle it, undefined if none is needed. */
export function dateOrderOf(forms: ReadonlySet<DateForm>): DateOrder | null | undefined {
  if (forms.has('year first')) return forms.has('year last') ? null : 'ymd';
  // A single date with an impossible month must not turn all the others round.
  if (forms.has('month first')) return null;
  if (forms.has('day first')) return 'dmy';
  return forms.has('one digit') ? null : undefined;
}

const isInIsoOrder = (cell: string): boolean => cell[4] === '-' && cell[7] === '-';

/** The date in the order of ISO 8601; a text that is not three numbers is returned unchanged. */
function toIso(cell: string, context: CellContext): string | FieldError {
  if (isInIsoOrder(cell)) return cell;
  const match = NUMBERS.exec(cell);
  if (match === null) return cell;
  const [, first = '', mark = '', second = '', third = '', hour, minute = '', seconds = '00'] = match;
  const numbers = { first, second, third, mark };
  const order = context.dateOrder ?? orderOf(numbers, context);
  if (order instanceof FieldError) return order;
  const iso = order === undefined ? undefined : inOrder(order, numbers);
  if (iso === undefined) return cell;
  return hour === undefined ? iso : `${iso}T${hour.padStart(2, '0')}:${minute}:${seconds}`;
}

/** The numbers of a date, in order, and their separator. */
type Numbers = Readonly<Record<'first' | 'second' | 'third' | 'mark', string>>;

/** @returns undefined if the year is not where the order expects it */
function inOrder(order: DateOrder, { first, second, third }: Numbers): string | undefined {
  const [year, month, day] = {
    ymd: [first, second, third] as const,
    mdy: [third, first, second] as const,
    dmy: [third, second, first] as const,
  }[order];
  if (year.length !== 4 || month.length > 2 || day.length > 2) return undefined;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/**
 * Determines the order of a date without a map. With two digits each, the day is first, unless the column
 * shows another order; with one digit, the column must show it.
 * @returns undefined for a text in neither order
 */
function orderOf(numbers: Numbers, context: CellContext): 'dmy' | undefined | FieldError {
  const { first, second, third } = numbers;
  if (first.length > 2 || third.length !== 4) return undefined;
  const [one, two] = [Number(first), Number(second)];
  const hasTwoDigits = first.length === 2 && second.length === 2;
  const isMonthFirst = two > LAST_MONTH && one <= LAST_MONTH;
  const { dates } = context;
  if (dates === undefined) {
    if (hasTwoDigits && !isMonthFirst) return 'dmy';
    context.askForSurvey();
    return NOT_SURVEYED;
  }
  const [hasDayFirst, hasMonthFirst] = [dates.has('day first'), dates.has('month first')];
  if (isMonthFirst) return hasDayFirst ? CONTRADICTORY_FAULT : MONTH_FIRST_FAULT;
  const isOpen = one <= LAST_MONTH && one !== two;
  if (isOpen && (hasMonthFirst || (!hasDayFirst && !hasTwoDigits)))
    return hasDayFirst ? CONTRADICTORY_FAULT : bothOrders(numbers);
  if (!hasTwoDigits) context.note('date_order');
  return 'dmy';
}

function bothOrders({ first, second, third: year, mark }: Numbers): FieldError {
  const inWords = (day: string, month: string) =>
    say('{day} {month}', { day: Number(day), month: asMessage(MONTHS[Number(month) - 1] as string) });
  return new FieldError(
    say(
      '{date} may be {one} or {other} {year}. Name the order in a map, "dates": "dmy" or "mdy", ' +
        'or write 2024-03-31.',
      {
        date: [first, second, year].join(mark),
        one: inWords(first, second),
        other: inWords(second, first),
        year,
      },
    ),
  );
}

/** Dates as spreadsheets write them → days and instants (docs/operating.md#what-spreadsheets-do). */
import { FUTURE_ERROR, formatDate, outOfRange, parseDate, parseDateTime } from '../../domain/date-time.ts';
import { FieldError } from '../../domain/errors.ts';
import type { CellContext } from './context.ts';

const DAY_FIRST = /^([0-9]{2})\/([0-9]{2})\/([0-9]{4})$/;
const ONE_DIGIT = /^[0-9]{1,2}\/[0-9]{1,2}\/[0-9]{4}$/;
const CELL_DATE_FAULT = new FieldError('Date has wrong format. Write 2024-03-31 or 31/03/2024.');
const ONE_DIGIT_FAULT = new FieldError('Write day and month with two digits: 31/03/2024.');
const CELL_DATE_TIME_FAULT = new FieldError(
  'Date has wrong format. Write 2024-03-31, 31/03/2024 or 2024-03-31T08:30:00+02:00.',
);

const isoOf = (cell: string): string => cell.replace(DAY_FIRST, '$3-$2-$1');

/** `2024-03-31`, `31/03/2024` or the day of a date-time in the registry's zone; not after today. */
export function readPastDate(cell: string, { zone, today }: CellContext): string | FieldError {
  const instant = cell.length > 10 ? parseDateTime(cell, zone) : undefined;
  const date = typeof instant === 'number' ? formatDate(instant, zone) : parseDate(isoOf(cell));
  const refused = outOfRange(instant) ?? outOfRange(date);
  if (refused !== undefined) return refused;
  if (date instanceof FieldError)
    return !DAY_FIRST.test(cell) && ONE_DIGIT.test(cell) ? ONE_DIGIT_FAULT : CELL_DATE_FAULT;
  return date > today ? FUTURE_ERROR : date;
}

/** Epoch seconds of a date or date-time; without an offset it is in the registry's zone. */
export function readDateTime(cell: string, { zone }: CellContext): number | FieldError {
  const instant = parseDateTime(isoOf(cell), zone);
  if (typeof instant === 'number') return instant;
  const refused = outOfRange(instant);
  if (refused !== undefined) return refused;
  return !DAY_FIRST.test(cell) && ONE_DIGIT.test(cell) ? ONE_DIGIT_FAULT : CELL_DATE_TIME_FAULT;
}

export function readPastDateTime(cell: string, context: CellContext): number | FieldError {
  const instant = readDateTime(cell, context);
  return typeof instant === 'number' && instant > context.nowSeconds ? FUTURE_ERROR : instant;
}

/** Cells with one mobile number or several → the first (docs/import-reference.md#what-spreadsheets-do). */

import { parseMobile } from '../../domain/membership/mobile.ts';
import { FieldError } from '../../domain/values/errors.ts';
import type { CellContext } from './context.ts';

/** Between words with one space at most: an expression for any number of them takes the square of it. */
const BETWEEN_NUMBERS = / ?[/;,|&\n] ?| (?:ou|et|or|and|na|cyangwa) /i;
/** What looks like a number of a telephone, a mobile one or not. */
const NUMBER = /^[+(]?[0-9][0-9\s().-]{5,18}$/;

/** The mobile number; of several, the first, if all of them look like telephone numbers. */
export function readMobile(cell: string, context: CellContext): string | FieldError {
  const mobile = parseMobile(cell);
  if (!(mobile instanceof FieldError)) return mobile;
  const parts = cell.replace(/[^\S\n]+/g, ' ').split(BETWEEN_NUMBERS);
  const [first = '', ...others] = parts.filter((part) => part.trim() !== '');
  const firstMobile = parseMobile(first);
  if (
    others.length === 0 ||
    firstMobile instanceof FieldError ||
    !others.every((other) => NUMBER.test(other))
  )
    return mobile;
  context.note('second_phone');
  return firstMobile;
}

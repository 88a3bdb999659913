/** Cells with one mobile number or several → the first (docs/import-reference.md#what-spreadsheets-do). */

import { parseMobile } from '../../domain/membership/mobile.ts';
import { FieldError } from '../../domain/values/errors.ts';
import type { CellContext } from './context.ts';

const BETWEEN_NUMBERS = /\s*[/;,|&\n]\s*|\s+(?:ou|et|or|and|na|cyangwa)\s+/i;
/** What looks like a number of a telephone, a mobile one or not. */
const NUMBER = /^[+(]?[0-9][0-9\s().-]{5,18}$/;

/** The mobile number; of several, the first, if all of them look like telephone numbers. */
export function readMobile(cell: string, context: CellContext): string | FieldError {
  const mobile = parseMobile(cell);
  if (!(mobile instanceof FieldError)) return mobile;
  const [first = '', ...others] = cell.split(BETWEEN_NUMBERS).filter((part) => part !== '');
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

/** Parses mobile numbers, and national IDs in which a spreadsheet may have lost digits. */

import { FieldError } from '../../values/errors.ts';
import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../values/identity-card.ts';
import { parseMobile } from '../../values/telephone.ts';
import type { CellContext } from './cell-context.ts';

// Cells with several mobile numbers (docs/import-reference.md#effects-of-spreadsheets)

/** Separator of numbers, with at most one space on each side. Allowing more would take quadratic time. */
const BETWEEN_NUMBERS = / ?[/;,|&\n] ?| (?:ou|et|or|and|na|cyangwa) /i;
/** Matches texts that look like a telephone number, mobile or not. */
const NUMBER = /^[+(]?[0-9][0-9\s().-]{5,18}$/;

/** Reads a mobile number. If a cell has several telephone numbers, reads the first. */
export function readMobile(cell: string, context: CellContext): string | FieldError {
  const mobile = parseMobile(cell);
  if (!(mobile instanceof FieldError)) return mobile;
  const parts = cell.replace(/[^\S\n]+/g, ' ').split(BETWEEN_NUMBERS);
  const [first = '', ...further] = parts.filter((part) => part.trim() !== '');
  const firstMobile = parseMobile(first);
  const areNumbers = further.length > 0 && further.every((part) => NUMBER.test(part));
  if (!areNumbers || firstMobile instanceof FieldError) return mobile;
  context.note('second_phone');
  return firstMobile;
}

// National IDs in the forms of spreadsheets (docs/import-reference.md#effects-of-spreadsheets)

const SCIENTIFIC = /^[0-9](?:[.,][0-9]+)?[Ee]\+?[0-9]+$/;
const NUMBER_FAULT = new FieldError(
  'A spreadsheet turned this national ID into a number and lost digits. ' +
    'Format the column as text and enter it again.',
);

export function readIdentityCard(cell: string, { isNumber }: CellContext): string | FieldError {
  // A workbook stores only 15 digits of a number, even if the cell displays more.
  if (isNumber) return NUMBER_FAULT;
  if (isIdentityCard(cell)) return cell;
  const digits = cell.replace(/\s/g, '');
  if (SCIENTIFIC.test(digits)) return NUMBER_FAULT;
  return isIdentityCard(digits) ? digits : IDENTITY_CARD_ERROR;
}

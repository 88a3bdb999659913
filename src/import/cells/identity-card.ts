/** National IDs as spreadsheets write them → 16 digits (docs/import-reference.md#what-spreadsheets-do). */

import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../domain/membership/identity-card.ts';
import { FieldError } from '../../domain/values/errors.ts';
import type { CellContext } from './context.ts';
import { SPACES } from './spaces.ts';

const SCIENTIFIC = /^[0-9](?:[.,][0-9]+)?[Ee]\+?[0-9]+$/;
const NUMBER_FAULT = new FieldError(
  'A spreadsheet turned this national ID into a number and lost digits. ' +
    'Format the column as text and enter it again.',
);

export function readIdentityCard(cell: string, { isNumber }: CellContext): string | FieldError {
  // A workbook keeps 15 digits of a number, whatever the cell shows.
  if (isNumber) return NUMBER_FAULT;
  if (isIdentityCard(cell)) return cell;
  const digits = cell.replace(SPACES, '');
  if (SCIENTIFIC.test(digits)) return NUMBER_FAULT;
  return isIdentityCard(digits) ? digits : IDENTITY_CARD_ERROR;
}

/** Amounts as people and spreadsheets write them → minor units (docs/operating.md#what-spreadsheets-do). */
import { type DecimalKind, parseDecimal } from '../../domain/decimal.ts';
import { FieldError } from '../../domain/errors.ts';
import { SPACES } from './spaces.ts';

const PLAIN = /^-?[0-9]+(?:\.[0-9]+)?$/;
const COMMA_GROUPS = /^[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;
const SPACE_GROUPS = /^[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?:\.[0-9]+)?$/;
const ONE_COMMA_GROUP = /^[0-9]{1,3},[0-9]{3}$/;
const AMBIGUOUS_FAULT = new FieldError(
  'It is unclear whether the comma separates thousands or decimals. Write 12500 or 12.500.',
);
const DECIMAL_COMMA_FAULT = new FieldError(
  'This is a decimal comma. Write a point before the decimals: 1250.50.',
);

/**
 * Minor units of an amount with or without separated thousands. `12,500` is ambiguous where three decimals
 * may be meant, as in kilograms; in money it can only be thousands.
 */
export const readDecimal =
  (kind: DecimalKind) =>
  (cell: string): number | FieldError => {
    if (PLAIN.test(cell)) return parseDecimal(cell, kind);
    if (kind.fractionDigits >= 3 && ONE_COMMA_GROUP.test(cell)) return AMBIGUOUS_FAULT;
    if (COMMA_GROUPS.test(cell)) return parseDecimal(cell.replaceAll(',', ''), kind);
    if (SPACE_GROUPS.test(cell)) return parseDecimal(cell.replace(SPACES, ''), kind);
    return cell.includes(',') ? DECIMAL_COMMA_FAULT : parseDecimal(cell, kind);
  };

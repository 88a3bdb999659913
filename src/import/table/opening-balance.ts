/** What was paid on a loan before payments were recorded (docs/import-reference.md#opening-balances). */
import type { StagedValue } from '../../store/contract/import/import-session.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import type { RowFindings } from './cell-reader.ts';

/** Its columns. */
export const OPENING_BALANCE = ['paid_amount', 'paid_until'];
const PAID_AMOUNT = IMPORT_COLUMNS.loans.findIndex(({ name }) => name === 'paid_amount');
const PAID_UNTIL = PAID_AMOUNT + 1;

/**
 * Completes the opening balance of a loan: one without a cut-off runs until the import.
 * @param values of a row in which neither of the two cells is faulty
 * @param isConstant whether every row has the same cut-off, which then speaks of the paid amounts that are
 * there
 */
export function completeOpeningBalance(
  values: StagedValue[],
  isConstant: boolean,
  nowSeconds: number,
  findings: RowFindings,
): void {
  const paidAmount = values[PAID_AMOUNT] ?? null;
  if (paidAmount !== null && paidAmount !== 0) values[PAID_UNTIL] ??= nowSeconds;
  else if (isConstant) values[PAID_UNTIL] = null;
  else if (paidAmount === null && values[PAID_UNTIL] !== null)
    findings.fault('paid_until', 'Give the paid amount until then as well.');
}

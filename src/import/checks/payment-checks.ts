/** Checks of a payments file against its loans (docs/import-reference.md#payments). */

import { DEFAULT_LOAN_STATUS } from '../../registry/loans.ts';
import {
  DEFAULT_PAYMENT_STATUS,
  LOANS_OF_IMPORTED_PAYMENTS,
  TOO_MUCH_PAID,
} from '../../registry/payments.ts';
import { MAX_MONEY_MINOR } from '../../values/decimal.ts';
import { CUT_OFF, NEW_CUT_OFF, OPENING_BALANCE, TARGETS } from '../staging/staging-tables.ts';
import { type Check, listed, quoted, ROWS, refusedWhere, unknown, where } from './check-statements.ts';

/** SQL expression for the id of a loan; -1 for a loan of an earlier file of a dry run. */
export const KNOWN_LOAN_ID = `coalesce(l.id, (SELECT -1 FROM staging.known_loans k
  WHERE k.cooperative_code = r.cooperative_code AND k.reference = r.loan_reference))`;

/** Saves the loans of a file as an import would store them, for later files of a dry run. */
export const KEEP_LOANS = `INSERT OR REPLACE INTO staging.known_loans
    (cooperative_code, reference, status, paid_until, paid_amount)
  SELECT r.cooperative_code, r.reference, coalesce(r.status, t.status, '${DEFAULT_LOAN_STATUS}'),
    iif(t.id IS NULL, ${NEW_CUT_OFF}, ${CUT_OFF}),
    iif(t.id IS NULL, coalesce(r.paid_amount, 0),
      t.paid_amount_minor - t.opening_balance_minor + ${OPENING_BALANCE})
  FROM staging.rows r CROSS JOIN staging.resolved_references p ON p.line = r.line
  LEFT JOIN main.loans t ON t.id = p.id`;

/** JOINs of the stored payment `t`, and of the loan: `l` if stored, `k` from an earlier file of a dry run. */
const WITH_LOAN = `LEFT JOIN main.loans l ON l.id = p.loan_id
  LEFT JOIN staging.known_loans k
    ON k.cooperative_code = r.cooperative_code AND k.reference = r.loan_reference
  LEFT JOIN main.payments t ON t.id = p.id`;
const ofLoan = (column: string, stored = column): string =>
  `iif(k.reference IS NULL, l.${stored}, k.${column})`;

const IS_RECORDED = `coalesce(t.status, '${DEFAULT_PAYMENT_STATUS}') = 'recorded'
  AND coalesce(r.status, '${DEFAULT_PAYMENT_STATUS}') = 'recorded'`;

/** SQL expression for the amount that a row adds to the paid amount of its loan. */
const ADDED = `iif(${IS_RECORDED}, coalesce(r.amount, 0), 0) - iif(t.status = 'recorded', t.amount_minor, 0)`;

/** Columns in which a change of a void payment is refused. A change of its status is ignored. */
const FIXED_WHEN_VOID = TARGETS.payments.columns.filter(({ from }) => from !== 'status');

export const PAYMENT_CHECKS: readonly Check[] = [
  unknown(
    'loan_reference',
    'There is no loan with the reference "{code}" in the cooperative. Import its loans first.',
    'There is no loan with this reference in the cooperative. Import its loans first.',
    'p.cooperative_id IS NOT NULL AND p.loan_id IS NULL',
  ),
  where(
    'reference',
    'This reference belongs to a payment of another loan.',
    't.loan_id <> p.loan_id',
    'CROSS JOIN main.payments t ON t.id = p.id',
  ),
  refusedWhere(
    'loan_reference',
    `refused_new_payment(${ofLoan('status')})`,
    `p.id IS NULL AND ${ofLoan('status')} NOT IN (${listed(LOANS_OF_IMPORTED_PAYMENTS)})`,
    WITH_LOAN,
  ),
  refusedWhere(
    'paid_at',
    `refused_counted_payment(${ofLoan('paid_until')}, r.paid_at)`,
    `${IS_RECORDED} AND r.paid_at <= ${ofLoan('paid_until')}`,
    WITH_LOAN,
  ),
  ...FIXED_WHEN_VOID.map(({ from, to, changed }) => ({
    ...where(
      from,
      'This field cannot be changed once the payment is void.',
      `t.status = 'void' AND ${changed} IS NOT t.${to}`,
      'CROSS JOIN main.payments t ON t.id = p.id',
    ),
    onlyWith: from,
  })),
  {
    column: 'amount',
    // `total()` returns a floating-point number. It cannot overflow, and is exact for sums near the limit.
    sql: `WITH added AS MATERIALIZED (
      SELECT p.line, r.cooperative_code AS code, r.loan_reference AS reference,
        ${ofLoan('paid_amount', 'paid_amount_minor')} AS paid, ${ADDED} AS amount
      FROM ${ROWS} ${WITH_LOAN} WHERE p.loan_id IS NOT NULL),
      exceeding AS MATERIALIZED (SELECT code, reference FROM added GROUP BY 1, 2
        HAVING min(paid) + total(amount) > ${MAX_MONEY_MINOR})
      SELECT line, ${quoted(TOO_MUCH_PAID)} FROM added
      WHERE amount > 0 AND (code, reference) IN (SELECT code, reference FROM exceeding)`,
  },
];

/** The body of a payment → its values, with every fault: of fields, of rules, of conflicts. */

import type { LoanRecord } from '../../../domain/lending/loans.ts';
import {
  DEFAULT_PAYMENT_STATUS,
  decideNewPayment,
  decidePayment,
  type GivenPayment,
  PAYMENT_FIELDS,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../../../domain/lending/payments.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { completeValues } from '../../../domain/values/declared-fields.ts';
import { type FieldErrorList, notFound } from '../../../domain/values/errors.ts';
import type { LoanStore } from '../../../store/contract/registry.ts';
import type { Decision } from '../../writes/update.ts';

/** What is missing or wrong has its fault already; its substitute only lets the rules see the rest. */
const SUBSTITUTES = { loanId: 0, amountMinor: 0, status: DEFAULT_PAYMENT_STATUS };

/**
 * By a checked body, the values of a new payment, and what accepts them for the loan as it is when they are
 * written. Adds what is wrong with them for the loan as it is now.
 */
export function readNewPayment(
  loans: Pick<LoanStore, 'find'>,
  body: Partial<GivenPayment>,
  { faults, nowSeconds }: Decision,
  zone: TimeZone,
): [values: PaymentValues, decide: (loan: LoanRecord) => PaymentValues] {
  const values = { ...SUBSTITUTES, ...body, paidAt: body.paidAt ?? nowSeconds } as PaymentValues;
  const decide = (loan: LoanRecord) => decideNewPayment(loan, values, zone);
  const loan = body.loanId === undefined ? undefined : loans.find(body.loanId);
  if (loan !== undefined) {
    faults.addFoundBy(() => decide(loan));
    faults.addFoundBy(() => paidAfter(loan, undefined, values));
  }
  return [values, decide];
}

/** The loan of a payment, beside which a change of the payment is decided. */
export function findLoanOf(loans: Pick<LoanStore, 'find'>, { loanId }: PaymentRecord): [loan: LoanRecord] {
  const loan = loans.find(loanId);
  if (loan === undefined) throw notFound();
  return [loan];
}

/**
 * The values of a checked body, in which those of invalid fields are missing: the stored ones stand in for
 * them. Adds what is wrong with the change.
 * @param zone in which messages show times
 */
export function readPaymentValues(
  body: Partial<GivenPayment>,
  stored: PaymentRecord,
  loan: LoanRecord,
  faults: FieldErrorList,
  zone: TimeZone,
): Partial<PaymentValues> {
  const completed = completeValues(PAYMENT_FIELDS, body, stored);
  let values: Partial<PaymentValues> = { loanId: stored.loanId, reference: completed.reference };
  faults.addFoundBy(() => {
    values = decidePayment(stored, loan, completed, zone);
  });
  if (stored.status !== 'void') {
    faults.addFoundBy(() => paidAfter(loan, stored, completed));
  }
  return values;
}

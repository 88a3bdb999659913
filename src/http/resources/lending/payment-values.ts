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
import { onlyGiven } from '../../../domain/values/given.ts';
import { nowSeconds } from '../../../runtime/clock.ts';
import type { LoanStore } from '../../../store/ports/loans.ts';
import type { OwnedRows } from '../../../store/ports/registry.ts';
import { parseBody } from '../../declare/body-fields.ts';
import type { ResourceDependencies } from '../resource.ts';
import { PAYMENT } from './payment-fields.ts';

/** What is missing or wrong has its fault already; its substitute only lets the rules see the rest. */
const SUBSTITUTES = { loanId: 0, amountMinor: 0, status: DEFAULT_PAYMENT_STATUS };

/**
 * Checks the body of a new payment.
 * @returns the values, and what accepts them for the loan as it is when they are written
 * @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included
 */
export async function readNewPayment(
  { payments, loans }: Pick<OwnedRows, 'payments' | 'loans'>,
  { clock, zone }: Pick<ResourceDependencies<unknown>, 'clock' | 'zone'>,
  body: unknown,
): Promise<{ values: PaymentValues; decide: (loan: LoanRecord) => PaymentValues }> {
  const now = nowSeconds(clock);
  const { values: given, faults } = parseBody(PAYMENT.bodies.post, body, { zone, nowSeconds: now });
  const values = {
    ...SUBSTITUTES,
    ...given,
    paidAt: given.paidAt ?? now,
  } as PaymentValues;
  const decide = (loan: LoanRecord) => decideNewPayment(loan, values, zone);
  const loan = given.loanId === undefined ? undefined : await loans.find(given.loanId);
  if (loan !== undefined) {
    faults.addFoundBy(() => decide(loan));
    faults.addFoundBy(() => paidAfter(loan, undefined, values));
  }
  if (!faults.isEmpty && given.loanId !== undefined) {
    const { loanId, reference } = given;
    faults.addAll(await payments.conflicts(onlyGiven({ loanId, reference })));
  }
  faults.throwIfAny();
  return { values, decide };
}

/** The loan of a payment, beside which a change of the payment is decided. */
export async function findLoanOf(
  loans: Pick<LoanStore, 'find'>,
  { loanId }: PaymentRecord,
): Promise<[loan: LoanRecord]> {
  const loan = await loans.find(loanId);
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

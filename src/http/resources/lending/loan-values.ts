/** The body of a loan → its values, with every fault: of fields, of rules, of conflicts with stored rows. */

import {
  decideLoan,
  decideNewLoan,
  type GivenLoan,
  type LoanRecord,
  type LoanValues,
  refuseLoanEnd,
} from '../../../domain/lending/loans.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { FieldErrorList } from '../../../domain/values/errors.ts';
import { type Clock, nowSeconds } from '../../../runtime/clock.ts';
import type { LoanStore } from '../../../store/ports/loans.ts';
import { parseBody } from '../../declare/body-fields.ts';
import { onlyGiven } from '../../declare/query.ts';
import { LOAN_BODY, type LoanBody } from './loan-fields.ts';

export interface LoanDependencies {
  readonly store: LoanStore;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

type LoanDates = Partial<Pick<LoanBody, 'loan_start_date' | 'loan_end_date'>>;

/** A checked body as the domain names it. */
const toGiven = (body: LoanBody): GivenLoan => ({
  memberId: body.member_id,
  reference: body.reference,
  amountMinor: body.amount,
  interestRateHundredths: body.interest_rate,
  loanStartDate: body.loan_start_date,
  loanEndDate: body.loan_end_date,
  status: body.status,
});

/** The stored values as a body would give them. */
export const toLoanBody = (stored: LoanRecord): LoanBody => ({
  member_id: stored.member.id,
  reference: stored.reference,
  amount: stored.amountMinor,
  interest_rate: stored.interestRateHundredths,
  loan_start_date: stored.loanStartDate,
  loan_end_date: stored.loanEndDate,
  status: stored.status,
});

/** Nothing is said of an end whose start is wrong itself. */
function addEndFault(
  faults: FieldErrorList,
  { loan_start_date, loan_end_date }: LoanDates,
  stored?: LoanRecord,
): void {
  if (faults.has('loan_start_date') || faults.has('loan_end_date')) return;
  const dates = { loanStartDate: loan_start_date ?? null, loanEndDate: loan_end_date ?? null };
  const message = refuseLoanEnd(dates, stored);
  if (message !== undefined) faults.add('loan_end_date', message);
}

/**
 * Checks the body of a new loan.
 * @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included
 */
export async function readNewLoan(
  { store, clock, zone }: LoanDependencies,
  body: unknown,
): Promise<LoanValues> {
  const now = nowSeconds(clock);
  const { values, faults } = parseBody(LOAN_BODY, body, { zone, nowSeconds: now });
  addEndFault(faults, values);
  if (!faults.isEmpty && values.member_id !== undefined) {
    const { member_id: memberId, reference } = values;
    faults.addAll(await store.conflicts(onlyGiven({ memberId, reference })));
  }
  faults.throwIfAny();
  const given = values as LoanBody & { member_id: number };
  return decideNewLoan({ ...toGiven(given), memberId: given.member_id }, now);
}

/**
 * The values of a checked body, in which those of invalid fields are missing: the stored ones stand in for
 * them. Adds what is wrong with the change.
 */
export function readLoanValues(
  body: Partial<LoanBody>,
  stored: LoanRecord,
  { faults, nowSeconds: now }: { readonly faults: FieldErrorList; readonly nowSeconds: number },
): Partial<LoanValues> {
  const completed = { ...toLoanBody(stored), ...body };
  let values: Partial<LoanValues> = { memberId: stored.member.id, reference: completed.reference };
  faults.addFoundBy(() => {
    values = decideLoan(stored, toGiven(completed), now);
  });
  addEndFault(faults, completed, stored);
  return values;
}

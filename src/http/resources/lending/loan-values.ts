/** The body of a loan → its values, with every fault: of fields, rules and conflicts with stored rows. */

import {
  decideLoan,
  decideNewLoan,
  type GivenLoan,
  LOAN_FIELDS,
  type LoanRecord,
  type LoanValues,
  refuseLoanEnd,
} from '../../../domain/lending/loans.ts';
import { completeValues } from '../../../domain/values/declared-fields.ts';
import type { FieldErrorList } from '../../../domain/values/errors.ts';
import type { Decision } from '../../writes/update.ts';

/** Nothing is said of an end whose start is wrong itself. */
function addEndFault(
  faults: FieldErrorList,
  { loanStartDate = null, loanEndDate = null }: Partial<GivenLoan>,
  stored?: LoanRecord,
): void {
  if (faults.has('loan_start_date') || faults.has('loan_end_date')) return;
  const message = refuseLoanEnd({ loanStartDate, loanEndDate }, stored);
  if (message !== undefined) faults.add('loan_end_date', message);
}

/** The values of a new loan by a checked body. Adds what is wrong with them together. */
export function readNewLoan(
  body: Partial<GivenLoan>,
  { faults, nowSeconds }: Decision,
): [values: LoanValues] {
  addEndFault(faults, body);
  return [decideNewLoan(body as GivenLoan & { memberId: number }, nowSeconds)];
}

/**
 * The values of a checked body, in which those of invalid fields are missing: the stored ones stand in for
 * them. Adds what is wrong with the change.
 */
export function readLoanValues(
  body: Partial<GivenLoan>,
  stored: LoanRecord,
  { faults, nowSeconds }: Decision,
): Partial<LoanValues> {
  const completed = completeValues(LOAN_FIELDS, body, stored);
  let values: Partial<LoanValues> = { memberId: stored.memberId, reference: completed.reference };
  faults.addFoundBy(() => {
    values = decideLoan(stored, completed, nowSeconds);
  });
  addEndFault(faults, completed, stored);
  return values;
}

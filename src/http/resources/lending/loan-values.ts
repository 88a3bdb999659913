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
import { onlyGiven } from '../../../domain/values/given.ts';
import { nowSeconds } from '../../../runtime/clock.ts';
import type { LoanStore } from '../../../store/ports/loans.ts';
import { parseBody } from '../../declare/body-fields.ts';
import type { ResourceDependencies } from '../resource.ts';
import { LOAN } from './loan-fields.ts';

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

/**
 * Checks the body of a new loan.
 * @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included
 */
export async function readNewLoan(
  loans: Pick<LoanStore, 'conflicts'>,
  { clock, zone }: Pick<ResourceDependencies<unknown>, 'clock' | 'zone'>,
  body: unknown,
): Promise<LoanValues> {
  const now = nowSeconds(clock);
  const { values, faults } = parseBody(LOAN.bodies.post, body, { zone, nowSeconds: now });
  addEndFault(faults, values);
  if (!faults.isEmpty && values.memberId !== undefined) {
    const { memberId, reference } = values;
    faults.addAll(await loans.conflicts(onlyGiven({ memberId, reference })));
  }
  faults.throwIfAny();
  return decideNewLoan(values as GivenLoan & { memberId: number }, now);
}

/**
 * The values of a checked body, in which those of invalid fields are missing: the stored ones stand in for
 * them. Adds what is wrong with the change.
 */
export function readLoanValues(
  body: Partial<GivenLoan>,
  stored: LoanRecord,
  { faults, nowSeconds: now }: { readonly faults: FieldErrorList; readonly nowSeconds: number },
): Partial<LoanValues> {
  const completed = completeValues(LOAN_FIELDS, body, stored);
  let values: Partial<LoanValues> = { memberId: stored.memberId, reference: completed.reference };
  faults.addFoundBy(() => {
    values = decideLoan(stored, completed, now);
  });
  addEndFault(faults, completed, stored);
  return values;
}

/** The loans that a lookup shows of a membership: which, and in what order. */
import type { Loan } from './loans.ts';

/** A loan history shows at most this many (docs/api.md#looking-up-a-person). */
export const LOAN_HISTORY_LIMIT = 10;

type Ordered = Pick<Loan, 'id' | 'status' | 'loanStartDate'>;

/** 0: still to start, 1: started, 2: never started. */
function phaseOf({ status, loanStartDate }: Ordered): number {
  if (status === 'pending' || (status === 'approved' && loanStartDate === null)) return 0;
  return (status === 'rejected' || status === 'cancelled') && loanStartDate === null ? 2 : 1;
}

/** Loans without a date come last; for those still to start no date counts. */
const startOf = (loan: Ordered, phase: number): number =>
  phase === 0 ? 0 : (loan.loanStartDate ?? Number.NEGATIVE_INFINITY);

function compareLoans(a: Ordered, b: Ordered): number {
  const phase = phaseOf(a);
  const difference = phase - phaseOf(b);
  if (difference !== 0) return difference;
  const [startA, startB] = [startOf(a, phase), startOf(b, phase)];
  if (startA !== startB) return startA < startB ? 1 : -1;
  return b.id - a.id;
}

/**
 * The loans that a loan history shows: first those still to start (pending, or approved without a start
 * date), then by start date, latest first, last rejected and cancelled ones that never started; of equal
 * ones, the higher id first (docs/api.md#looking-up-a-person).
 * @param loans all of one membership, in any order
 */
export const selectLoanHistory = <T extends Ordered>(loans: readonly T[]): T[] =>
  [...loans].sort(compareLoans).slice(0, LOAN_HISTORY_LIMIT);

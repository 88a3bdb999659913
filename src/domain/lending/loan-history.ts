/** The loans that a lookup shows of a membership: which, and in what order. */
import type { Loan } from './loans.ts';

/** A loan history shows at most this many (docs/api.md#looking-up-a-person). */
export const LOAN_HISTORY_LIMIT = 10;

type Ordered = Pick<Loan, 'id' | 'status' | 'loanStartDate'>;

/** What was granted comes first: however many applications there are, none hides a debt. */
const GROUPS: { readonly [status in Loan['status']]: number } = {
  approved: 0,
  defaulted: 0,
  paid: 0,
  pending: 1,
  rejected: 2,
  cancelled: 2,
};

/** Those without a start date are the newest of their group. */
const startOf = ({ loanStartDate }: Ordered): number => loanStartDate ?? Number.POSITIVE_INFINITY;

function compareLoans(a: Ordered, b: Ordered): number {
  const difference = GROUPS[a.status] - GROUPS[b.status];
  if (difference !== 0) return difference;
  const [startA, startB] = [startOf(a), startOf(b)];
  if (startA !== startB) return startA < startB ? 1 : -1;
  return b.id - a.id;
}

/**
 * The loans that a loan history shows: first those granted (approved, defaulted or paid), then pending ones,
 * last rejected and cancelled ones; within each those without a start date, then by start date, latest first;
 * of equal ones, the higher id first (docs/api.md#looking-up-a-person).
 * @param loans all of one membership, in any order
 */
export const selectLoanHistory = <T extends Ordered>(loans: readonly T[]): T[] =>
  [...loans].sort(compareLoans).slice(0, LOAN_HISTORY_LIMIT);

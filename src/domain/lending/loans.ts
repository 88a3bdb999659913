/** A loan: what a lookup shows of it, the steps of its status, and what may change when. */
import type { CooperativeSummary } from '../membership/cooperatives.ts';
import { FieldErrorList } from '../values/errors.ts';

export const LOAN_STATUSES = ['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'] as const;
export type LoanStatus = (typeof LOAN_STATUSES)[number];

/** What a new loan gets unless its status is given. */
export const DEFAULT_LOAN_STATUS = 'pending' as const satisfies LoanStatus;

export interface Loan {
  readonly id: number;
  /** Hundredths of a franc. */
  readonly amountMinor: number;
  /** Hundredths of a per cent a year. */
  readonly interestRateHundredths: number;
  readonly status: LoanStatus;
  readonly paidAmountMinor: number;
  /** Epoch seconds, as the following ones. */
  readonly loanStartDate: number | null;
  readonly loanEndDate: number | null;
  readonly approvedAt: number | null;
}

/** The member of a loan, as loans and payments show it. */
export interface LoanMember {
  readonly id: number;
  /** Null of a person who was erased; the name is `(erased)` then. */
  readonly identityCard: string | null;
  readonly fullName: string;
}

/** A loan by its own address. */
export interface LoanRecord extends Loan {
  /** Unique in its cooperative. */
  readonly reference: string;
  readonly member: LoanMember;
  readonly cooperative: CooperativeSummary;
  /** What was paid before payments were recorded; set by imports only. */
  readonly openingBalanceMinor: number;
  /** Epoch seconds: payments until then are in the opening balance. Null without one. */
  readonly paidUntil: number | null;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The values of a loan that its cooperative decides, checked; units as in a Loan. */
export interface LoanValues {
  readonly memberId: number;
  readonly reference: string;
  readonly amountMinor: number;
  readonly interestRateHundredths: number;
  readonly loanStartDate: number | null;
  readonly loanEndDate: number | null;
  readonly status: LoanStatus;
  readonly approvedAt: number | null;
}

export interface LoanFilter {
  readonly identityCard?: string;
  readonly cooperativeId?: number;
  readonly memberId?: number;
  readonly status?: LoanStatus;
}

/** What a request gives of a loan; of a stored one an undefined value stays as it is. */
export interface GivenLoan extends Omit<LoanValues, 'memberId' | 'status' | 'approvedAt'> {
  readonly memberId?: number | undefined;
  readonly status?: LoanStatus | undefined;
}

/** The steps that a status may take over HTTP (docs/api.md#loans-and-payments); imports set any. */
const STEPS: { readonly [status in LoanStatus]: readonly LoanStatus[] } = {
  pending: ['approved', 'rejected', 'cancelled'],
  approved: ['paid', 'defaulted'],
  rejected: [],
  cancelled: [],
  paid: [],
  defaulted: ['paid'],
};
/** What a new loan over HTTP may begin with. */
export const NEW_LOAN_STATUSES = ['pending', 'approved'] as const satisfies readonly LoanStatus[];

const CANNOT_CHANGE = 'This field cannot be changed.';

/** @returns the message for a step that a loan does not take; the same status again is not a step */
export const decideLoanStatus = (stored: LoanStatus, next: LoanStatus): string | undefined =>
  next === stored || STEPS[stored].includes(next) ? undefined : `A loan cannot go from ${stored} to ${next}.`;

type LoanDates = Pick<LoanValues, 'loanStartDate' | 'loanEndDate'>;

/**
 * @param stored the dates that the loan has: an import may have brought an end before the start, which stays
 * until one of the two is changed (docs/api.md#loans)
 * @returns the message for a loan that would end before it starts
 */
export function refuseLoanEnd(given: LoanDates, stored?: LoanDates): string | undefined {
  const { loanStartDate: start, loanEndDate: end } = given;
  if (start === null || end === null || end >= start) return undefined;
  const isStored = start === stored?.loanStartDate && end === stored.loanEndDate;
  return isStored ? undefined : 'Ensure this is not before loan_start_date.';
}

/**
 * The values of a new loan.
 * @param nowSeconds epoch seconds: when it was approved, if it begins so
 * @throws RegistryError `invalid` for a status that no loan begins with
 */
export function decideNewLoan(
  given: GivenLoan & { readonly memberId: number },
  nowSeconds: number,
): LoanValues {
  const faults = new FieldErrorList();
  const status = given.status ?? DEFAULT_LOAN_STATUS;
  if (!(NEW_LOAN_STATUSES as readonly LoanStatus[]).includes(status))
    faults.add('status', `"${status}" is not a valid choice.`);
  faults.throwIfAny();
  return { ...given, status, approvedAt: status === 'approved' ? nowSeconds : null };
}

/**
 * The new values of a stored loan (docs/api.md#loans-and-payments).
 * @param nowSeconds epoch seconds: when it was approved, if this is the step
 * @throws RegistryError `invalid`, with every field that cannot change so
 */
export function decideLoan(stored: LoanRecord, given: GivenLoan, nowSeconds: number): LoanValues {
  const faults = new FieldErrorList();
  const memberId = given.memberId ?? stored.member.id;
  const status = given.status ?? stored.status;
  if (memberId !== stored.member.id) faults.add('member_id', CANNOT_CHANGE);
  const wrongStep = decideLoanStatus(stored.status, status);
  if (wrongStep !== undefined) faults.add('status', wrongStep);
  if (stored.status !== 'pending') {
    const fixed = 'This field cannot be changed once the loan is approved.';
    if (given.amountMinor !== stored.amountMinor) faults.add('amount', fixed);
    if (given.interestRateHundredths !== stored.interestRateHundredths) faults.add('interest_rate', fixed);
  }
  faults.throwIfAny();
  const isApproved = status === 'approved' && stored.status !== 'approved';
  return { ...given, memberId, status, approvedAt: isApproved ? nowSeconds : stored.approvedAt };
}

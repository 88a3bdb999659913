/** Loans: fields, status transitions, rules for changes, and the loan history that a lookup shows. */

import { MONEY, MONEY_OR_ZERO, RATE } from '../values/decimal.ts';
import {
  type DecidedValues,
  findFixed,
  type InputValues,
  isGiven,
  listFields,
  type RecordedField,
  type ValuesOf,
} from '../values/declared-fields.ts';
import { FieldErrorList, refuseFields } from '../values/errors.ts';
import { say } from '../values/message.ts';
import { MAX_LENGTH } from '../values/text.ts';

export const LOAN_STATUSES = ['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'] as const;
export type LoanStatus = (typeof LOAN_STATUSES)[number];

export const DEFAULT_LOAN_STATUS = 'pending' as const satisfies LoanStatus;

const NEW_LOAN_STATUSES = ['pending', 'approved'] as const satisfies readonly LoanStatus[];

export const LOAN_FIELDS = {
  cooperativeId: {
    label: say('Number of the cooperative'),
    kind: 'reference',
    description: 'That of its member.',
    setBy: 'corrections',
    isHidden: true,
    eventBit: 0,
  },
  memberId: {
    label: say('Number of the member'),
    kind: 'reference',
    description: 'The member who borrows.',
    isFixed: true,
    isHidden: true,
    eventBit: 1,
  },
  reference: {
    label: say('Reference'),
    kind: 'text',
    maxLength: MAX_LENGTH.reference,
    description: "The cooperative's own number of the loan; unique there.",
    example: 'HUY-L-0003',
    isKey: true,
    eventBit: 2,
  },
  amountMinor: {
    label: say('Amount'),
    name: 'amount',
    kind: 'decimal',
    decimal: MONEY,
    description: 'Rwandan francs, more than 0.',
    example: '1680000.00',
    eventBit: 3,
  },
  interestRateHundredths: {
    label: say('Interest a year'),
    name: 'interest_rate',
    kind: 'decimal',
    decimal: RATE,
    description: 'Per cent a year, from 0 to 100.',
    example: '19.50',
    eventBit: 4,
  },
  status: {
    label: say('Status'),
    kind: 'choice',
    choices: LOAN_STATUSES,
    description: 'Status of the loan.',
    example: 'approved',
    initial: DEFAULT_LOAN_STATUS,
    whenNew: { choices: NEW_LOAN_STATUSES, description: 'Status of a new loan.', example: 'approved' },
    eventBit: 5,
  },
  paidAmountMinor: {
    label: say('Paid back'),
    name: 'paid_amount',
    kind: 'decimal',
    decimal: MONEY_OR_ZERO,
    description: 'Rwandan francs paid back: the opening balance and the recorded payments.',
    example: '420000.00',
    setBy: 'payments',
    eventBit: 6,
  },
  openingBalanceMinor: {
    label: say('Paid before payments were recorded'),
    name: 'opening_balance',
    nameInFiles: 'paid_amount',
    kind: 'decimal',
    decimal: MONEY_OR_ZERO,
    description: 'Rwandan francs paid before payments were recorded.',
    initial: 0,
    setBy: 'imports',
    isHidden: true,
    eventBit: null,
  },
  paidUntil: {
    label: say('Paid back until'),
    kind: 'past_instant',
    description: 'Payments until then are in the opening balance; null without one.',
    isNullable: true,
    isKeptByEmptyCell: true,
    setBy: 'imports',
    isHidden: true,
    eventBit: null,
  },
  loanStartDate: {
    label: say('Begins on'),
    kind: 'instant',
    description: 'When it starts or started; null when it is not set.',
    example: '2025-01-15T00:00:00+02:00',
    isNullable: true,
    eventBit: 7,
  },
  loanEndDate: {
    label: say('Ends on'),
    kind: 'instant',
    description: 'When it is to end or ended; null when it is not set.',
    example: '2026-07-15T00:00:00+02:00',
    isNullable: true,
    eventBit: 8,
  },
  approvedAt: {
    label: say('Approved on'),
    kind: 'past_instant',
    description: 'Null when it is not set.',
    isNullable: true,
    setBy: 'rules',
    eventBit: 9,
  },
} as const satisfies { readonly [property: string]: RecordedField };

/** Fields of a loan in a lookup, in response order. A response with one loan begins with these fields. */
export const LOAN_HISTORY = [
  'amountMinor',
  'interestRateHundredths',
  'status',
  'paidAmountMinor',
  'loanStartDate',
  'loanEndDate',
  'approvedAt',
] as const satisfies readonly (keyof typeof LOAN_FIELDS)[];

type AllValues = ValuesOf<typeof LOAN_FIELDS>;

export interface Loan extends Pick<AllValues, (typeof LOAN_HISTORY)[number]> {
  readonly id: number;
}

/** Member and cooperative of a loan or payment. */
export interface Owner {
  readonly memberId: number;
  /** Null for an erased person, whose `fullName` is `(erased)`. */
  readonly identityCard: string | null;
  readonly fullName: string;
  readonly cooperativeId: number;
  readonly cooperativeCode: string;
  readonly cooperativeName: string;
}

export interface LoanRecord extends AllValues, Owner {
  readonly id: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface LoanValues extends DecidedValues<typeof LOAN_FIELDS> {}

/** Filters of both loans and payments. */
export interface LendingFilter {
  readonly ids?: readonly number[];
  readonly identityCard?: string;
  readonly cooperativeId?: number;
  readonly status?: string;
  readonly reference?: string;
  /** Epoch seconds, inclusive. */
  readonly updatedSince?: number;
}

export interface LoanFilter extends LendingFilter {
  readonly memberId?: number;
  readonly status?: LoanStatus;
}

export interface LoanInput extends InputValues<typeof LOAN_FIELDS> {}

const GIVEN = listFields(LOAN_FIELDS).filter(isGiven);

/** Status transitions over HTTP (docs/api.md#loans-and-payments). Imports may set any status. */
const STEPS: { readonly [status in LoanStatus]: readonly LoanStatus[] } = {
  pending: ['approved', 'rejected', 'cancelled'],
  approved: ['paid', 'defaulted'],
  rejected: [],
  cancelled: [],
  paid: [],
  defaulted: ['paid'],
};

/** @returns an error message if HTTP requests may not make the transition; keeping a status is allowed */
export const decideLoanStatus = (stored: LoanStatus, next: LoanStatus): string | undefined =>
  next === stored || STEPS[stored].includes(next) ? undefined : `A loan cannot go from ${stored} to ${next}.`;

type LoanDates = Pick<LoanValues, 'loanStartDate' | 'loanEndDate'>;

/**
 * Refuses an end before the start, unless an import stored both dates and the request keeps them
 * (docs/api.md#loans).
 * @param stored undefined for a new loan
 */
export function refuseLoanEnd(submitted: LoanDates, stored?: LoanDates): string | undefined {
  const { loanStartDate: start, loanEndDate: end } = submitted;
  if (start === null || end === null || end >= start) return undefined;
  const isStored = start === stored?.loanStartDate && end === stored.loanEndDate;
  return isStored ? undefined : 'Ensure this is not before loan_start_date.';
}

/** @throws RegistryError `invalid` for a status that a new loan cannot have */
export function decideNewLoan(
  submitted: LoanInput & { readonly memberId: number },
  nowSeconds: number,
): LoanValues {
  const status = submitted.status ?? DEFAULT_LOAN_STATUS;
  if (!(NEW_LOAN_STATUSES as readonly LoanStatus[]).includes(status))
    refuseFields({ status: [`"${status}" is not a valid choice.`] });
  return { ...submitted, status, approvedAt: status === 'approved' ? nowSeconds : null };
}

/**
 * Returns the new values of a stored loan (docs/api.md#loans-and-payments).
 * @throws RegistryError `invalid`, with a message for each field that may not change in this way
 */
export function decideLoan(stored: LoanRecord, submitted: LoanInput, nowSeconds: number): LoanValues {
  const faults = new FieldErrorList();
  const memberId = submitted.memberId ?? stored.memberId;
  const status = submitted.status ?? stored.status;
  faults.addAll(findFixed(GIVEN, stored, { memberId }));
  const wrongStep = decideLoanStatus(stored.status, status);
  if (wrongStep !== undefined) faults.add('status', wrongStep);
  if (stored.status !== 'pending') {
    const fixed = 'This field cannot be changed once the loan is approved.';
    if (submitted.amountMinor !== stored.amountMinor) faults.add('amount', fixed);
    if (submitted.interestRateHundredths !== stored.interestRateHundredths)
      faults.add('interest_rate', fixed);
  }
  faults.throwIfAny();
  const isApproved = status === 'approved' && stored.status !== 'approved';
  return { ...submitted, memberId, status, approvedAt: isApproved ? nowSeconds : stored.approvedAt };
}

export const LOAN_HISTORY_LIMIT = 10;

type Ordered = Pick<Loan, 'id' | 'status' | 'loanStartDate'>;

/** Order of groups in the loan history. Granted loans come first, because a long history is cut off. */
const GROUPS: { readonly [status in Loan['status']]: number } = {
  approved: 0,
  defaulted: 0,
  paid: 0,
  pending: 1,
  rejected: 2,
  cancelled: 2,
};

/** A loan without a start date counts as the newest of its group. */
const startOf = ({ loanStartDate }: Ordered): number => loanStartDate ?? Infinity;

/** Newest first within a group. If neither loan has a start date, the difference is NaN; the id decides. */
const compareLoans = (a: Ordered, b: Ordered): number =>
  GROUPS[a.status] - GROUPS[b.status] || startOf(b) - startOf(a) || b.id - a.id;

/**
 * Returns the loan history in its order (docs/api.md#looking-up-a-person).
 * @param loans all loans of one membership, in any order
 */
export const selectLoanHistory = <T extends Ordered>(loans: readonly T[]): T[] =>
  loans.toSorted(compareLoans).slice(0, LOAN_HISTORY_LIMIT);

/** A payment on a loan: which loan takes it, what may change of it, and what is paid on the loan then. */
import type { CooperativeSummary } from '../membership/cooperatives.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { MAX_MONEY_MINOR } from '../values/decimal.ts';
import { FieldErrorList, refuseFields } from '../values/errors.ts';
import type { LoanMember, LoanRecord, LoanStatus } from './loans.ts';

export const PAYMENT_METHODS = ['cash', 'bank', 'mobile_money', 'deduction'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** A void payment was recorded by mistake: it stays, and counts no longer. */
export const PAYMENT_STATUSES = ['recorded', 'void'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
export const DEFAULT_PAYMENT_STATUS = 'recorded' as const satisfies PaymentStatus;

/** The values of a payment that its cooperative decides, checked. */
export interface PaymentValues {
  readonly loanId: number;
  /** Hundredths of a franc. */
  readonly amountMinor: number;
  readonly method: PaymentMethod;
  /** Unique in its cooperative, among void payments too. */
  readonly reference: string;
  readonly status: PaymentStatus;
  /** Epoch seconds. */
  readonly paidAt: number;
}

export interface PaymentRecord extends PaymentValues {
  readonly id: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of its loan. */
  readonly member: LoanMember;
  readonly cooperative: CooperativeSummary;
}

export interface PaymentFilter {
  readonly identityCard?: string;
  readonly cooperativeId?: number;
  readonly loanId?: number;
  readonly status?: PaymentStatus;
}

/** What a request gives of a stored payment; an undefined value stays as it is. */
export interface GivenPayment extends Pick<PaymentValues, 'amountMinor' | 'method' | 'reference'> {
  readonly loanId?: number | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly paidAt?: number | undefined;
}

/** What decides about a payment: its loan, see docs/api.md#loans-and-payments. */
export type PaidLoan = Pick<LoanRecord, 'status' | 'paidUntil' | 'paidAmountMinor'>;

const TAKES_PAYMENTS: readonly LoanStatus[] = ['approved', 'defaulted'];
/** The loans that also take new payments from files. */
export const LOANS_OF_IMPORTED_PAYMENTS: readonly LoanStatus[] = [...TAKES_PAYMENTS, 'paid'];

/** @returns the message for a loan that takes no new payments over HTTP */
export const refuseNewPayment = (loan: LoanStatus): string | undefined =>
  TAKES_PAYMENTS.includes(loan) ? undefined : `This loan takes no payments: it is ${loan}.`;

/**
 * @param paidAt epoch seconds
 * @param zone in which the message shows the end of the opening balance
 * @returns the message for a payment that the opening balance of its loan includes
 */
export const refuseCountedPayment = (
  { paidUntil }: Pick<LoanRecord, 'paidUntil'>,
  paidAt: number,
  zone: TimeZone,
): string | undefined => {
  if (paidUntil === null || paidAt > paidUntil) return undefined;
  const end = formatDateTime(paidUntil, zone);
  return `Already counted in the opening balance of this loan, which runs until ${end}.`;
};

/**
 * Accepts a new payment.
 * @returns the values
 * @throws RegistryError `invalid`: the loan takes no payments, or its opening balance includes this one
 */
export function decideNewPayment(loan: PaidLoan, values: PaymentValues, zone: TimeZone): PaymentValues {
  const faults = new FieldErrorList();
  const refused = refuseNewPayment(loan.status);
  if (refused !== undefined) faults.add('loan_id', refused);
  if (values.status !== 'recorded') faults.add('status', '"void" is not a valid choice.');
  const counted = refuseCountedPayment(loan, values.paidAt, zone);
  if (counted !== undefined) faults.add('paid_at', counted);
  faults.throwIfAny();
  return values;
}

/** The name of each value in requests: a void payment keeps all of them. */
const FIELDS = {
  loanId: 'loan_id',
  amountMinor: 'amount',
  method: 'method',
  reference: 'reference',
  status: 'status',
  paidAt: 'paid_at',
} as const satisfies { readonly [value in keyof PaymentValues]: string };
const VALUES = Object.keys(FIELDS) as (keyof PaymentValues)[];

/**
 * The new values of a stored payment: corrected or void, whatever the status of its loan; a void one stays as
 * it is.
 * @throws RegistryError `invalid`, with every field that cannot change so
 */
export function decidePayment(
  stored: PaymentRecord,
  loan: PaidLoan,
  given: GivenPayment,
  zone: TimeZone,
): PaymentValues {
  const values: PaymentValues = {
    ...{ loanId: given.loanId ?? stored.loanId, status: given.status ?? stored.status },
    ...{ paidAt: given.paidAt ?? stored.paidAt, amountMinor: given.amountMinor },
    ...{ method: given.method, reference: given.reference },
  };
  const faults = new FieldErrorList();
  if (values.loanId !== stored.loanId) faults.add('loan_id', 'This field cannot be changed.');
  if (stored.status === 'void') {
    for (const value of VALUES)
      if (values[value] !== stored[value] && !faults.has(FIELDS[value]))
        faults.add(FIELDS[value], 'This field cannot be changed once the payment is void.');
  } else if (values.status === 'recorded') {
    const counted = refuseCountedPayment(loan, values.paidAt, zone);
    if (counted !== undefined) faults.add('paid_at', counted);
  }
  faults.throwIfAny();
  return values;
}

/** The fault of a payment with which its loan would have more than the largest amount. */
export const TOO_MUCH_PAID =
  'What is paid on this loan would have more than 12 digits before the decimal point.';

/** What a payment adds to the paid amount of its loan. */
const countedMinor = (payment: Pick<PaymentValues, 'status' | 'amountMinor'> | undefined): number =>
  payment?.status === 'recorded' ? payment.amountMinor : 0;

/**
 * What is paid on a loan after a change of one of its payments, in hundredths.
 * @param before undefined for a new payment
 * @throws RegistryError `invalid` for a total with more digits than amounts have
 */
export function paidAfter(
  loan: Pick<LoanRecord, 'paidAmountMinor'>,
  before: PaymentRecord | undefined,
  after: PaymentValues,
): number {
  // The part without this payment first: each step is an integer far below 2^53.
  const paid = loan.paidAmountMinor - countedMinor(before) + countedMinor(after);
  if (paid > MAX_MONEY_MINOR) refuseFields({ amount: [TOO_MUCH_PAID] });
  return paid;
}

/** Payments on loans: fields, rules for new and changed payments, and the amount paid on the loan. */

import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { MAX_MONEY_MINOR, MONEY } from '../values/decimal.ts';
import {
  completeValues,
  type DecidedValues,
  findFixed,
  type InputValues,
  isGiven,
  listFields,
  NOW,
  type RecordedField,
} from '../values/declared-fields.ts';
import { FieldErrorList, refuseFields } from '../values/errors.ts';
import { asMessage, type Message, say, Written } from '../values/message.ts';
import { MAX_LENGTH } from '../values/text.ts';
import type { LendingFilter, LoanRecord, LoanStatus, Owner } from './loans.ts';

export const PAYMENT_METHODS = ['cash', 'bank', 'mobile_money', 'deduction'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** A void payment was recorded by mistake. Its row stays, but does not count. */
export const PAYMENT_STATUSES = ['recorded', 'void'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
export const DEFAULT_PAYMENT_STATUS = 'recorded' as const satisfies PaymentStatus;

export const PAYMENT_FIELDS = {
  cooperativeId: {
    label: say('Number of the cooperative'),
    kind: 'reference',
    description: 'That of its loan.',
    setBy: 'corrections',
    isHidden: true,
    eventBit: 0,
  },
  loanId: {
    label: say('Number of the loan'),
    kind: 'reference',
    description: 'The loan that is paid back.',
    isFixed: true,
    eventBit: 1,
  },
  amountMinor: {
    label: say('Amount'),
    name: 'amount',
    kind: 'decimal',
    decimal: MONEY,
    description: 'Rwandan francs, more than 0.',
    eventBit: 3,
  },
  method: {
    label: say('Way of payment'),
    kind: 'choice',
    choices: PAYMENT_METHODS,
    description: 'How it was paid.',
    eventBit: 4,
  },
  reference: {
    label: say('Reference'),
    kind: 'text',
    maxLength: MAX_LENGTH.reference,
    description: "The cooperative's own number of the payment; unique there, void ones included.",
    example: 'HUY-P-0012',
    isKey: true,
    eventBit: 2,
  },
  status: {
    label: say('Status'),
    kind: 'choice',
    choices: PAYMENT_STATUSES,
    description: 'Only recorded payments count; a void payment can no longer be changed.',
    initial: DEFAULT_PAYMENT_STATUS,
    whenNew: { choices: [DEFAULT_PAYMENT_STATUS], description: 'Status of a new payment.' },
    eventBit: 5,
  },
  paidAt: {
    label: say('Paid on'),
    kind: 'past_instant',
    description: 'When it was paid; now, if a new payment does not say.',
    initial: NOW,
    isRequiredInFiles: true,
    eventBit: 6,
  },
} as const satisfies { readonly [property: string]: RecordedField };

export interface PaymentValues extends DecidedValues<typeof PAYMENT_FIELDS> {}

export interface PaymentRecord extends PaymentValues, Owner {
  readonly id: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface PaymentFilter extends LendingFilter {
  readonly loanId?: number;
  readonly status?: PaymentStatus;
}

export interface PaymentInput extends InputValues<typeof PAYMENT_FIELDS> {}

/** Values of a loan that the rules for payments need (docs/api.md#loans-and-payments). */
export type PaidLoan = Pick<LoanRecord, 'status' | 'amountMinor' | 'paidUntil' | 'paidAmountMinor'>;

const TAKES_PAYMENTS: readonly LoanStatus[] = ['approved', 'defaulted'];
export const LOANS_OF_IMPORTED_PAYMENTS: readonly LoanStatus[] = [...TAKES_PAYMENTS, 'paid'];

/** Applies to requests over HTTP. An import may also add payments to loans with the status `paid`. */
export const refuseNewPayment = (loan: LoanStatus): Message | undefined =>
  TAKES_PAYMENTS.includes(loan)
    ? undefined
    : say('This loan takes no payments: it is {status}.', { status: asMessage(loan) });

/** Refuses a payment that the opening balance of the loan already includes. */
export const refuseCountedPayment = (
  { paidUntil }: Pick<LoanRecord, 'paidUntil'>,
  paidAt: number,
  zone: TimeZone,
): Message | undefined => {
  if (paidUntil === null || paidAt > paidUntil) return undefined;
  const end = new Written('moment', formatDateTime(paidUntil, zone));
  return say('Already counted in the opening balance of this loan, which runs until {end}.', { end });
};

/**
 * @throws RegistryError `invalid` if the loan accepts no payments, its opening balance includes the payment,
 *   or the payment is void
 */
export function decideNewPayment(loan: PaidLoan, values: PaymentValues, zone: TimeZone): PaymentValues {
  const faults = new FieldErrorList();
  const refused = refuseNewPayment(loan.status);
  if (refused !== undefined) faults.add('loan_id', String(refused));
  if (values.status !== 'recorded') faults.add('status', '"void" is not a valid choice.');
  const counted = refuseCountedPayment(loan, values.paidAt, zone);
  if (counted !== undefined) faults.add('paid_at', String(counted));
  faults.throwIfAny();
  return values;
}

const GIVEN = listFields(PAYMENT_FIELDS).filter(isGiven);

/**
 * Returns the new values of a stored payment. The status of the loan does not matter.
 * @throws RegistryError `invalid`, with a message for each field that may not change
 */
export function decidePayment(
  stored: PaymentRecord,
  loan: PaidLoan,
  submitted: PaymentInput,
  zone: TimeZone,
): PaymentValues {
  const values: PaymentValues = completeValues(PAYMENT_FIELDS, submitted, stored);
  const faults = new FieldErrorList();
  faults.addAll(findFixed(GIVEN, stored, values));
  if (stored.status === 'void') {
    for (const { property, name } of GIVEN) {
      const value = property as keyof PaymentValues;
      if (values[value] !== stored[value] && !faults.has(name))
        faults.add(name, 'This field cannot be changed once the payment is void.');
    }
  } else if (values.status === 'recorded') {
    const counted = refuseCountedPayment(loan, values.paidAt, zone);
    if (counted !== undefined) faults.add('paid_at', String(counted));
  }
  faults.throwIfAny();
  return values;
}

export const TOO_MUCH_PAID =
  'What is paid on this loan would have more than 12 digits before the decimal point.';

/** Maximum ratio of paid amount to loan amount; an import only warns. Interest alone rarely gives 2. */
export const MOST_TIMES_PAID = 3;

/** Message for an HTTP request that would exceed `MOST_TIMES_PAID`. An import only warns. */
export const OVERPAID =
  'What is paid on this loan would be more than three times its amount. ' +
  'If that is right, an operator can import it.';

const countedMinor = (payment: Pick<PaymentValues, 'status' | 'amountMinor'> | undefined): number =>
  payment?.status === 'recorded' ? payment.amountMinor : 0;

/**
 * Returns the paid amount of a loan after a payment is added or changed, in minor units. An HTTP request may
 * not raise the paid amount above three times the loan amount; an import may.
 * @param before undefined for a new payment
 * @throws RegistryError `invalid` if the paid amount would be too large
 */
export function paidAfter(
  loan: Pick<PaidLoan, 'amountMinor' | 'paidAmountMinor'>,
  before: PaymentRecord | undefined,
  after: PaymentValues,
): number {
  // The stored payment is subtracted first, so that each step stays far below 2^53.
  const paid = loan.paidAmountMinor - countedMinor(before) + countedMinor(after);
  if (paid > MAX_MONEY_MINOR) refuseFields({ amount: [TOO_MUCH_PAID] });
  if (paid > loan.paidAmountMinor && paid > MOST_TIMES_PAID * loan.amountMinor)
    refuseFields({ amount: [OVERPAID] });
  return paid;
}

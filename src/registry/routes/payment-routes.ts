/** Routes of payments on loans: list, get, create, replace, change. */

import type { Visible } from '../../access/api-keys.ts';
import { idFilter } from '../../http/declare/query.ts';
import {
  changeRoutes,
  createRoute,
  type Decision,
  declareResource,
  getRoute,
  listRoute,
  type MoreRoutes,
} from '../../http/declare/resource.ts';
import { type Route, SHOWS_PERSONS } from '../../http/declare/route.ts';
import type { Clock } from '../../runtime/scheduler.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { completeValues, onlyGiven } from '../../values/declared-fields.ts';
import { type FieldErrorList, notFound } from '../../values/errors.ts';
import type { LoanRecord } from '../loans.ts';
import {
  DEFAULT_PAYMENT_STATUS,
  decideNewPayment,
  decidePayment,
  MOST_TIMES_PAID,
  PAYMENT_FIELDS,
  type PaymentInput,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../payments.ts';
import type { NarrowableStore, OwnedRows } from '../registry-store.ts';
import { SHOWN_PAYMENT } from '../shown-rows.ts';
import { COOPERATIVE_FILTER, statusFilter } from './cooperative-routes.ts';
import { lendingFilters } from './loan-routes.ts';

/** Values that replace missing and invalid values, so that the rules can check the other fields. */
const SUBSTITUTES = { loanId: 0, amountMinor: 0, status: DEFAULT_PAYMENT_STATUS };

/** @returns the values, and a function that checks the values again in the transaction of the write */
function readNewPayment(
  loans: OwnedRows['loans'],
  body: Partial<PaymentInput>,
  { faults, nowSeconds }: Decision,
  zone: TimeZone,
): [values: PaymentValues, decide: (loan: LoanRecord) => PaymentValues] {
  const values = { ...SUBSTITUTES, ...body, paidAt: body.paidAt ?? nowSeconds } as PaymentValues;
  const decide = (loan: LoanRecord) => decideNewPayment(loan, values, zone);
  const loan = body.loanId === undefined ? undefined : loans.find(body.loanId);
  if (loan !== undefined) {
    faults.addFoundBy(() => decide(loan));
    faults.addFoundBy(() => paidAfter(loan, undefined, values));
  }
  return [values, decide];
}

function findLoanOf(loans: OwnedRows['loans'], { loanId }: PaymentRecord): [loan: LoanRecord] {
  const loan = loans.find(loanId);
  if (loan === undefined) throw notFound();
  return [loan];
}

/** Adds all faults of a change to `faults`. Stored values replace invalid and missing values. */
function readPaymentValues(
  body: Partial<PaymentInput>,
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
  if (stored.status !== 'void') faults.addFoundBy(() => paidAfter(loan, stored, completed));
  return values;
}

const PAYMENT = declareResource(PAYMENT_FIELDS, {
  tag: 'payments',
  title: 'Payment',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_PAYMENT,
  memberIdOf: ({ memberId }) => memberId,
});

export function paymentRoutes(
  store: NarrowableStore,
  more: MoreRoutes,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const dependencies = { storeOf: (visible: Visible) => store.narrowedTo(visible).payments, clock, zone };
  return [
    listRoute(
      PAYMENT,
      { ...lendingFilters('the payments on loans', zone), ...FILTERS },
      ({ id: ids, identity_card: identityCard, cooperative: cooperativeId, loan: loanId, ...query }) => {
        const { updated_since: updatedSince, ...others } = query;
        return onlyGiven({ ids, identityCard, cooperativeId, loanId, updatedSince, ...others });
      },
      dependencies,
    ),
    createRoute(
      PAYMENT,
      CREATING,
      (body, decision, visible) => readNewPayment(store.narrowedTo(visible).loans, body, decision, zone),
      dependencies,
    ),
    ...more(PAYMENT, { cooperative: COOPERATIVE_FILTER, status: FILTERS.status }),
    getRoute(PAYMENT, dependencies),
    ...changeRoutes(
      PAYMENT,
      CHANGING,
      {
        findBeside: (payment, visible) => findLoanOf(store.narrowedTo(visible).loans, payment),
        toValues: (body, payment, { faults }, loan) => readPaymentValues(body, payment, loan, faults, zone),
      },
      dependencies,
    ),
  ];
}

const FILTERS = {
  loan: idFilter('Only those of the loan with this id.', 'Expected the id of a loan.'),
  status: statusFilter(PAYMENT_FIELDS.status, 'Only those of this status.'),
};

const CREATING = {
  summary: 'Record a payment on a loan',
  description:
    'Only an approved or defaulted loan takes payments. The payment changes the ' +
    `loan's paid_amount at once, to at most ${MOST_TIMES_PAID} times the amount of the loan: beyond that, ` +
    'an operator can import the payment.',
};

const CHANGING = {
  put: {
    summary: 'Replace a payment, or make it void',
    description:
      'An omitted optional field keeps what is stored. A void payment can no longer be changed. ' +
      `The loan's paid_amount changes at once, to at most ${MOST_TIMES_PAID} times the amount of the ` +
      'loan. Read-only fields are ignored.',
  },
  patch: { summary: 'Change fields of a payment, or make it void' },
};

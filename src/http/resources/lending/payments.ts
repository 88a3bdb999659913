/** Payments on loans: list, one, create, replace, change. */
import type { Visible } from '../../../domain/access/visible.ts';
import { MOST_TIMES_PAID, PAYMENT_FIELDS, PAYMENT_STATUSES } from '../../../domain/lending/payments.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import { parseChoice } from '../../../domain/values/text.ts';
import { kindOf } from '../../../json/declared-fields.ts';
import { SHOWN_PAYMENT } from '../../../json/shown/rows.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { NarrowableStore } from '../../../store/contract/registry.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { idFilter } from '../../declare/query.ts';
import type { Route } from '../../declare/route.ts';
import { COOPERATIVE_FILTER } from '../cooperative-fields.ts';
import { type ExportDependencies, exportOf, exportRoute } from '../exports.ts';
import { changeRoutes, createRoute, declareResource, getRoute, listRoute } from '../resource.ts';
import { lendingFilters } from './lending-filters.ts';
import { findLoanOf, readNewPayment, readPaymentValues } from './payment-values.ts';

/** A payment in bodies and responses, from the declarations of its fields. */
export const PAYMENT = declareResource(PAYMENT_FIELDS, {
  tag: 'payments',
  title: 'Payment',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_PAYMENT,
  memberIdOf: ({ memberId }) => memberId,
});

export function paymentRoutes(
  store: NarrowableStore,
  exports: ExportDependencies,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const dependencies = { storeOf: (visible: Visible) => store.narrowedTo(visible).payments, clock, zone };
  return [
    listRoute(
      PAYMENT,
      { ...lendingFilters('the payments on loans', zone), ...FILTERS },
      ({ identity_card: identityCard, cooperative: cooperativeId, loan: loanId, ...query }) => {
        const { status, reference, updated_since: updatedSince } = query;
        return onlyGiven({ identityCard, cooperativeId, loanId, status, reference, updatedSince });
      },
      dependencies,
    ),
    createRoute(
      PAYMENT,
      CREATING,
      (body, decision, visible) => readNewPayment(store.narrowedTo(visible).loans, body, decision, zone),
      dependencies,
    ),
    exportRoute(exportOf(PAYMENT), { cooperative: COOPERATIVE_FILTER, status: FILTERS.status }, exports),
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
  status: {
    description: 'Only those of this status.',
    schema: kindOf(PAYMENT_FIELDS.status).schema,
    parse: (value: string) => parseChoice(value, PAYMENT_STATUSES),
  },
};

const CREATING = {
  summary: 'Record a payment on a loan',
  description:
    'Only an approved or defaulted loan takes payments. Its paid_amount changes with it, at once, and at ' +
    `most to ${MOST_TIMES_PAID} times the amount: beyond that, an operator can import the payment.`,
};

const CHANGING = {
  put: {
    summary: 'Replace a payment, or make it void',
    description:
      'An omitted optional field keeps what is stored. A void payment is not changed any more. ' +
      `The loan's paid_amount changes with it, at once, and grows at most to ${MOST_TIMES_PAID} times the ` +
      'amount. Read-only fields are ignored.',
  },
  patch: { summary: 'Change fields of a payment, or make it void' },
};

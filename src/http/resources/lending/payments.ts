/** Payments on loans: list, one, create, replace, change. */

import { PAYMENT_FIELDS, PAYMENT_STATUSES, type PaymentRecord } from '../../../domain/lending/payments.ts';
import { parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { parseChoice } from '../../../domain/values/text.ts';
import { kindOf } from '../../../json/declared-fields.ts';
import { type Clock, nowSeconds } from '../../../runtime/clock.ts';
import type { LoanStore } from '../../../store/ports/loans.ts';
import type { PaymentStore } from '../../../store/ports/payments.ts';
import { envelope, PAGE_PARAMETERS, pageResponse, toPageRequest } from '../../declare/list.ts';
import { pathId, readPathId } from '../../declare/path-id.ts';
import { idFilter, onlyGiven } from '../../declare/query.ts';
import { API_PREFIX, createWith, defineRoute, type Route } from '../../declare/route.ts';
import { actorOf } from '../../writes/actor.ts';
import {
  type Representation,
  readTagged,
  represent,
  taggedCreated,
  taggedResponse,
} from '../../writes/preconditions.ts';
import { updateRoutes } from '../../writes/update.ts';
import { COOPERATIVE_FILTER } from '../cooperative-fields.ts';
import { IDENTITY_CARD } from '../row-properties.ts';
import { PAYMENT_EXAMPLE } from './loan-examples.ts';
import { PAYMENT, PAYMENT_BODIES, serializePayment } from './payment-fields.ts';
import { findLoanOf, type PaymentDependencies, readNewPayment, readPaymentValues } from './payment-values.ts';

const PAYMENT_ID = pathId("A payment's id; opaque.");

const RESPONSE = taggedResponse('The payment.', PAYMENT, PAYMENT_EXAMPLE);

export function paymentRoutes(store: PaymentStore, loans: LoanStore, clock: Clock, zone: TimeZone): Route[] {
  const dependencies = { store, loans, clock, zone };
  return [
    listRoute(dependencies),
    createRoute(dependencies),
    getRoute(dependencies),
    ...paymentUpdateRoutes(dependencies),
  ];
}

const representPayment = (payment: PaymentRecord, zone: TimeZone): Representation =>
  represent(serializePayment(payment, zone));

const LIST_QUERY = {
  ...PAGE_PARAMETERS,
  identity_card: {
    description: 'Only the payments on loans of this person, in every cooperative.',
    schema: IDENTITY_CARD,
    parse: parseIdentityCard,
  },
  cooperative: COOPERATIVE_FILTER,
  loan: idFilter('Only those of the loan with this id.', 'Expected the id of a loan.'),
  status: {
    description: 'Only those of this status.',
    schema: kindOf(PAYMENT_FIELDS.status).schema,
    parse: (value: string) => parseChoice(value, PAYMENT_STATUSES),
  },
};

const listRoute = ({ store, zone }: PaymentDependencies): Route =>
  defineRoute({
    method: 'GET',
    path: '/payments',
    operationId: 'listPayments',
    summary: 'List payments',
    tag: 'payments',
    access: { scope: 'payments:read' },
    query: LIST_QUERY,
    responses: { 200: pageResponse('payments', '/payments', PAYMENT, PAYMENT_EXAMPLE) },
    refusals: [400, 404],
    async handle(request) {
      const { identity_card: identityCard, cooperative, loan, status } = request.query;
      const pageRequest = toPageRequest(request.query);
      const filter = onlyGiven({ identityCard, cooperativeId: cooperative, loanId: loan, status });
      return envelope(request, pageRequest, await store.list(filter, pageRequest), serializePayment, zone);
    },
  });

const createRoute = (dependencies: PaymentDependencies): Route => ({
  method: 'POST',
  path: '/payments',
  operationId: 'createPayment',
  summary: 'Record a payment on a loan',
  description: 'Only an approved or defaulted loan takes payments. Its paid_amount changes with it, at once.',
  tag: 'payments',
  access: { scope: 'payments:write' },
  body: PAYMENT_BODIES.post,
  responses: { 201: RESPONSE },
  refusals: [400, 503],
  creation: createWith<PaymentRecord>({
    async create(request, keep) {
      const { store, clock } = dependencies;
      const { values, decide } = await readNewPayment(dependencies, request.body);
      return store.create(values, decide, nowSeconds(clock), actorOf(request), keep);
    },
    respond: (payment) =>
      taggedCreated(`${API_PREFIX}/payments/${payment.id}`, representPayment(payment, dependencies.zone)),
  }),
});

const getRoute = ({ store, zone }: PaymentDependencies): Route => ({
  method: 'GET',
  path: '/payments/{id}',
  operationId: 'getPayment',
  summary: 'Read a payment',
  tag: 'payments',
  access: { scope: 'payments:read' },
  params: { id: PAYMENT_ID },
  responses: { 200: RESPONSE },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404],
  async handle(request) {
    const payment = await store.find(readPathId(request));
    if (payment === undefined) throw notFound();
    return readTagged(request, representPayment(payment, zone));
  },
});

const paymentUpdateRoutes = ({ store, loans, clock, zone }: PaymentDependencies): Route[] =>
  updateRoutes(
    {
      path: '/payments/{id}',
      tag: 'payments',
      params: { id: PAYMENT_ID },
      bodies: PAYMENT_BODIES,
      put: {
        operationId: 'updatePayment',
        summary: 'Replace a payment, or make it void',
        description:
          'An omitted status or paid_at stays. A void payment is not changed any more. ' +
          "The loan's paid_amount changes with it, at once. Read-only fields are ignored.",
      },
      patch: {
        operationId: 'patchPayment',
        summary: 'Change fields of a payment, or make it void',
      },
      responses: { 200: RESPONSE },
    },
    {
      store,
      clock,
      zone,
      readId: readPathId,
      represent: (payment) => representPayment(payment, zone),
      findBeside: (payment) => findLoanOf(loans, payment),
      toValues: (body, payment, { faults }, loan) => readPaymentValues(body, payment, loan, faults, zone),
    },
  );

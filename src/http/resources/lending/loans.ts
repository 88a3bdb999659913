/** Loans: list, one, create, replace, change. */

import { LOAN_FIELDS, LOAN_STATUSES, type LoanRecord } from '../../../domain/lending/loans.ts';
import { parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { parseChoice } from '../../../domain/values/text.ts';
import { kindOf } from '../../../json/declared-fields.ts';
import { type Clock, nowSeconds } from '../../../runtime/clock.ts';
import type { LoanStore } from '../../../store/ports/loans.ts';
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
import { NOTHING_BESIDE, updateRoutes } from '../../writes/update.ts';
import { COOPERATIVE_FILTER } from '../cooperative-fields.ts';
import { IDENTITY_CARD } from '../row-properties.ts';
import { LOAN_EXAMPLE } from './loan-examples.ts';
import { LOAN, LOAN_BODIES, serializeLoan } from './loan-fields.ts';
import { type LoanDependencies, readLoanValues, readNewLoan } from './loan-values.ts';

const LOAN_ID = pathId("A loan's id; opaque.");

const RESPONSE = taggedResponse('The loan.', LOAN, LOAN_EXAMPLE);

export function loanRoutes(store: LoanStore, clock: Clock, zone: TimeZone): Route[] {
  const dependencies = { store, clock, zone };
  return [
    listRoute(dependencies),
    createRoute(dependencies),
    getRoute(dependencies),
    ...loanUpdateRoutes(dependencies),
  ];
}

const representLoan = (loan: LoanRecord, zone: TimeZone): Representation =>
  represent(serializeLoan(loan, zone));

const LIST_QUERY = {
  ...PAGE_PARAMETERS,
  identity_card: {
    description: 'Only the loans of this person, in every cooperative.',
    schema: IDENTITY_CARD,
    parse: parseIdentityCard,
  },
  cooperative: COOPERATIVE_FILTER,
  member: idFilter('Only those of the member with this id.', 'Expected the id of a member.'),
  status: {
    description: 'Only those of this status.',
    schema: kindOf(LOAN_FIELDS.status).schema,
    parse: (value: string) => parseChoice(value, LOAN_STATUSES),
  },
};

const listRoute = ({ store, zone }: LoanDependencies): Route =>
  defineRoute({
    method: 'GET',
    path: '/loans',
    operationId: 'listLoans',
    summary: 'List loans',
    tag: 'loans',
    access: { scope: 'loans:read' },
    query: LIST_QUERY,
    responses: { 200: pageResponse('loans', '/loans', LOAN, LOAN_EXAMPLE) },
    refusals: [400, 404],
    async handle(request) {
      const { identity_card: identityCard, cooperative, member, status } = request.query;
      const pageRequest = toPageRequest(request.query);
      const filter = onlyGiven({ identityCard, cooperativeId: cooperative, memberId: member, status });
      return envelope(request, pageRequest, await store.list(filter, pageRequest), serializeLoan, zone);
    },
  });

const createRoute = (dependencies: LoanDependencies): Route => ({
  method: 'POST',
  path: '/loans',
  operationId: 'createLoan',
  summary: 'Record a loan',
  description: 'What is paid on it is computed from its payments.',
  tag: 'loans',
  access: { scope: 'loans:write' },
  body: LOAN_BODIES.post,
  responses: { 201: RESPONSE },
  refusals: [400, 503],
  creation: createWith<LoanRecord>({
    async create(request, keep) {
      const { store, clock } = dependencies;
      const values = await readNewLoan(dependencies, request.body);
      return store.create(values, nowSeconds(clock), actorOf(request), keep);
    },
    respond: (loan) =>
      taggedCreated(`${API_PREFIX}/loans/${loan.id}`, representLoan(loan, dependencies.zone)),
  }),
});

const getRoute = ({ store, zone }: LoanDependencies): Route => ({
  method: 'GET',
  path: '/loans/{id}',
  operationId: 'getLoan',
  summary: 'Read a loan',
  tag: 'loans',
  access: { scope: 'loans:read' },
  params: { id: LOAN_ID },
  responses: { 200: RESPONSE },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404],
  async handle(request) {
    const loan = await store.find(readPathId(request));
    if (loan === undefined) throw notFound();
    return readTagged(request, representLoan(loan, zone));
  },
});

const loanUpdateRoutes = ({ store, clock, zone }: LoanDependencies): Route[] =>
  updateRoutes(
    {
      path: '/loans/{id}',
      tag: 'loans',
      params: { id: LOAN_ID },
      bodies: LOAN_BODIES,
      put: {
        operationId: 'updateLoan',
        summary: 'Replace a loan',
        description:
          'An omitted date becomes null, an omitted status stays. The step of the status to approved sets ' +
          'approved_at; from then on the amount and the interest rate are fixed. ' +
          'Read-only fields are ignored.',
      },
      patch: { operationId: 'patchLoan', summary: 'Change fields of a loan' },
      responses: { 200: RESPONSE },
    },
    {
      store,
      clock,
      zone,
      readId: readPathId,
      represent: (loan) => representLoan(loan, zone),
      findBeside: NOTHING_BESIDE,
      toValues: readLoanValues,
    },
  );

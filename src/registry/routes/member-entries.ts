/** Routes of a member's deliveries and savings transactions: list and add. */

import { PAGE_PARAMETERS, pageResponse, respondWithPage } from '../../http/declare/list-response.ts';
import { momentFilter, type QueryParameters } from '../../http/declare/query.ts';
import { type BodyDeclaration, declareBodies, parseBody } from '../../http/declare/request-body.ts';
import { actorOf } from '../../http/declare/resource.ts';
import { JsonText } from '../../http/declare/response.ts';
import {
  type ApiRequest,
  createWith,
  defineRoute,
  type Route,
  SHOWS_PERSONS,
  showing,
} from '../../http/declare/route.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import { parseDateTime, parseLastSecond, type TimeZone } from '../../values/date-time.ts';
import { type FieldGroup, onlyGiven } from '../../values/declared-fields.ts';
import { notFound, type PageRequest, refuseFields } from '../../values/errors.ts';
import { shownObject } from '../../values/field-json.ts';
import { type Schema, string } from '../../values/schema.ts';
import type { Serialize } from '../../values/serializer.ts';
import { MAX_LENGTH, parseText } from '../../values/text.ts';
import {
  ACCOUNT_FIELDS,
  type NewDelivery,
  type NewSavingsTransaction,
  type Period,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../entries.ts';
import type { EntryStore, EntryWrites, NarrowableStore } from '../registry-store.ts';
import { SHOWN_DELIVERY, SHOWN_SAVINGS_TRANSACTION } from '../shown-rows.ts';
import { MEMBER_ID, readMemberId } from './member-fields.ts';

const DELIVERY = shownObject('Delivery', SHOWN_DELIVERY);
const SAVINGS_TRANSACTION = shownObject('SavingsTransaction', SHOWN_SAVINGS_TRANSACTION);

/** Both ends are inclusive (docs/api.md#deliveries-and-savings-transactions). */
const periodParameters = (zone: TimeZone) => ({
  from: momentFilter(
    "Only what happened at this moment or later; a date is its midnight in the registry's zone.",
    (value) => parseDateTime(value, zone),
  ),
  to: momentFilter(
    "Only what happened until this moment; a date through its last second in the registry's zone.",
    (value) => parseLastSecond(value, zone),
  ),
});

/** @throws RegistryError `invalid` for a period that ends before it begins */
function toPeriod({ from, to }: { from?: number; to?: number }): Period {
  if (from !== undefined && to !== undefined && to < from)
    refuseFields({ to: ['Ensure this is not before from.'] });
  return onlyGiven({ from, to });
}

interface Entries {
  readonly schema: Schema;
  readonly groups: readonly FieldGroup[];
  readonly what: string;
}

/** Declaration shared by both list routes. */
const declare = <Query extends QueryParameters>(
  name: string,
  query: Query,
  { schema, groups, what }: Entries,
) =>
  ({
    method: 'GET',
    path: `/members/{id}/${name}`,
    description: 'Newest first; of equal moments the higher id first. Takes a member id only.',
    tag: 'members',
    access: { scope: 'members:financials' },
    narrowed: SHOWS_PERSONS,
    personal: showing('one', groups),
    params: { id: MEMBER_ID },
    query: { ...PAGE_PARAMETERS, ...query },
    responses: { 200: pageResponse(what, `/members/2/${name}`, schema) },
    refusals: [400, 404, 410],
  }) as const;

type EntryRequest = Pick<ApiRequest, 'params'>;

// The member is recorded as the data subject even without entries.
const subjectOf = (request: EntryRequest) => ({ memberIds: [readMemberId(request)] });

/** Parts of an add route that depend on the kind of entry. */
interface Adding<Given, Entry>
  extends Pick<Route, 'operationId' | 'summary'>,
    Pick<Entries, 'schema' | 'groups'> {
  readonly serialize: Serialize<Entry>;
  readonly body: BodyDeclaration<Given>;
  readonly writesOf: (entries: EntryStore) => EntryWrites<Given, Entry>;
}

const WITHOUT_REFERENCE =
  'Takes a member id only. Without a reference the entry gets one that is made from its other values, and ' +
  'an equal entry is another one: a client that repeats a request sends the same Idempotency-Key.';

/** @param name last segment of the path */
const addRoute = <Given, Entry>(
  name: string,
  { operationId, summary, schema, groups, serialize, body, writesOf }: Adding<Given, Entry>,
  { store, clock, zone }: EntryDependencies,
): Route => ({
  method: 'POST',
  path: `/members/{id}/${name}`,
  operationId,
  summary,
  description: WITHOUT_REFERENCE,
  tag: 'members',
  access: { scope: 'members:write', alsoScope: 'members:financials' },
  narrowed: SHOWS_PERSONS,
  personal: showing('one', groups),
  params: { id: MEMBER_ID },
  body,
  createsPart: true,
  responses: { 201: { description: 'What was added.', schema } },
  refusals: [400, 404, 410, 503],
  creation: createWith<Entry>({
    // A derived reference reveals how many equal entries are stored.
    showsOnlyItsRequest: (given) => typeof (given as { readonly reference?: unknown }).reference === 'string',
    subjectOf: (_shown, request) => subjectOf(request),
    async create(request, keep) {
      const memberId = readMemberId(request);
      const writes = writesOf(store.narrowedTo(request.visible).entries);
      const now = nowSeconds(clock);
      const { values, faults } = parseBody(body, request.body, { zone, nowSeconds: now });
      if (!faults.isEmpty) faults.addAll(writes.conflicts(memberId, values));
      faults.throwIfAny();
      return writes.create(memberId, values as Given, now, actorOf(request), keep);
    },
    respond: (entry, request) => ({
      status: 201,
      body: new JsonText(serialize(entry, zone)),
      subject: subjectOf(request),
    }),
  }),
});

const DELIVERY_BODY = declareBodies(PRODUCTION_FIELDS, { title: 'Delivery', response: DELIVERY.schema });
const SAVINGS_TRANSACTION_BODY = declareBodies(
  { ...ACCOUNT_FIELDS, ...SAVINGS_FIELDS },
  { title: 'SavingsTransaction', response: SAVINGS_TRANSACTION.schema },
);

interface EntryDependencies {
  readonly store: NarrowableStore;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

export const memberEntryRoutes = (store: NarrowableStore, clock: Clock, zone: TimeZone): Route[] => [
  ...listRoutes(store, zone),
  addRoute<NewDelivery, ProductionEntry>(
    'deliveries',
    {
      ...{ ...DELIVERY, body: DELIVERY_BODY.post },
      operationId: 'createDelivery',
      summary: 'Add a delivery of a member',
      writesOf: ({ deliveries }) => deliveries,
    },
    { store, clock, zone },
  ),
  addRoute<NewSavingsTransaction, SavingsTransaction>(
    'savings-transactions',
    {
      ...{ ...SAVINGS_TRANSACTION, body: SAVINGS_TRANSACTION_BODY.post },
      operationId: 'createSavingsTransaction',
      summary: 'Add a savings transaction of a member; opens an account that nobody has',
      writesOf: ({ savingsTransactions }) => savingsTransactions,
    },
    { store, clock, zone },
  ),
];

function listRoutes(store: NarrowableStore, zone: TimeZone): Route[] {
  /** @throws RegistryError `not_found`, HttpError 400 for anything but a member id */
  function find(request: Pick<ApiRequest, 'params' | 'visible'>) {
    const id = readMemberId(request);
    const { members, entries } = store.narrowedTo(request.visible);
    if (members.find(id) === undefined) throw notFound();
    return { id, entries };
  }
  const period = periodParameters(zone);
  const product = {
    description: 'Only deliveries of this product: exactly this text, in any letter case.',
    schema: string(),
    parse: (value: string) => parseText(value, MAX_LENGTH.product),
  };
  return [
    defineRoute({
      ...declare('deliveries', { ...period, product }, { ...DELIVERY, what: 'deliveries' }),
      operationId: 'listDeliveries',
      summary: 'List the deliveries of a member',
      handle(request) {
        const list = (asked: PageRequest) => {
          const filter = { ...toPeriod(request.query), ...onlyGiven({ product: request.query.product }) };
          const { id, entries } = find(request);
          return entries.listDeliveries(id, filter, asked);
        };
        return respondWithPage(request, list, DELIVERY.serialize, zone, () => subjectOf(request));
      },
    }),
    defineRoute({
      ...declare('savings-transactions', period, {
        ...SAVINGS_TRANSACTION,
        what: 'savings transactions',
      }),
      operationId: 'listSavingsTransactions',
      summary: 'List the savings transactions of a member',
      handle(request) {
        const list = (asked: PageRequest) => {
          const filter = toPeriod(request.query);
          const { id, entries } = find(request);
          return entries.listSavingsTransactions(id, filter, asked);
        };
        return respondWithPage(request, list, SAVINGS_TRANSACTION.serialize, zone, () => subjectOf(request));
      },
    }),
  ];
}

/** Routes of a member's deliveries and savings transactions: list and add. */

import { momentFilter, PAGE_PARAMETERS, type QueryParameters } from '../../http/declare/query.ts';
import { declareBodies } from '../../http/declare/request-body.ts';
import { actorOf, pageResponse, parseBody, respondWithPage } from '../../http/declare/resource.ts';
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
import type { Fields } from '../../values/declared-fields.ts';
import { notFound, type Page, type PageRequest, refuseFields } from '../../values/errors.ts';
import { type ShownProperties, shownObject } from '../../values/field-json.ts';
import { string } from '../../values/schema.ts';
import { MAX_LENGTH, parseText } from '../../values/text.ts';
import {
  ACCOUNT_FIELDS,
  type DeliveryFilter,
  type NewDelivery,
  type NewSavingsTransaction,
  type Period,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../entries.ts';
import type { NarrowableStore } from '../registry-store.ts';
import { SHOWN_DELIVERY, SHOWN_SAVINGS_TRANSACTION } from '../shown-rows.ts';
import type { EntryStore, EntryWrites } from '../stores/entry-store.ts';
import { MEMBER_ID, readMemberId } from './member-routes.ts';

interface EntryRoutes<New, Entry> {
  /** Last segment of the path. */
  readonly name: string;
  /** Used, like `plural`, in the names of schemas and operations. */
  readonly title: string;
  readonly plural: string;
  /** Summary of the POST route. */
  readonly adding: string;
  readonly fields: Fields;
  readonly properties: ShownProperties<Entry>;
  readonly filters: QueryParameters;
  readonly storeOf: (entries: EntryStore) => EntryWrites<New, Entry> & {
    list(memberId: number, filter: DeliveryFilter, page: PageRequest): Page<Entry>;
  };
}

const WITHOUT_REFERENCE =
  'Takes a member id only. An entry without a reference gets a reference made from its other values; a ' +
  'second equal entry is stored as another entry, so send the same Idempotency-Key when you repeat a ' +
  'request.';

// The member is the data subject even if the response has no entries.
const subjectOf = (request: Pick<ApiRequest, 'params'>) => ({ memberIds: [readMemberId(request)] });

function entryRoutes<New, Entry>(
  { name, title, plural, adding, fields, properties, filters, storeOf }: EntryRoutes<New, Entry>,
  store: NarrowableStore,
  clock: Clock,
  zone: TimeZone,
): [list: Route, add: Route] {
  const noun = name.replace('-', ' ');
  const { schema, serialize, groups } = shownObject(title, properties);
  const { post: body } = declareBodies(fields, { title, response: schema });
  const shared = {
    path: `/members/{id}/${name}`,
    tag: 'members',
    narrowed: SHOWS_PERSONS,
    personal: showing('one', groups),
    params: { id: MEMBER_ID },
  } as const;

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      operationId: `list${plural}`,
      summary: `List the ${noun} of a member`,
      description: 'Newest first; entries of the same moment by id, highest first. Takes a member id only.',
      access: { scope: 'members:financials' },
      query: { ...PAGE_PARAMETERS, ...filters },
      responses: { 200: pageResponse(noun, `/members/2/${name}`, schema) },
      refusals: [400, 404, 410],
      handle(request) {
        const { page: _page, page_size: _size, ...filter } = request.query;
        const list = (page: PageRequest): Page<Entry> => {
          refuseBackwards(filter as DeliveryFilter);
          const memberId = readMemberId(request);
          const { members, entries } = store.narrowedTo(request.visible);
          if (members.find(memberId) === undefined) throw notFound();
          return storeOf(entries).list(memberId, filter as DeliveryFilter, page);
        };
        return respondWithPage(request, list, serialize, zone, () => subjectOf(request));
      },
    }),
    {
      ...shared,
      method: 'POST',
      operationId: `create${title}`,
      summary: adding,
      description: WITHOUT_REFERENCE,
      access: { scope: 'members:write', alsoScope: 'members:financials' },
      body,
      createsPart: true,
      responses: { 201: { description: 'The new entry.', schema } },
      refusals: [400, 404, 410, 503],
      creation: createWith<Entry>({
        // If the request has no reference, the derived reference reveals how many equal entries are stored.
        showsOnlyItsRequest: (values) =>
          typeof (values as { readonly reference?: unknown }).reference === 'string',
        subjectOf: (_shown, request) => subjectOf(request),
        async create(request, keep) {
          const memberId = readMemberId(request);
          const writes = storeOf(store.narrowedTo(request.visible).entries);
          const now = nowSeconds(clock);
          const { values, faults } = parseBody(body, request.body, { zone, nowSeconds: now });
          if (!faults.isEmpty) faults.addAll(writes.conflicts(memberId, values as Partial<New>));
          faults.throwIfAny();
          return writes.create(memberId, values as New, now, actorOf(request), keep);
        },
        respond: (entry, request) => ({
          status: 201,
          body: new JsonText(serialize(entry, zone)),
          subject: subjectOf(request),
        }),
      }),
    },
  ];
}

function refuseBackwards({ from, to }: Period): void {
  if (from !== undefined && to !== undefined && to < from)
    refuseFields({ to: ['Ensure this is not before from.'] });
}

export function memberEntryRoutes(store: NarrowableStore, clock: Clock, zone: TimeZone): Route[] {
  // Both ends are inclusive (docs/api.md#deliveries-and-savings-transactions).
  const period = {
    from: momentFilter(
      "Only entries at this moment or later; a date means midnight at its start, in the registry's time " +
        'zone.',
      (value) => parseDateTime(value, zone),
    ),
    to: momentFilter(
      "Only entries up to this moment; a date includes its last second, in the registry's time zone.",
      (value) => parseLastSecond(value, zone),
    ),
  };
  const product = {
    description: 'Only deliveries of this product: exactly this text, in any letter case.',
    schema: string(),
    parse: (value: string) => parseText(value, MAX_LENGTH.product),
  };
  const deliveries: EntryRoutes<NewDelivery, ProductionEntry> = {
    name: 'deliveries',
    title: 'Delivery',
    plural: 'Deliveries',
    adding: 'Add a delivery of a member',
    fields: PRODUCTION_FIELDS,
    properties: SHOWN_DELIVERY,
    filters: { ...period, product },
    storeOf: (entries) => entries.deliveries,
  };
  const savings: EntryRoutes<NewSavingsTransaction, SavingsTransaction> = {
    name: 'savings-transactions',
    title: 'SavingsTransaction',
    plural: 'SavingsTransactions',
    adding: 'Add a savings transaction of a member; opens the account if it does not exist',
    fields: { ...ACCOUNT_FIELDS, ...SAVINGS_FIELDS },
    properties: SHOWN_SAVINGS_TRANSACTION,
    filters: period,
    storeOf: (entries) => entries.savingsTransactions,
  };
  const [listDeliveries, addDelivery] = entryRoutes(deliveries, store, clock, zone);
  const [listSavings, addSavings] = entryRoutes(savings, store, clock, zone);
  return [listDeliveries, listSavings, addDelivery, addSavings];
}

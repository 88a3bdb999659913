/** What the summaries of a member add up: its deliveries and its savings transactions. */

import type { Period } from '../../../domain/entries/entries.ts';
import { parseDateTime, parseLastSecond, type TimeZone } from '../../../domain/values/date-time.ts';
import type { FieldGroup } from '../../../domain/values/declared-fields.ts';
import { notFound, refuseFields } from '../../../domain/values/errors.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import type { PageRequest } from '../../../domain/values/page.ts';
import { MAX_LENGTH, parseText } from '../../../domain/values/text.ts';
import { shownObject } from '../../../json/declared-fields.ts';
import { type Schema, string } from '../../../json/schema.ts';
import { SHOWN_DELIVERY, SHOWN_SAVINGS_TRANSACTION } from '../../../json/shown/rows.ts';
import type { NarrowableStore } from '../../../store/contract/registry.ts';
import { PAGE_PARAMETERS, pageResponse, respondWithPage } from '../../declare/list.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { showing } from '../../declare/personal.ts';
import { momentFilter, type QueryParameters } from '../../declare/query.ts';
import { defineRoute, type Route, type RouteRequest } from '../../declare/route.ts';
import { MEMBER_ID, readMemberId } from './member-id.ts';

const DELIVERY = shownObject('Delivery', SHOWN_DELIVERY);
const SAVINGS_TRANSACTION = shownObject('SavingsTransaction', SHOWN_SAVINGS_TRANSACTION);

/** Both ends belong to the period (docs/api.md#deliveries-and-savings-transactions). */
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

/** Only what was given. @throws RegistryError `invalid` for a period that ends before it begins */
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

/** What both routes have in common. @param row one entry */
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

export function memberEntryRoutes(store: NarrowableStore, zone: TimeZone): Route[] {
  /** @throws RegistryError `not_found`, HttpError 400 for what is not a member id */
  function find(request: Pick<RouteRequest, 'params' | 'visible'>) {
    const id = readMemberId(request);
    const { members, entries } = store.narrowedTo(request.visible);
    if (members.find(id) === undefined) throw notFound();
    return { id, entries };
  }
  // The member, if it has no entries too.
  const subjectOf = (request: Pick<RouteRequest, 'params'>) => () => ({ memberIds: [readMemberId(request)] });
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
        return respondWithPage(request, list, DELIVERY.serialize, zone, subjectOf(request));
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
        return respondWithPage(request, list, SAVINGS_TRANSACTION.serialize, zone, subjectOf(request));
      },
    }),
  ];
}

/** Sums over cooperatives: of one, and of all that a key sees. */

import type { TimeZone } from '../../domain/values/date-time.ts';
import { notFound } from '../../domain/values/errors.ts';
import {
  COUNTRY_STATISTICS,
  describeCountry,
  describeStatistics,
  STATISTICS,
} from '../../json/statistics.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { NarrowableStore } from '../../store/ports/registry.ts';
import { SHOWS_COOPERATIVES } from '../declare/narrowing.ts';
import { readPathId } from '../declare/path-id.ts';
import { ok } from '../declare/response.ts';
import type { Route, RouteRequest } from '../declare/route.ts';
import { COOPERATIVE } from './cooperative-fields.ts';
import { COUNTRY_STATISTICS_EXAMPLE, STATISTICS_EXAMPLE } from './examples.ts';

const DESCRIPTION =
  'Exact, as of one moment. Groups of few people are not hidden: whoever may ask sees the members. ' +
  'Members who were erased are in no count of people; what they delivered, borrowed and saved stays.';

const SHARED = {
  method: 'GET',
  tag: 'statistics',
  access: { scope: 'cooperatives:read' },
  optionalScopes: ['members:financials'],
  // They show no person.
  narrowed: SHOWS_COOPERATIVES,
  personal: 'none',
} as const;

const seesFinancials = ({ caller }: RouteRequest): boolean =>
  caller?.scopes.includes('members:financials') === true;

export const statisticsRoutes = (stores: NarrowableStore, clock: Clock, zone: TimeZone): Route[] => [
  {
    ...SHARED,
    path: '/cooperatives/{id}/statistics',
    operationId: 'getCooperativeStatistics',
    summary: 'Sums of a cooperative',
    description: DESCRIPTION,
    params: { id: COOPERATIVE.id },
    responses: {
      200: { description: 'Its sums.', schema: STATISTICS, example: STATISTICS_EXAMPLE },
    },
    refusals: [404, 503],
    async handle(request) {
      const store = stores.narrowedTo(request.visible).statistics;
      const found = await store.ofCooperative(readPathId(request), nowSeconds(clock));
      if (found === undefined) throw notFound();
      return ok(describeStatistics(found, zone, seesFinancials(request)));
    },
  },
  {
    ...SHARED,
    path: '/statistics',
    operationId: 'getStatistics',
    summary: 'Sums of all cooperatives',
    description: `${DESCRIPTION} A narrow key gets the sums of the cooperatives that it sees.`,
    responses: {
      200: { description: 'The sums.', schema: COUNTRY_STATISTICS, example: COUNTRY_STATISTICS_EXAMPLE },
    },
    refusals: [503],
    async handle(request) {
      const found = await stores.narrowedTo(request.visible).statistics.ofCountry(nowSeconds(clock));
      return ok(describeCountry(found, zone, seesFinancials(request)));
    },
  },
];

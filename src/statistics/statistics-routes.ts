/** Routes of statistics: one cooperative, or all cooperatives that a key may see. */

import { isVisible, seesFinancials } from '../access/api-keys.ts';
import { readPathId } from '../http/declare/resource.ts';
import { ok } from '../http/declare/response.ts';
import { defineRoute, type Route, SHOWS_COOPERATIVES } from '../http/declare/route.ts';
import type { AddToService } from '../module.ts';
import { COOPERATIVE, DISTRICT_FILTER } from '../registry/routes/cooperative-routes.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import { WAIT_MS } from '../sqlite/connection.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { notFound } from '../values/errors.ts';
import { EXAMPLE_MOMENT } from '../values/schema.ts';
import { COUNTRY_STATISTICS, describeCountry, describeStatistics, STATISTICS } from './statistics.ts';
import { openStatistics } from './statistics-store.ts';
import type { StatisticsTasks } from './statistics-thread.ts';

const DESCRIPTION =
  'Exact, as of one moment. Groups of few people are not hidden. Erased members are not counted as ' +
  'people; their deliveries, loans and savings still count.';

const LOANS_OF_STATUS = { count: 0, amount: '0.00', paid_amount: '0.00', outstanding: '0.00' };

const STATISTICS_EXAMPLE = {
  as_of: EXAMPLE_MOMENT,
  sequence: 4711,
  members: {
    total: 142,
    by_status: { active: 120, inactive: 9, suspended: 0, withdrawn: 11, deceased: 2 },
    by_gender: { MALE: 52, FEMALE: 66, OTHER: 0, unknown: 2 },
    by_role: {
      MEMBER: 113,
      PRESIDENT: 1,
      VICE_PRESIDENT: 1,
      SECRETARY: 1,
      TREASURER: 1,
      ADVISOR: 0,
      AUDITOR: 2,
      MANAGER: 1,
    },
    by_joining_year: { '2015': 80, '2019': 62 },
  },
  production: [{ month: '2025-05', product: 'Coffee cherries', deliveries: 310, total_kg: '14210.500' }],
  loans: {
    pending: LOANS_OF_STATUS,
    approved: { count: 14, amount: '2100000.00', paid_amount: '840000.00', outstanding: '1260000.00' },
    rejected: LOANS_OF_STATUS,
    cancelled: LOANS_OF_STATUS,
    paid: { count: 31, amount: '3900000.00', paid_amount: '3921000.00', outstanding: '0.00' },
    defaulted: LOANS_OF_STATUS,
  },
  savings: {
    accounts: 101,
    total_contributions_rwf: '5120000.00',
    total_withdrawals_rwf: '730000.00',
    balance_rwf: '4390000.00',
  },
};

const COUNTRY_STATISTICS_EXAMPLE = {
  ...STATISTICS_EXAMPLE,
  production: null,
  loans: null,
  savings: null,
  districts: [{ district: 'Huye', cooperatives: 1, active_members: 120 }],
  sectors: [{ sector: 'agriculture', cooperatives: 1, active_members: 120 }],
};

const SHARED = {
  method: 'GET',
  tag: 'statistics',
  access: { scope: 'cooperatives:read' },
  optionalScopes: ['members:financials'],
  // Statistics show no persons, so no access is recorded.
  narrowed: SHOWS_COOPERATIVES,
  personal: 'none',
} as const;

/** Maximum number of requests that wait for the thread. */
const MAX_WAITING = 64;

/** Opens a connection for sums of one cooperative, and a thread for sums of thousands of cooperatives. */
function openServed(storage: Storage) {
  const setup = { file: storage.pathForOpening(), zone: storage.configuredZone };
  const module = moduleBeside(import.meta.url, 'statistics-thread');
  return {
    statistics: openStatistics(setup.file, setup.zone, WAIT_MS.serving),
    thread: new TaskThread<StatisticsTasks>({ module, setup, maxWaiting: MAX_WAITING }),
  };
}
type Served = ReturnType<typeof openServed>;

/** @param open returns the connection and the thread, and opens both at the first request */
const statisticsRoutes = (open: () => Served, clock: Clock, zone: TimeZone): Route[] => [
  {
    ...SHARED,
    path: '/cooperatives/{id}/statistics',
    operationId: 'getCooperativeStatistics',
    summary: 'Statistics of a cooperative',
    description: DESCRIPTION,
    params: { id: COOPERATIVE.id },
    responses: {
      200: {
        description: 'The statistics of the cooperative.',
        schema: STATISTICS,
        example: STATISTICS_EXAMPLE,
      },
    },
    refusals: [404, 503],
    handle(request) {
      const id = readPathId(request);
      const sums = isVisible(request.visible, id) && open().statistics.ofCooperative(id, nowSeconds(clock));
      if (!sums) throw notFound();
      return ok(describeStatistics(sums, zone, seesFinancials(request.caller)));
    },
  },
  defineRoute({
    ...SHARED,
    path: '/statistics',
    operationId: 'getStatistics',
    summary: 'Statistics of all cooperatives, or of those of a district',
    description: `${DESCRIPTION} A key that is restricted to some cooperatives gets the sums of these.`,
    query: { district: DISTRICT_FILTER },
    responses: {
      200: {
        description: 'The statistics.',
        schema: COUNTRY_STATISTICS,
        example: COUNTRY_STATISTICS_EXAMPLE,
      },
    },
    refusals: [503],
    async handle(request) {
      const { visible, query } = request;
      const country = { visible, now: nowSeconds(clock), district: query.district };
      const sums = await open().thread.run('country', country);
      return ok(describeCountry(sums, zone, seesFinancials(request.caller)));
    },
  }),
];

export const serveStatistics: AddToService = () => {
  let served: Served | undefined;
  return {
    routes(storage, _, clock) {
      const open = () => {
        served ??= openServed(storage);
        return served;
      };
      return { ofRegistry: statisticsRoutes(open, clock, storage.zone) };
    },
    async release() {
      served?.statistics.close();
      await served?.thread.close();
    },
  };
};

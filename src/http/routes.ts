/** The entire API on one screen. */

import type { Visible } from '../domain/access/visible.ts';
import type { TimeZone } from '../domain/values/date-time.ts';
import type { Exporter } from '../export/exporter.ts';
import type { Clock } from '../runtime/clock.ts';
import type { NarrowableStore, RateLimiter } from '../store/contract/registry.ts';
import type { Route } from './declare/route.ts';
import { withOpenApi } from './openapi/openapi.ts';
import { pageRoutes } from './reference/pages.ts';
import { cooperativeRoutes } from './resources/cooperatives.ts';
import { eventRoutes } from './resources/events.ts';
import { healthRoutes, type Unready } from './resources/health.ts';
import { loanRoutes } from './resources/lending/loans.ts';
import { paymentRoutes } from './resources/lending/payments.ts';
import { meRoutes } from './resources/me.ts';
import { entryExportRoutes } from './resources/members/entry-exports.ts';
import { membershipRoutes } from './resources/members/lookup.ts';
import { memberEntryRoutes } from './resources/members/member-entries.ts';
import { memberRoutes } from './resources/members/members.ts';
import { statisticsRoutes } from './resources/statistics.ts';

/** Version of the API's description: the major one is the `v1` of the address (docs/api.md#versions). */
export const API_VERSION = '1.0.0';

export interface RouteDependencies {
  readonly exporter: Exporter;
  /** Rows only by what the caller sees. */
  readonly store: NarrowableStore;
  readonly limiter: Pick<RateLimiter, 'usage'>;
  readonly clock: Clock;
  readonly zone: TimeZone;
  /** Why requests cannot be answered now; undefined when they can. */
  readonly findUnready: () => Promise<Unready | undefined>;
}

export function createRoutes({
  exporter,
  store,
  limiter,
  clock,
  zone,
  findUnready,
}: RouteDependencies): Route[] {
  const exports = { exporter, eventsOf: (visible: Visible) => store.narrowedTo(visible).events };
  const routes = [
    ...cooperativeRoutes(store, exports, clock, zone),
    ...memberRoutes(store, exports, clock, zone),
    ...memberEntryRoutes(store, clock, zone),
    ...entryExportRoutes(exports),
    ...membershipRoutes(store, clock, zone),
    ...loanRoutes(store, exports, clock, zone),
    ...paymentRoutes(store, exports, clock, zone),
    ...statisticsRoutes(store, clock, zone),
    ...eventRoutes(store, zone),
    ...meRoutes(store, limiter, zone),
    ...healthRoutes(findUnready),
  ];
  const described = withOpenApi(routes, API_VERSION);
  const isReady = async () => (await findUnready()) === undefined;
  return [...described, ...pageRoutes(described, API_VERSION, isReady)];
}

/** Creates all routes of the API. */

import type { RateLimiter } from './access/rate-limiter.ts';
import { eventRoutes } from './events/event-routes.ts';
import { healthRoutes, type Unready } from './health/health-routes.ts';
import type { MoreRoutes } from './http/declare/resource.ts';
import type { Route } from './http/declare/route.ts';
import { meRoutes } from './keys/me-routes.ts';
import type { ServicePart } from './module.ts';
import type { ServedRows } from './open-registry.ts';
import { withOpenApi } from './reference/openapi.ts';
import { pageRoutes } from './reference/reference-routes.ts';
import type { NarrowableStore } from './registry/registry-store.ts';
import { cooperativeRoutes } from './registry/routes/cooperative-routes.ts';
import { loanRoutes } from './registry/routes/loan-routes.ts';
import { membershipRoutes } from './registry/routes/lookup.ts';
import { memberEntryRoutes } from './registry/routes/member-entries.ts';
import { memberRoutes } from './registry/routes/member-routes.ts';
import { paymentRoutes } from './registry/routes/payment-routes.ts';
import type { Clock } from './runtime/scheduler.ts';
import type { Storage } from './sqlite/storage.ts';

interface RouteDependencies {
  readonly storage: Storage;
  /** Each route narrows the store to the rows that the caller may see. */
  readonly store: NarrowableStore<ServedRows>;
  readonly limiter: Pick<RateLimiter, 'usage'>;
  readonly clock: Clock;
  readonly findUnready: () => Promise<Unready | undefined>;
  readonly parts: readonly ServicePart[];
}

export function createRoutes({
  storage,
  store,
  limiter,
  clock,
  findUnready,
  parts,
}: RouteDependencies): Route[] {
  const { zone } = storage;
  const added = parts.flatMap((part) => part.routes?.(storage, store, clock) ?? []);
  const more: MoreRoutes = (resource, filters) =>
    added.flatMap((part) => part.more?.(resource, filters) ?? []);
  const routes = [
    ...cooperativeRoutes(store, more, clock, zone),
    ...memberRoutes(store, more, clock, zone),
    ...memberEntryRoutes(store, clock, zone),
    ...added.flatMap(({ ofEntries = [] }) => ofEntries),
    ...membershipRoutes(store, clock, zone),
    ...loanRoutes(store, more, clock, zone),
    ...paymentRoutes(store, more, clock, zone),
    ...added.flatMap(({ ofRegistry = [] }) => ofRegistry),
    ...eventRoutes(store, zone),
    ...meRoutes(store, limiter, zone),
    ...healthRoutes(findUnready),
  ];
  const outgoing = parts.find((part) => part.outgoing !== undefined)?.outgoing;
  const described = withOpenApi(routes, outgoing);
  const isReady = async () => (await findUnready()) === undefined;
  return [...described, ...pageRoutes(described, isReady, outgoing)];
}

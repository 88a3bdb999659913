/** The modules. To leave out a module, delete its line here and its directory. */
import type { ReadAdded } from './health/registry-status.ts';
import type { Module } from './module.ts';
import type { Search } from './registry/name-search.ts';

/** Modules in the order of their start. */
export const MODULES: readonly Module[] = [
  (await import('./export/export-module.ts')).EXPORT,
  (await import('./statistics/statistics-module.ts')).STATISTICS,
  (await import('./webhooks/webhook-module.ts')).WEBHOOKS,
  { service: async () => (await import('./metrics/service-metrics.ts')).serveMetrics },
  { search: async () => (await import('./search/member-search.ts')).SEARCH },
];

export const loadStatus = (): Promise<readonly ReadAdded[]> =>
  Promise.all(MODULES.flatMap(({ status }) => status?.() ?? []));

export const loadSearch = async (): Promise<Search | undefined> =>
  MODULES.find(({ search }) => search !== undefined)?.search?.();

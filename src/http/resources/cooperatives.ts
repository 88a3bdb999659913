/** Cooperatives: list, one, create, replace, change. */
import type { Visible } from '../../domain/access/visible.ts';
import {
  COOPERATIVE_STATUSES,
  type CooperativeValues,
  SECTORS,
} from '../../domain/membership/cooperatives.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { findIgnoringCase, parseChoice } from '../../domain/values/text.ts';
import { anyOf, choiceOf, string } from '../../json/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NarrowableStore } from '../../store/contract/registry.ts';
import type { Parameter, Route } from '../declare/route.ts';
import { COOPERATIVE, DISTRICT_FILTER } from './cooperative-fields.ts';
import { type ExportDependencies, exportOf, exportRoute } from './exports.ts';
import { changeRoutes, createRoute, getRoute, listRoute } from './resource.ts';
import { SEARCH_FILTER } from './search-filter.ts';

export function cooperativeRoutes(
  store: NarrowableStore,
  exports: ExportDependencies,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const storeOf = (visible: Visible) => store.narrowedTo(visible).cooperatives;
  const dependencies = { storeOf, clock, zone };
  return [
    listRoute(COOPERATIVE, FILTERS, (query) => query, dependencies),
    createRoute(COOPERATIVE, CREATING, (body) => [body as CooperativeValues], dependencies),
    exportRoute(exportOf(COOPERATIVE), { status: FILTERS.status }, exports),
    getRoute(COOPERATIVE, dependencies),
    ...changeRoutes(COOPERATIVE, CHANGING, { toValues: (body) => body }, dependencies),
  ];
}

const CREATING = {
  summary: 'Create a cooperative',
  // The new one would be none of those that the key sees.
  narrowed: { lookupOnly: 'allowed', cooperatives: 'refused' },
} as const;

const CHANGING = {
  put: {
    description:
      'An omitted optional field keeps what is stored, null clears it. Read-only fields are ignored.',
  },
};

const filter = <T>(description: string, schema: Parameter['schema'], parse: (value: string) => T) => ({
  description,
  schema,
  parse,
});

const choiceFilter = <T extends string>(description: string, choices: readonly T[]) =>
  filter(description, anyOf([choiceOf(choices), string()]), (value) =>
    parseChoice(findIgnoringCase(value, choices) ?? value, choices),
  );

const FILTERS = {
  // No code has a lower-case letter.
  code: filter('Only the cooperative with this code, in any letter case.', string(), (value) =>
    value.toUpperCase(),
  ),
  status: choiceFilter('Only those of this status, in any letter case.', COOPERATIVE_STATUSES),
  sector: choiceFilter('Only those of this sector, in any letter case.', SECTORS),
  district: DISTRICT_FILTER,
  search: SEARCH_FILTER,
};

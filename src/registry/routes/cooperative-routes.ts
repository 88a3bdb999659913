/** Routes of cooperatives: list, get, create, replace, change. */

import type { Visible } from '../../access/api-keys.ts';
import { idFilter, SEARCH_FILTER } from '../../http/declare/query.ts';
import {
  changeRoutes,
  createRoute,
  declareResource,
  getRoute,
  listRoute,
  type MoreRoutes,
  representCounted,
} from '../../http/declare/resource.ts';
import { type Route, SHOWS_COOPERATIVES } from '../../http/declare/route.ts';
import type { Clock } from '../../runtime/scheduler.ts';
import type { TimeZone } from '../../values/date-time.ts';
import type { Field } from '../../values/declared-fields.ts';
import { kindOf } from '../../values/field-json.ts';
import { anyOf, choiceOf, string } from '../../values/schema.ts';
import { isSameIgnoringCase, parseChoice } from '../../values/text.ts';
import {
  COOPERATIVE_FIELDS,
  COOPERATIVE_STATUSES,
  type CooperativeSummary,
  type CooperativeValues,
  SECTORS,
} from '../cooperatives.ts';
import type { NarrowableStore } from '../registry-store.ts';
import { SHOWN_COOPERATIVE_ROW } from '../shown-rows.ts';

export const COOPERATIVE_FILTER = idFilter(
  'Only those of the cooperative with this id.',
  'Expected the id of a cooperative; a code goes into /cooperatives?code=',
);

/** Any text is valid. An unknown district matches nothing. */
export const DISTRICT_FILTER = {
  description: 'Only those of this district, in any letter case.',
  schema: string(),
  parse: (value: string) => value,
};

export const statusFilter = <T extends string>(
  field: Field & { readonly choices: readonly T[] },
  description: string,
) => ({
  description,
  schema: kindOf(field).schema,
  parse: (value: string) => parseChoice(value, field.choices),
});

// JSON texts by summary object. The store returns the same object until a cooperative changes.
const summaryTexts = new WeakMap<CooperativeSummary, string>();

export function serializeCooperativeSummary(cooperative: CooperativeSummary): string {
  let text = summaryTexts.get(cooperative);
  if (text === undefined) {
    const { id, code, name } = cooperative;
    text = JSON.stringify({ id: String(id), code, name });
    summaryTexts.set(cooperative, text);
  }
  return text;
}

const counted = declareResource(COOPERATIVE_FIELDS, {
  tag: 'cooperatives',
  title: 'Cooperative',
  narrowed: SHOWS_COOPERATIVES,
  properties: SHOWN_COOPERATIVE_ROW,
});

export const COOPERATIVE: typeof counted = {
  ...counted,
  // Members join and leave without a write of the cooperative, so the entity tag has a separate part for the
  // count of members.
  represent: (cooperative, zone) =>
    representCounted(
      counted.serialize(cooperative, zone),
      counted.serialize({ ...cooperative, membersCount: 0 }, zone),
      cooperative.membersCount,
    ),
};

export function cooperativeRoutes(
  store: NarrowableStore,
  more: MoreRoutes,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const storeOf = (visible: Visible) => store.narrowedTo(visible).cooperatives;
  const dependencies = { storeOf, clock, zone };
  return [
    listRoute(COOPERATIVE, FILTERS, (query) => query, dependencies),
    createRoute(COOPERATIVE, CREATING, (body) => [body as CooperativeValues], dependencies),
    ...more(COOPERATIVE, { status: FILTERS.status }),
    getRoute(COOPERATIVE, dependencies),
    ...changeRoutes(COOPERATIVE, CHANGING, { toValues: (body) => body }, dependencies),
  ];
}

const CREATING = {
  summary: 'Create a cooperative',
  // A key restricted to some cooperatives could not see a new cooperative.
  narrowed: { lookupOnly: 'allowed', cooperatives: 'refused' },
} as const;

const CHANGING = {
  put: {
    description:
      'An omitted optional field keeps what is stored, null clears it. Read-only fields are ignored.',
  },
};

const choiceFilter = <T extends string>(description: string, choices: readonly T[]) => ({
  description,
  schema: anyOf([choiceOf(choices), string()]),
  parse: (value: string) =>
    parseChoice(choices.find((choice) => isSameIgnoringCase(choice, value)) ?? value, choices),
});

const FILTERS = {
  code: {
    description: 'Only the cooperative with this code, in any letter case.',
    schema: string(),
    // Stored codes have no lower-case letters.
    parse: (value: string) => value.toUpperCase(),
  },
  status: choiceFilter('Only cooperatives of this status, in any letter case.', COOPERATIVE_STATUSES),
  sector: choiceFilter('Only cooperatives of this sector, in any letter case.', SECTORS),
  district: DISTRICT_FILTER,
  search: SEARCH_FILTER,
};

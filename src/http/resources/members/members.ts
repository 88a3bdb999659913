/** Members: create, replace, change; one is read by the route of the lookup (./lookup.ts). */

import type { Visible } from '../../../domain/access/visible.ts';
import type { MemberValues } from '../../../domain/membership/members.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { NarrowableStore } from '../../../store/contract/registry.ts';
import type { Route } from '../../declare/route.ts';
import type { ExportDependencies } from '../exports.ts';
import { changeRoutes, createRoute } from '../resource.ts';
import { lookUpRoute } from './lookup.ts';
import { MEMBER } from './member-fields.ts';
import { memberListRoutes } from './member-lists.ts';
import { readMemberValues } from './member-values.ts';

export function memberRoutes(
  store: NarrowableStore,
  exports: ExportDependencies,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const storeOf = (visible: Visible) => store.narrowedTo(visible).members;
  const dependencies = { storeOf, clock, zone };
  return [
    ...memberListRoutes(store, exports, zone),
    createRoute(
      MEMBER,
      { summary: 'Create a member', showsOnlyItsRequest: true },
      (body, { faults, nowSeconds: now }) => [readMemberValues(body, undefined, faults, now) as MemberValues],
      dependencies,
    ),
    lookUpRoute(dependencies),
    ...changeRoutes(
      MEMBER,
      CHANGING,
      {
        toValues: (body, stored, { faults, nowSeconds: now }) => readMemberValues(body, stored, faults, now),
      },
      dependencies,
    ),
  ];
}

const CHANGING = {
  refusals: [410],
  put: {
    description:
      'Takes a member id only. An omitted optional field keeps what is stored, null clears it. ' +
      'Read-only fields are ignored.',
  },
} as const;

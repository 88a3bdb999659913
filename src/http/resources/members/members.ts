/** Members: one by id or by national ID, create, replace, change. */

import type { Visible } from '../../../domain/access/visible.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../../domain/membership/identity-card.ts';
import type { MemberValues } from '../../../domain/membership/members.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { ID, parseId } from '../../../domain/values/ids.ts';
import { EXAMPLE_NATIONAL_ID } from '../../../json/example.ts';
import { anyOf, string } from '../../../json/schema.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { MemberStore, NarrowableStore } from '../../../store/contract/registry.ts';
import { badRequest } from '../../declare/errors.ts';
import { showing } from '../../declare/personal.ts';
import type { Parameter, Route } from '../../declare/route.ts';
import { readTagged } from '../../writes/preconditions.ts';
import type { ExportDependencies } from '../exports.ts';
import { changeRoutes, createRoute, type ResourceDependencies } from '../resource.ts';
import { CONSOLIDATED_MEMBER, lookUp, lookUpFormer, respondWithPerson } from './lookup.ts';
import { MEMBER } from './member-fields.ts';
import { memberListRoutes } from './member-lists.ts';
import { readMemberValues } from './member-values.ts';

const ID_OR_NATIONAL_ID: Parameter = {
  description:
    'Exactly 16 digits: a national ID, for the consolidated lookup. 1 to 12 digits: the id of a member.',
  schema: anyOf([string({ pattern: IDENTITY_CARD.source }), string({ pattern: ID.source })]),
  example: EXAMPLE_NATIONAL_ID,
  takesAnyByte: true,
};

type Dependencies = ResourceDependencies<MemberStore>;

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
    getRoute(dependencies),
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

const getRoute = ({ storeOf, clock, zone }: Dependencies): Route => ({
  method: 'GET',
  path: '/members/{id}',
  operationId: 'getMember',
  summary: 'Look up a person by national ID, or read a member by id',
  tag: 'members',
  access: { scope: 'members:read' },
  narrowed: { lookupOnly: ({ params }) => parseId(params.id ?? '') === undefined, cooperatives: 'narrowed' },
  personal: showing('one', CONSOLIDATED_MEMBER.groups),
  optionalScopes: ['members:financials'],
  params: { id: ID_OR_NATIONAL_ID },
  responses: {
    200: {
      description: 'The consolidated member for a national ID, the member for an id.',
      schema: anyOf([CONSOLIDATED_MEMBER.schema, MEMBER.schema]),
      // The lookup has none: a tag of its bytes would cost a tenth of its speed.
      headers: { ETag: 'optional', 'Content-Location': 'optional' },
    },
  },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404, 410],
  handle(request) {
    const store = storeOf(request.visible);
    const given = request.params.id ?? '';
    if (isIdentityCard(given)) {
      const person = lookUp(store, given, request.caller, clock);
      return person === undefined
        ? lookUpFormer(store, given, request.caller, clock, zone)
        : respondWithPerson(person, request.caller, zone);
    }
    const id = parseId(given);
    if (id === undefined) throw badRequest('Expected a national ID of exactly 16 digits, or a member id.');
    const member = store.find(id);
    if (member === undefined) throw notFound();
    return { ...readTagged(request, MEMBER.represent(member, zone)), fields: MEMBER.groups };
  },
});

/** Members: one by id or by national ID, create, replace, change. */

import { IDENTITY_CARD, isIdentityCard } from '../../../domain/membership/identity-card.ts';
import type { Member, MemberValues } from '../../../domain/membership/members.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { ID, parseId } from '../../../domain/values/ids.ts';
import { anyOf, string } from '../../../json/schema.ts';
import { type Clock, nowSeconds } from '../../../runtime/clock.ts';
import { whenReady } from '../../../store/ports/awaitable.ts';
import type { CooperativeStore, MemberStore } from '../../../store/ports/registry.ts';
import { parseBody } from '../../declare/body-fields.ts';
import { badRequest } from '../../declare/errors.ts';
import { JsonText, ok } from '../../declare/response.ts';
import { API_PREFIX, createWith, type Parameter, type Route } from '../../declare/route.ts';
import { actorOf } from '../../writes/actor.ts';
import {
  type Representation,
  readTagged,
  represent,
  taggedCreated,
  taggedResponse,
} from '../../writes/preconditions.ts';
import { NOTHING_BESIDE, updateRoutes } from '../../writes/update.ts';
import { CONSOLIDATED_MEMBER_EXAMPLE, EXAMPLE_NATIONAL_ID, MEMBER_EXAMPLE } from '../examples.ts';
import { CONSOLIDATED_MEMBER, lookUp, lookUpFormer, serializeConsolidated } from './lookup.ts';
import { MEMBER, MEMBER_BODIES, serializeMember } from './member-fields.ts';
import { MEMBER_ID, readMemberId } from './member-id.ts';
import { memberListRoutes } from './member-lists.ts';
import { readMemberValues } from './member-values.ts';

const ID_OR_NATIONAL_ID: Parameter = {
  description:
    'Exactly 16 digits: a national ID, for the consolidated lookup. 1 to 12 digits: the id of a member.',
  schema: anyOf([string({ pattern: IDENTITY_CARD.source }), string({ pattern: ID.source })]),
  example: EXAMPLE_NATIONAL_ID,
  takesAnyByte: true,
};

interface Dependencies {
  readonly store: MemberStore;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

const RESPONSE = taggedResponse('The member.', MEMBER, MEMBER_EXAMPLE);

export function memberRoutes(
  store: MemberStore,
  cooperatives: CooperativeStore,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const dependencies = { store, clock, zone };
  return [
    ...memberListRoutes(store, cooperatives, zone),
    createRoute(dependencies),
    getRoute(dependencies),
    ...memberUpdateRoutes(dependencies),
  ];
}

const representMember = (member: Member, zone: TimeZone): Representation =>
  represent(serializeMember(member, zone));

/** @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included */
async function readNewValues({ store, clock, zone }: Dependencies, body: unknown): Promise<MemberValues> {
  const now = nowSeconds(clock);
  const parsed = parseBody(MEMBER_BODIES.post, body, { zone, nowSeconds: now });
  const { faults } = parsed;
  const values = readMemberValues(parsed.values, undefined, faults, now);
  if (!faults.isEmpty) faults.addAll(await store.conflicts(values));
  faults.throwIfAny();
  return values as MemberValues;
}

const createRoute = (dependencies: Dependencies): Route => ({
  method: 'POST',
  path: '/members',
  operationId: 'createMember',
  summary: 'Create a member',
  tag: 'members',
  access: { scope: 'members:write' },
  body: MEMBER_BODIES.post,
  responses: { 201: RESPONSE },
  refusals: [400, 503],
  creation: createWith<Member>({
    async create(request, keep) {
      const { store, clock } = dependencies;
      const values = await readNewValues(dependencies, request.body);
      return store.create(values, nowSeconds(clock), actorOf(request), keep);
    },
    respond: (member) =>
      taggedCreated(`${API_PREFIX}/members/${member.id}`, representMember(member, dependencies.zone)),
  }),
});

const getRoute = (dependencies: Dependencies): Route => ({
  method: 'GET',
  path: '/members/{id}',
  operationId: 'getMember',
  summary: 'Look up a person by national ID, or read a member by id',
  tag: 'members',
  access: { scope: 'members:read' },
  optionalScopes: ['members:financials'],
  params: { id: ID_OR_NATIONAL_ID },
  responses: {
    200: {
      description: 'The consolidated member for a national ID, the member for an id.',
      schema: anyOf([CONSOLIDATED_MEMBER, MEMBER]),
      example: CONSOLIDATED_MEMBER_EXAMPLE,
      // The lookup has none: a tag of its bytes would cost a tenth of its speed.
      headers: { ETag: 'optional', 'Content-Location': 'optional' },
    },
  },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404, 410],
  handle(request) {
    const { store, clock, zone } = dependencies;
    const given = request.params.id ?? '';
    if (isIdentityCard(given)) {
      const person = lookUp(store, given, request.caller, clock);
      return whenReady(person, (found) =>
        found === undefined
          ? lookUpFormer(store, given, request.caller, clock, zone)
          : ok(new JsonText(serializeConsolidated(found, zone))),
      );
    }
    const id = parseId(given);
    if (id === undefined) throw badRequest('Expected a national ID of exactly 16 digits, or a member id.');
    return whenReady(store.find(id), (member) => {
      if (member === undefined) throw notFound();
      return readTagged(request, representMember(member, zone));
    });
  },
});

const memberUpdateRoutes = ({ store, clock, zone }: Dependencies): Route[] =>
  updateRoutes(
    {
      path: '/members/{id}',
      tag: 'members',
      params: { id: MEMBER_ID },
      refusals: [410],
      bodies: MEMBER_BODIES,
      put: {
        operationId: 'updateMember',
        summary: 'Replace a member',
        description:
          'Takes a member id only. An omitted optional field becomes null or its default; ' +
          'an omitted registration_date keeps the stored one. Read-only fields are ignored.',
      },
      patch: { operationId: 'patchMember', summary: 'Change fields of a member' },
      responses: { 200: RESPONSE },
    },
    {
      store,
      clock,
      zone,
      readId: readMemberId,
      represent: (member) => representMember(member, zone),
      findBeside: NOTHING_BESIDE,
      toValues: (body, stored, decision) =>
        readMemberValues(body, stored, decision.faults, decision.nowSeconds),
    },
  );

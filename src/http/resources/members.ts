/** Members: one by id or by national ID, create, update. */
import { type Clock, nowSeconds } from '../../clock.ts';
import type { TimeZone } from '../../domain/date-time.ts';
import { notFound } from '../../domain/errors.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../domain/identity-card.ts';
import { ID, parseId } from '../../domain/ids.ts';
import type { Member, MemberValues, Names } from '../../domain/members.ts';
import { whenReady } from '../../store/ports/awaitable.ts';
import type { CooperativeStore, MemberStore } from '../../store/ports/registry.ts';
import { actorOf } from '../actor.ts';
import { parseBody } from '../body-fields.ts';
import { badRequest } from '../errors.ts';
import { created, JsonText, ok } from '../response.ts';
import { API_PREFIX, type Parameter, type Route } from '../route.ts';
import { anyOf, string } from '../schema.ts';
import { CONSOLIDATED_MEMBER_EXAMPLE, EXAMPLE_NATIONAL_ID, MEMBER_EXAMPLE } from './examples.ts';
import { CONSOLIDATED_MEMBER, lookUp, serializeConsolidated } from './lookup.ts';
import { MEMBER, MEMBER_BODY, MEMBER_UPDATE_BODY, serializeMember } from './member-fields.ts';
import { MEMBER_ID, readMemberId } from './member-id.ts';
import { memberListRoutes } from './member-lists.ts';
import { type MemberBody, readNames, toMemberValues } from './member-values.ts';

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
    updateRoute(dependencies),
  ];
}

const toBody = (member: Member, zone: TimeZone) => new JsonText(serializeMember(member, zone));

/**
 * Checks a body.
 * @returns what gives the values from the row that is stored when they are written
 * @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included
 */
async function readValues(
  { store, clock, zone }: Dependencies,
  body: unknown,
  stored?: Member,
): Promise<(current: Member | undefined) => MemberValues> {
  const declared = stored === undefined ? MEMBER_BODY : MEMBER_UPDATE_BODY;
  const now = nowSeconds(clock);
  const parsed = parseBody(declared as typeof MEMBER_UPDATE_BODY, body, { zone, nowSeconds: now });
  const { faults } = parsed;
  const cooperativeId = parsed.values.cooperative_id ?? stored?.cooperative.id;
  if (stored !== undefined && cooperativeId !== stored.cooperative.id) {
    faults.add('cooperative_id', 'This field cannot be changed.');
  }
  const names = readNames(parsed.values, faults);
  if (!faults.isEmpty) {
    const { identity_card: identityCard, member_code: memberCode } = parsed.values;
    const known = { cooperativeId, identityCard, memberCode } as Partial<MemberValues>;
    if (!faults.has('cooperative_id')) faults.addAll(await store.conflicts(known, stored?.id));
  }
  faults.throwIfAny();
  const given = parsed.values.registration_date;
  return (current) =>
    toMemberValues(
      parsed.values as MemberBody,
      names as Names,
      cooperativeId as number,
      given ?? current?.registrationDate ?? now,
    );
}

const createRoute = (dependencies: Dependencies): Route => ({
  method: 'POST',
  path: '/members',
  operationId: 'createMember',
  summary: 'Create a member',
  tag: 'members',
  access: { scope: 'members:write' },
  body: MEMBER_BODY,
  responses: { 201: { description: 'The new member.', schema: MEMBER, example: MEMBER_EXAMPLE } },
  refusals: [400, 503],
  async handle(request) {
    const { store, clock, zone } = dependencies;
    const decide = await readValues(dependencies, request.body);
    const member = await store.create(decide(undefined), nowSeconds(clock), actorOf(request));
    return created(`${API_PREFIX}/members/${member.id}`, toBody(member, zone));
  },
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
    },
  },
  refusals: [400, 404],
  handle(request) {
    const { store, clock, zone } = dependencies;
    const given = request.params.id ?? '';
    if (isIdentityCard(given)) {
      const person = lookUp(store, given, request.caller, clock);
      return whenReady(person, (found) => ok(new JsonText(serializeConsolidated(found, zone))));
    }
    const id = parseId(given);
    if (id === undefined) throw badRequest('Expected a national ID of exactly 16 digits, or a member id.');
    return whenReady(store.find(id), (member) => {
      if (member === undefined) throw notFound();
      return ok(toBody(member, zone));
    });
  },
});

const updateRoute = (dependencies: Dependencies): Route => ({
  method: 'PUT',
  path: '/members/{id}',
  operationId: 'updateMember',
  summary: 'Replace a member',
  description:
    'Takes a member id only. An omitted optional field becomes null or its default; ' +
    'an omitted registration_date keeps the stored one. Read-only fields are ignored.',
  tag: 'members',
  access: { scope: 'members:write' },
  params: { id: MEMBER_ID },
  body: MEMBER_UPDATE_BODY,
  responses: { 200: { description: 'The member as it is now.', schema: MEMBER, example: MEMBER_EXAMPLE } },
  refusals: [400, 404, 503],
  async handle(request) {
    const { store, clock, zone } = dependencies;
    const id = readMemberId(request);
    const stored = await store.find(id);
    if (stored === undefined) throw notFound();
    const decide = await readValues(dependencies, request.body, stored);
    const member = await store.update(id, decide, nowSeconds(clock), actorOf(request));
    return ok(toBody(member, zone));
  },
});

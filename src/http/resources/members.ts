/** Members: the lists, one by id or by national ID, create, update. */
import { type Clock, nowSeconds } from '../../clock.ts';
import type { TimeZone } from '../../domain/date-time.ts';
import { notFound } from '../../domain/errors.ts';
import { IDENTITY_CARD, isIdentityCard, parseIdentityCard } from '../../domain/identity-card.ts';
import { ID, parseId } from '../../domain/ids.ts';
import { MEMBER_STATUSES, type Member, type MemberValues, type Names } from '../../domain/members.ts';
import { parseChoice } from '../../domain/text.ts';
import { type CooperativeStore, type MemberStore, whenReady } from '../../store/ports.ts';
import { parseBody } from '../body-fields.ts';
import { badRequest } from '../errors.ts';
import { envelope, envelopeSchema, PAGE_PARAMETERS, toPageRequest } from '../list.ts';
import { created, JsonText, ok } from '../response.ts';
import { API_PREFIX, defineRoute, type Parameter, type Route } from '../route.ts';
import { anyOf, string } from '../schema.ts';
import { COOPERATIVE_ID, readCooperativeId } from './cooperatives.ts';
import {
  CONSOLIDATED_MEMBER_EXAMPLE,
  EXAMPLE_NATIONAL_ID,
  MEMBER_EXAMPLE,
  MEMBER_ROW_EXAMPLE,
  pageExample,
} from './examples.ts';
import { CONSOLIDATED_MEMBER, lookUp, serializeConsolidated } from './lookup.ts';
import {
  MEMBER,
  MEMBER_BODY,
  MEMBER_FIELDS,
  MEMBER_ROW,
  MEMBER_UPDATE_BODY,
  serializeMember,
  serializeMemberRow,
} from './member-fields.ts';
import { type MemberBody, readNames, toMemberValues } from './member-values.ts';

const ID_OR_NATIONAL_ID: Parameter = {
  description:
    'Exactly 16 digits: a national ID, for the consolidated lookup. 1 to 12 digits: the id of a member.',
  schema: anyOf([string({ pattern: IDENTITY_CARD.source }), string({ pattern: ID.source })]),
  example: EXAMPLE_NATIONAL_ID,
  takesAnyByte: true,
};

const MEMBER_ID: Parameter = {
  description: 'The id of a member: 1 to 12 digits.',
  schema: string({ pattern: ID.source }),
  example: '2',
  takesAnyByte: true,
};

const FILTERS = {
  identity_card: {
    description: 'Only the rows of this person, of every status.',
    schema: MEMBER_FIELDS.identity_card.schema,
    parse: parseIdentityCard,
  },
  status: {
    description: 'Only members of this status.',
    schema: MEMBER_FIELDS.status.schema,
    parse: (value: string) => parseChoice(value, MEMBER_STATUSES),
  },
};
const LIST_QUERY = {
  ...PAGE_PARAMETERS,
  ...FILTERS,
  cooperative: {
    description: 'Only members of the cooperative with this id; none for what is not an id.',
    schema: string(),
    // What is not an id is the id of no cooperative: an empty list.
    parse: (value: string) => parseId(value) ?? -1,
  },
};
const COOPERATIVE_LIST_QUERY = { ...PAGE_PARAMETERS, ...FILTERS };

export function memberRoutes(
  store: MemberStore,
  cooperatives: CooperativeStore,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const toBody = (member: Member) => new JsonText(serializeMember(member, zone));

  /**
   * Checks a body.
   * @returns what gives the values from the row that is stored when they are written
   * @throws RegistryError `invalid` with every fault of the body, conflicts with stored rows included
   */
  async function readValues(
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

  return [
    defineRoute({
      method: 'GET',
      path: '/members',
      operationId: 'listMembers',
      summary: 'List members',
      description: 'One row per person and cooperative, in order of id, of every status.',
      tag: 'members',
      access: { scope: 'members:read' },
      query: LIST_QUERY,
      answers: {
        200: {
          description: 'One page of members.',
          schema: envelopeSchema(MEMBER_ROW),
          example: pageExample('/members', MEMBER_ROW_EXAMPLE),
        },
      },
      refusals: [400, 404],
      handle(request) {
        const { identity_card, cooperative, status } = request.query;
        const pageRequest = toPageRequest(request.query);
        return whenReady(store.list(toFilter(identity_card, cooperative, status), pageRequest), (page) =>
          envelope(request, pageRequest, page, serializeMemberRow, zone),
        );
      },
    }),
    {
      method: 'POST',
      path: '/members',
      operationId: 'createMember',
      summary: 'Create a member',
      tag: 'members',
      access: { scope: 'members:write' },
      body: MEMBER_BODY,
      answers: { 201: { description: 'The new member.', schema: MEMBER, example: MEMBER_EXAMPLE } },
      refusals: [400, 503],
      async handle(request) {
        const decide = await readValues(request.body);
        const member = await store.create(decide(undefined), nowSeconds(clock));
        return created(`${API_PREFIX}/members/${member.id}`, toBody(member));
      },
    },
    {
      method: 'GET',
      path: '/members/{id}',
      operationId: 'getMember',
      summary: 'Look up a person by national ID, or read a member by id',
      tag: 'members',
      access: { scope: 'members:read' },
      optionalScopes: ['members:financials'],
      params: { id: ID_OR_NATIONAL_ID },
      answers: {
        200: {
          description: 'The consolidated member for a national ID, the member for an id.',
          schema: anyOf([CONSOLIDATED_MEMBER, MEMBER]),
          example: CONSOLIDATED_MEMBER_EXAMPLE,
        },
      },
      refusals: [400, 404],
      handle(request) {
        const given = request.params.id ?? '';
        if (isIdentityCard(given)) {
          const person = lookUp(store, given, request.caller, clock);
          return whenReady(person, (found) => ok(new JsonText(serializeConsolidated(found, zone))));
        }
        const id = parseId(given);
        if (id === undefined)
          throw badRequest('Expected a national ID of exactly 16 digits, or a member id.');
        return whenReady(store.find(id), (member) => {
          if (member === undefined) throw notFound();
          return ok(toBody(member));
        });
      },
    },
    {
      method: 'PUT',
      path: '/members/{id}',
      operationId: 'updateMember',
      summary: 'Replace a member',
      description:
        'Takes a member id only. An omitted optional field becomes null or its default; an omitted registration_date keeps the stored one. Read-only fields are ignored.',
      tag: 'members',
      access: { scope: 'members:write' },
      params: { id: MEMBER_ID },
      body: MEMBER_UPDATE_BODY,
      answers: { 200: { description: 'The member as it is now.', schema: MEMBER, example: MEMBER_EXAMPLE } },
      refusals: [400, 404, 503],
      async handle(request) {
        const id = parseId(request.params.id ?? '');
        if (id === undefined) throw badRequest('Expected a member id.');
        const stored = await store.find(id);
        if (stored === undefined) throw notFound();
        const decide = await readValues(request.body, stored);
        return ok(toBody(await store.update(id, decide, nowSeconds(clock))));
      },
    },
    defineRoute({
      method: 'GET',
      path: '/cooperatives/{id}/members',
      operationId: 'listCooperativeMembers',
      summary: 'List the members of a cooperative',
      tag: 'members',
      access: { scope: 'members:read' },
      params: { id: COOPERATIVE_ID },
      query: COOPERATIVE_LIST_QUERY,
      answers: {
        200: {
          description: 'One page of its members.',
          schema: envelopeSchema(MEMBER_ROW),
          example: pageExample('/cooperatives/1/members', MEMBER_ROW_EXAMPLE),
        },
      },
      refusals: [400, 404],
      async handle(request) {
        const id = readCooperativeId(request);
        if ((await cooperatives.find(id)) === undefined) throw notFound();
        const { identity_card, status } = request.query;
        const pageRequest = toPageRequest(request.query);
        return envelope(
          request,
          pageRequest,
          await store.list(toFilter(identity_card, id, status), pageRequest),
          serializeMemberRow,
          zone,
        );
      },
    }),
  ];
}

/** Only what was given, as an absent filter is not an undefined one. */
const toFilter = (
  identityCard: string | undefined,
  cooperativeId: number | undefined,
  status: Member['status'] | undefined,
) => ({
  ...(identityCard === undefined ? {} : { identityCard }),
  ...(cooperativeId === undefined ? {} : { cooperativeId }),
  ...(status === undefined ? {} : { status }),
});

/** Lookups by national ID: a person's consolidated record, or their membership in one cooperative. */

import type { ApiKey } from '../../access/api-keys.ts';
import { readTagged } from '../../http/declare/preconditions.ts';
import { declareResource, type ResourceDependencies, readPathId } from '../../http/declare/resource.ts';
import { type ApiResponse, badRequest, JsonText, ok } from '../../http/declare/response.ts';
import {
  API_PREFIX,
  type ApiRequest,
  type Parameter,
  type Route,
  SHOWS_ONE_PERSON,
  SHOWS_PERSONS,
  showing,
} from '../../http/declare/route.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import { formatDateTime, type TimeZone } from '../../values/date-time.ts';
import { ID, notFound, parseId } from '../../values/errors.ts';
import { financials, NULL_FINANCIALS, shownFields, shownObject } from '../../values/field-json.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../values/identity-card.ts';
import { anyOf, array, EXAMPLE_NATIONAL_ID, nullable, string } from '../../values/schema.ts';
import { quote, type Serialize, serializeArray, text } from '../../values/serializer.ts';
import {
  type ConsolidatedMember,
  consolidate,
  LOAN_HISTORY_ENTRY,
  type Membership,
  PRODUCTION_SUMMARY,
  SAVINGS_SUMMARY,
  serializeProduction,
} from '../consolidate.ts';
import { PRODUCTION_WINDOW_DAYS } from '../entries.ts';
import { LOAN_HISTORY_LIMIT } from '../loans.ts';
import { CONSOLIDATED, type ListedMember, LOOKED_UP, MEMBER_FIELDS } from '../members.ts';
import type { NarrowableStore } from '../registry-store.ts';
import { COOPERATIVE_SUMMARY, SHOWN_LISTED_MEMBER, SHOWN_MEMBER } from '../shown-rows.ts';
import type { MemberStore } from '../stores/member-store.ts';
import { COOPERATIVE, serializeCooperativeSummary } from './cooperative-routes.ts';

// A member in bodies and responses, derived from its declared fields

/** Path parameter of routes that accept only a member id. */
export const MEMBER_ID: Parameter = {
  description: 'The id of a member: 1 to 12 digits.',
  schema: string({ pattern: ID.source }),
  example: '2',
  takesAnyByte: true,
};

/** @throws HttpError 400 for anything else, including a national ID (docs/api.md#routes) */
export function readMemberId(request: Pick<ApiRequest, 'params'>): number {
  const id = parseId(request.params.id ?? '');
  if (id === undefined) throw badRequest('Expected a member id.');
  return id;
}

export const MEMBER_ROW = shownObject('MemberRow', SHOWN_LISTED_MEMBER);

const declared = declareResource(MEMBER_FIELDS, {
  tag: 'members',
  title: 'Member',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_MEMBER,
  memberIdOf: ({ id }) => id,
  oneOf: [['full_name'], ['first_name', 'last_name']],
});

export const MEMBER: typeof declared = { ...declared, id: MEMBER_ID, readId: readMemberId };

/** Completes the JSON object from storage, which lacks the fields that depend on more than the row. */
export const serializeMemberRow: Serialize<ListedMember> = ({ json, cooperative, registrationDate }, zone) =>
  `${json.slice(0, -1)},"cooperative":${serializeCooperativeSummary(cooperative)},` +
  `"registration_date":"${formatDateTime(registrationDate, zone)}"}`;

// A person: the record that a lookup shows

const NAME_GROUPS = [MEMBER_FIELDS.fullName.group];
const NAMES = [MEMBER_FIELDS.fullName.example];

/** Only in responses to lookups of replaced numbers, along with Content-Location. */
const CURRENT_IDENTITY_CARD = {
  current_identity_card: string({
    pattern: IDENTITY_CARD.source,
    description: 'Only if the number that was asked for was replaced: the one that replaced it. Ask for it.',
  }),
};

const SHOWN_MEMBERSHIP = shownObject<Membership>(
  'Membership',
  {
    cooperative: {
      schema: COOPERATIVE_SUMMARY,
      write: ({ cooperative }) => serializeCooperativeSummary(cooperative),
    },
    ...shownFields(MEMBER_FIELDS, LOOKED_UP),
    ...financials<Membership>({
      production_summary: {
        schema: nullable(PRODUCTION_SUMMARY, {
          description:
            `Deliveries of the last ${PRODUCTION_WINDOW_DAYS} × 24 hours. ` +
            `${NULL_FINANCIALS}; with it and without deliveries, zeros and null.`,
        }),
        write: ({ financials: blocks }, zone) =>
          blocks === null ? 'null' : serializeProduction(blocks.production, zone),
      },
      loan_history: {
        schema: nullable(array(LOAN_HISTORY_ENTRY, { maxItems: LOAN_HISTORY_LIMIT }), {
          description:
            `At most ${LOAN_HISTORY_LIMIT} loans: first those granted (approved, defaulted, paid), then ` +
            'pending, last rejected and cancelled ones; within each those without a start date, then by ' +
            `start date, newest first. ${NULL_FINANCIALS}; with it and without loans, an empty list.`,
        }),
        write: ({ financials: blocks }) => (blocks === null ? 'null' : blocks.loanHistory),
      },
      savings_summary: {
        schema: nullable(SAVINGS_SUMMARY, {
          description: `${NULL_FINANCIALS}; with it and without savings, zeros and null.`,
        }),
        write: ({ financials: blocks }) => (blocks === null ? 'null' : blocks.savingsSummary),
      },
    }),
  },
  CURRENT_IDENTITY_CARD,
);
export const { schema: MEMBERSHIP, serialize: serializeMembership } = SHOWN_MEMBERSHIP;

const CONSOLIDATED_MEMBER = shownObject<ConsolidatedMember>(
  'ConsolidatedMember',
  {
    ...shownFields(MEMBER_FIELDS, ['identityCard']),
    primary_full_name: {
      schema: string({ description: 'Name of the newest registration.', examples: NAMES }),
      write: text(({ primaryFullName }) => primaryFullName),
      groups: NAME_GROUPS,
    },
    name_variants: {
      schema: array(string({ examples: NAMES }), {
        description: 'Distinct names, newest registration first.',
      }),
      write: ({ nameVariants }, zone) => serializeArray(nameVariants, quote, zone),
      groups: NAME_GROUPS,
    },
    ...shownFields(MEMBER_FIELDS, CONSOLIDATED),
    memberships: {
      schema: array(MEMBERSHIP, { description: 'Active memberships, newest registration first.' }),
      write: ({ memberships }, zone) => serializeArray(memberships, serializeMembership, zone),
      groups: SHOWN_MEMBERSHIP.groups,
    },
  },
  CURRENT_IDENTITY_CARD,
);
export const serializeConsolidated = CONSOLIDATED_MEMBER.serialize;

const seesFinancials = (caller: ApiKey | undefined): boolean =>
  caller?.scopes.includes('members:financials') === true;

/** Time of the financials in epoch seconds; null for a caller who may not see them. */
const financialsAt = (caller: ApiKey | undefined, clock: Clock): number | null =>
  seesFinancials(caller) ? nowSeconds(clock) : null;

const { groups: ALL_GROUPS } = CONSOLIDATED_MEMBER;
const PLAIN_GROUPS = ALL_GROUPS.filter((group) => group !== 'financials');

function respondWith(
  json: string,
  memberships: readonly Membership[],
  caller: ApiKey | undefined,
): ApiResponse {
  const identityCards = memberships.slice(0, 1).map(({ identityCard }) => identityCard);
  return {
    ...ok(new JsonText(json)),
    subject: { identityCards, memberIds: memberships.map(({ id }) => id) },
    fields: seesFinancials(caller) ? ALL_GROUPS : PLAIN_GROUPS,
  };
}

/**
 * Response to a lookup of a replaced number, with the record of its former holder
 * (docs/api.md#a-replaced-national-id).
 * @param path path of the resource, up to the number
 */
function respondWithCurrent(
  json: string,
  memberships: readonly Membership[],
  caller: ApiKey | undefined,
  path: string,
): ApiResponse {
  const current = memberships[0]?.identityCard;
  return {
    ...respondWith(`${json.slice(0, -1)},"current_identity_card":"${current}"}`, memberships, caller),
    headers: { 'Content-Location': `${API_PREFIX}${path}${current}` },
  };
}

/** @returns undefined if the person has no active membership */
export const lookUp = (
  store: Pick<MemberStore, 'listActiveMemberships'>,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
): ConsolidatedMember | undefined =>
  consolidate(store.listActiveMemberships(identityCard, financialsAt(caller, clock)));

const NATIONAL_ID: Parameter = {
  description: 'National ID: exactly 16 digits.',
  schema: string({ pattern: IDENTITY_CARD.source }),
  example: EXAMPLE_NATIONAL_ID,
  takesAnyByte: true,
};

export function membershipRoutes(stores: NarrowableStore, clock: Clock, zone: TimeZone): Route[] {
  return [
    {
      method: 'GET',
      path: '/cooperatives/{id}/members/{nid}',
      operationId: 'getMembership',
      summary: "Look up a person's membership in a cooperative",
      tag: 'members',
      access: { scope: 'members:read' },
      narrowed: SHOWS_ONE_PERSON,
      personal: showing('one', SHOWN_MEMBERSHIP.groups),
      optionalScopes: ['members:financials'],
      params: { id: COOPERATIVE.id, nid: NATIONAL_ID },
      responses: {
        200: {
          description: 'The active membership.',
          schema: MEMBERSHIP,
          headers: { 'Content-Location': 'optional' },
        },
      },
      refusals: [400, 404],
      handle(request) {
        const store = stores.narrowedTo(request.visible).members;
        const cooperativeId = readPathId(request);
        const identityCard = request.params.nid ?? '';
        if (!isIdentityCard(identityCard)) throw badRequest('Expected a national ID of exactly 16 digits.');
        const at = financialsAt(request.caller, clock);
        const find = (number: string) => store.findActiveMembership(cooperativeId, number, at);
        const membership = find(identityCard);
        if (membership !== undefined)
          return respondWith(serializeMembership(membership, zone), [membership], request.caller);
        const number = store.findCurrentIdentityCard(identityCard);
        const current = number === undefined ? undefined : find(number);
        if (current === undefined) throw notFound();
        const path = `/cooperatives/${cooperativeId}/members/`;
        return respondWithCurrent(serializeMembership(current, zone), [current], request.caller, path);
      },
    },
  ];
}

const ID_OR_NATIONAL_ID: Parameter = {
  description:
    'Exactly 16 digits: a national ID, for the consolidated lookup. 1 to 12 digits: the id of a member.',
  schema: anyOf([string({ pattern: IDENTITY_CARD.source }), string({ pattern: ID.source })]),
  example: EXAMPLE_NATIONAL_ID,
  takesAnyByte: true,
};

/** A person by national ID, or a member by id: both have the same path. */
export const lookUpRoute = ({ storeOf, clock, zone }: ResourceDependencies<MemberStore>): Route => ({
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
      // Lookups have no ETag: hashing their bytes would cost a tenth of their speed.
      headers: { ETag: 'optional', 'Content-Location': 'optional' },
    },
  },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404, 410],
  handle(request) {
    const store = storeOf(request.visible);
    const requested = request.params.id ?? '';
    if (isIdentityCard(requested)) {
      const person = lookUp(store, requested, request.caller, clock);
      if (person !== undefined)
        return respondWith(serializeConsolidated(person, zone), person.memberships, request.caller);
      const number = store.findCurrentIdentityCard(requested);
      const current = number === undefined ? undefined : lookUp(store, number, request.caller, clock);
      if (current === undefined) throw notFound();
      const json = serializeConsolidated({ ...current, identityCard: requested }, zone);
      return respondWithCurrent(json, current.memberships, request.caller, '/members/');
    }
    const id = parseId(requested);
    if (id === undefined) throw badRequest('Expected a national ID of exactly 16 digits, or a member id.');
    const member = store.find(id);
    if (member === undefined) throw notFound();
    return { ...readTagged(request, MEMBER.represent(member, zone)), fields: MEMBER.groups };
  },
});

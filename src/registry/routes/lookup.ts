/** Lookups by national ID: a person's consolidated record, or their membership in one cooperative. */

import type { ApiKey } from '../../access/api-keys.ts';
import { readTagged } from '../../http/declare/preconditions.ts';
import { type ResourceDependencies, readPathId } from '../../http/declare/resource.ts';
import { type ApiResponse, badRequest, JsonText, ok } from '../../http/declare/response.ts';
import {
  API_PREFIX,
  type Parameter,
  type Route,
  SHOWS_ONE_PERSON,
  showing,
} from '../../http/declare/route.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { ID, notFound, parseId } from '../../values/errors.ts';
import { financials, NULL_FINANCIALS, shownFields, shownObject } from '../../values/field-json.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../values/identity-card.ts';
import { anyOf, array, EXAMPLE_NATIONAL_ID, nullable, string } from '../../values/schema.ts';
import { quote, serializeArray, text } from '../../values/serializer.ts';
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
import { CONSOLIDATED, LOOKED_UP, MEMBER_FIELDS } from '../members.ts';
import type { MemberStore, NarrowableStore } from '../registry-store.ts';
import { COOPERATIVE_SUMMARY } from '../shown-rows.ts';
import { COOPERATIVE, serializeCooperativeSummary } from './cooperative-routes.ts';
import { MEMBER } from './member-fields.ts';

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
const financialsAt = (caller: ApiKey | undefined, now: number): number | null =>
  seesFinancials(caller) ? now : null;

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
 * Response to a lookup of a replaced number.
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

const respondWithPerson = (
  person: ConsolidatedMember,
  caller: ApiKey | undefined,
  zone: TimeZone,
): ApiResponse => respondWith(serializeConsolidated(person, zone), person.memberships, caller);

/** @returns undefined if the person has no active membership */
export function lookUp(
  store: Pick<MemberStore, 'listActiveMemberships'>,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
): ConsolidatedMember | undefined {
  const at = financialsAt(caller, nowSeconds(clock));
  return consolidate(store.listActiveMemberships(identityCard, at));
}

/**
 * Responds to a lookup without a match: if the number was replaced, with the record of its former holder
 * under the requested number (docs/api.md#a-replaced-national-id).
 * @throws RegistryError `not_found`
 */
function lookUpFormer(
  store: Pick<MemberStore, 'listActiveMemberships' | 'findCurrentIdentityCard'>,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
  zone: TimeZone,
): ApiResponse {
  const current = store.findCurrentIdentityCard(identityCard);
  const person = current === undefined ? undefined : lookUp(store, current, caller, clock);
  if (person === undefined) throw notFound();
  const json = serializeConsolidated({ ...person, identityCard }, zone);
  return respondWithCurrent(json, person.memberships, caller, '/members/');
}

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
        const at = financialsAt(request.caller, nowSeconds(clock));
        const find = (number: string) => store.findActiveMembership(cooperativeId, number, at);
        const membership = find(identityCard);
        if (membership !== undefined)
          return respondWith(serializeMembership(membership, zone), [membership], request.caller);
        // The number may be a former one.
        const current = store.findCurrentIdentityCard(identityCard);
        const former = current === undefined ? undefined : find(current);
        if (former === undefined) throw notFound();
        const path = `/cooperatives/${cooperativeId}/members/`;
        return respondWithCurrent(serializeMembership(former, zone), [former], request.caller, path);
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

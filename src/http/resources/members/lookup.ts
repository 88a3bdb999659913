/** The lookups by national ID: one consolidated record, or one person's membership in one cooperative. */

import type { ApiKey } from '../../../domain/access/api-keys.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { ID, parseId } from '../../../domain/values/ids.ts';
import { EXAMPLE_NATIONAL_ID } from '../../../json/example.ts';
import { anyOf, string } from '../../../json/schema.ts';
import { type ConsolidatedMember, consolidate, type Membership } from '../../../lookup/consolidate.ts';
import { type Clock, nowSeconds } from '../../../runtime/clock.ts';
import type { MemberStore, NarrowableStore } from '../../../store/contract/registry.ts';
import { badRequest } from '../../declare/errors.ts';
import { SHOWS_ONE_PERSON } from '../../declare/narrowing.ts';
import { readPathId } from '../../declare/path-id.ts';
import { showing } from '../../declare/personal.ts';
import { type ApiResponse, JsonText, ok } from '../../declare/response.ts';
import { API_PREFIX, type Parameter, type Route } from '../../declare/route.ts';
import { readTagged } from '../../writes/preconditions.ts';
import { COOPERATIVE } from '../cooperative-fields.ts';
import type { ResourceDependencies } from '../resource.ts';
import {
  CONSOLIDATED_MEMBER,
  MEMBERSHIP,
  SHOWN_MEMBERSHIP,
  serializeConsolidated,
  serializeMembership,
} from './consolidated-member.ts';
import { MEMBER } from './member-fields.ts';

const seesFinancials = (caller: ApiKey | undefined): boolean =>
  caller?.scopes.includes('members:financials') === true;

/** The moment of the financials for those who may see them, in epoch seconds; null for others. */
const financialsAt = (caller: ApiKey | undefined, now: number): number | null =>
  seesFinancials(caller) ? now : null;

const { groups: ALL_GROUPS } = CONSOLIDATED_MEMBER;
const PLAIN_GROUPS = ALL_GROUPS.filter((group) => group !== 'financials');

/** The response that shows memberships of one person. */
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

/** The same for a lookup of a replaced number. @param path of what is shown, up to the number */
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

/**
 * The consolidated record of a person.
 * @returns undefined when no active membership exists anywhere
 */
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
 * The response to a lookup that found nobody: the person whose number it was before, with the number that was
 * asked for (docs/api.md#a-replaced-national-id).
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
        // It may be a number that the person had before.
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

/** By national ID, or one member by id: both have the same path. */
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

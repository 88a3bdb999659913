/** The lookups by national ID: one consolidated record, or one person's membership in one cooperative. */

import type { ApiKey } from '../../../domain/access/api-keys.ts';
import { PRODUCTION_WINDOW_DAYS } from '../../../domain/entries/production.ts';
import { LOAN_HISTORY_LIMIT } from '../../../domain/lending/loan-history.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../../domain/membership/identity-card.ts';
import { CONSOLIDATED, LOOKED_UP, MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { financials, NULL_FINANCIALS, shownFields, shownObject } from '../../../json/declared-fields.ts';
import { EXAMPLE_NATIONAL_ID } from '../../../json/example.ts';
import { array, nullable, string } from '../../../json/schema.ts';
import { quote, serializeArray, text } from '../../../json/serializer.ts';
import { COOPERATIVE_SUMMARY } from '../../../json/shown/row-properties.ts';
import { type ConsolidatedMember, consolidate, type Membership } from '../../../lookup/consolidate.ts';
import {
  LOAN_HISTORY_ENTRY,
  PRODUCTION_SUMMARY,
  SAVINGS_SUMMARY,
  serializeProduction,
} from '../../../lookup/financial-blocks.ts';
import { type Clock, nowSeconds } from '../../../runtime/clock.ts';
import type { MemberStore, NarrowableStore } from '../../../store/contract/registry.ts';
import { badRequest } from '../../declare/errors.ts';
import { SHOWS_ONE_PERSON } from '../../declare/narrowing.ts';
import { readPathId } from '../../declare/path-id.ts';
import { showing } from '../../declare/personal.ts';
import { type ApiResponse, JsonText, ok } from '../../declare/response.ts';
import { API_PREFIX, type Parameter, type Route } from '../../declare/route.ts';
import { COOPERATIVE, serializeCooperativeSummary } from '../cooperative-fields.ts';

const NAME_GROUPS = [MEMBER_FIELDS.fullName.group];
const NAMES = [MEMBER_FIELDS.fullName.example];

/** Beside Content-Location; only responses to lookups of replaced numbers have it. */
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

export const CONSOLIDATED_MEMBER = shownObject<ConsolidatedMember>(
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

export const respondWithPerson = (
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
export function lookUpFormer(
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

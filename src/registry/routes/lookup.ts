/** Lookups by national ID: a person's consolidated record, or their membership in one cooperative. */

import { type ApiKey, seesFinancials } from '../../access/api-keys.ts';
import type { BodyDeclaration } from '../../http/declare/request-body.ts';
import {
  parseBody,
  type Resource,
  type ResourceDependencies,
  readPathId,
  readTagged,
} from '../../http/declare/resource.ts';
import { type ApiResponse, badRequest, HttpError, JsonText, ok } from '../../http/declare/response.ts';
import {
  API_PREFIX,
  type Parameter,
  type Route,
  SHOWS_COOPERATIVES,
  showing,
} from '../../http/declare/route.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import type { TimeZone } from '../../values/date-time.ts';
import type { FieldGroup } from '../../values/declared-fields.ts';
import { FieldError, ID, notFound, parseId } from '../../values/errors.ts';
import {
  type FieldContext,
  financials,
  NULL_FINANCIALS,
  shownFields,
  shownObject,
} from '../../values/field-json.ts';
import { IDENTITY_CARD, isIdentityCard } from '../../values/identity-card.ts';
import { anyOf, array, EXAMPLE_NATIONAL_ID, nullable, object, string } from '../../values/schema.ts';
import { quote, serializeArray, text } from '../../values/serializer.ts';
import { LOAN_HISTORY_LIMIT } from '../loans.ts';
import { CONSOLIDATED, LOOKED_UP, MEMBER_FIELDS, type Member } from '../members.ts';
import { PRODUCTION_WINDOW_DAYS } from '../recent-deliveries.ts';
import type { NarrowableStore } from '../registry-store.ts';
import { COOPERATIVE_SUMMARY } from '../shown-rows.ts';
import {
  type ConsolidatedMember,
  consolidate,
  LOAN_HISTORY_ENTRY,
  type Membership,
  PRODUCTION_SUMMARY,
  SAVINGS_SUMMARY,
  serializeProduction,
} from '../stores/consolidate.ts';
import type { MemberStore } from '../stores/member-store.ts';
import { COOPERATIVE, serializeCooperativeSummary } from './cooperative-routes.ts';

const NAME_GROUPS = [MEMBER_FIELDS.fullName.group];
const NAMES = [MEMBER_FIELDS.fullName.example];

const CURRENT_IDENTITY_CARD = {
  current_identity_card: string({
    pattern: IDENTITY_CARD.source,
    description: 'Present only if the requested number was replaced: the current number. Use it from now on.',
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
            `At most ${LOAN_HISTORY_LIMIT} loans: first granted loans (approved, defaulted, paid), then ` +
            'pending ones, then rejected and cancelled ones; in each group loans without a start date ' +
            `first, then by start date, newest first. ${NULL_FINANCIALS}; with it and without loans, an ` +
            `empty list.`,
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

/** Returns epoch seconds; null if the caller may not see financials. */
const financialsAt = (caller: ApiKey | undefined, clock: Clock): number | null =>
  seesFinancials(caller) ? nowSeconds(clock) : null;

const { groups: ALL_GROUPS } = CONSOLIDATED_MEMBER;
const PLAIN_GROUPS = ALL_GROUPS.filter((group) => group !== 'financials');

interface Match {
  readonly json: string;
  readonly memberships: readonly Membership[];
  /** Current national ID, if the requested national ID was replaced. */
  readonly current?: string | undefined;
}

const fieldsFor = (caller: ApiKey | undefined): readonly FieldGroup[] =>
  seesFinancials(caller) ? ALL_GROUPS : PLAIN_GROUPS;

/** @param path path in `Content-Location`, before the national ID */
function respondWith(
  { json, memberships, current }: Match,
  caller: ApiKey | undefined,
  path: string,
): ApiResponse {
  const identityCards = memberships.slice(0, 1).map(({ identityCard }) => identityCard);
  const response: ApiResponse = {
    ...ok(new JsonText(json)),
    subject: { identityCards, memberIds: memberships.map(({ id }) => id) },
    fields: fieldsFor(caller),
  };
  return current === undefined
    ? response
    : { ...response, headers: { 'Content-Location': `${API_PREFIX}${path}${current}` } };
}

const withCurrent = (json: string, memberships: readonly Membership[]): Match => {
  const current = memberships[0]?.identityCard;
  return { json: `${json.slice(0, -1)},"current_identity_card":"${current}"}`, memberships, current };
};

/** @returns undefined if the person has no active membership */
export const lookUp = (
  store: Pick<MemberStore, 'listActiveMemberships'>,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
): ConsolidatedMember | undefined =>
  consolidate(store.listActiveMemberships(identityCard, financialsAt(caller, clock)));

/**
 * Finds a person by a current or a replaced national ID. The response shows the requested national ID
 * (docs/api.md#a-replaced-national-id).
 * @returns undefined if the person has no active membership
 */
function findPerson(
  store: Pick<MemberStore, 'listActiveMemberships' | 'findCurrentIdentityCard'>,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
  zone: TimeZone,
): Match | undefined {
  const person = lookUp(store, identityCard, caller, clock);
  if (person !== undefined)
    return { json: serializeConsolidated(person, zone), memberships: person.memberships };
  const current = store.findCurrentIdentityCard(identityCard);
  const holder = current === undefined ? undefined : lookUp(store, current, caller, clock);
  if (holder === undefined) return undefined;
  return withCurrent(serializeConsolidated({ ...holder, identityCard }, zone), holder.memberships);
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
      narrowed: SHOWS_COOPERATIVES,
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
        const path = `/cooperatives/${cooperativeId}/members/`;
        if (membership !== undefined) {
          const json = serializeMembership(membership, zone);
          return respondWith({ json, memberships: [membership] }, request.caller, path);
        }
        const number = store.findCurrentIdentityCard(identityCard);
        const current = number === undefined ? undefined : find(number);
        if (current === undefined) throw notFound();
        return respondWith(withCurrent(serializeMembership(current, zone), [current]), request.caller, path);
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

/** @param resource the resource that the other member routes use, so that all routes show a member alike */
export const lookUpRoute = (
  resource: Pick<Resource<Member, unknown>, 'schema' | 'groups' | 'represent'>,
  { storeOf, clock, zone }: ResourceDependencies<MemberStore>,
): Route => ({
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
      schema: anyOf([CONSOLIDATED_MEMBER.schema, resource.schema]),
      // Only a read by id has an ETag, because hashing would make lookups a tenth slower.
      headers: { ETag: 'optional', 'Content-Location': 'optional' },
    },
  },
  requestHeaders: ['If-None-Match'],
  refusals: [400, 404, 410],
  handle(request) {
    const store = storeOf(request.visible);
    const requested = request.params.id ?? '';
    if (isIdentityCard(requested)) {
      const person = findPerson(store, requested, request.caller, clock, zone);
      if (person === undefined) throw notFound();
      return respondWith(person, request.caller, '/members/');
    }
    const id = parseId(requested);
    if (id === undefined) throw badRequest('Expected a national ID of exactly 16 digits, or a member id.');
    const member = store.find(id);
    if (member === undefined) throw notFound();
    return { ...readTagged(request, resource.represent(member, zone)), fields: resource.groups };
  },
});

// Many lookups in one request (docs/api.md#many-lookups-at-once)

/** A request with this many lookups blocks the event loop for a few milliseconds. */
export const MOST_LOOKUPS = 100;
const EXPECTED_NATIONAL_ID = 'Expected a national ID of exactly 16 digits.';

const LOOKUPS_BODY = {
  title: 'LookupsBody',
  fields: {
    identityCards: {
      name: 'identity_cards',
      presence: 'required',
      schema: array(string({ pattern: IDENTITY_CARD.source, examples: [EXAMPLE_NATIONAL_ID] }), {
        description: 'Different national IDs.',
        minItems: 1,
        maxItems: MOST_LOOKUPS,
        uniqueItems: true,
      }),
      parse(value: unknown) {
        if (!Array.isArray(value)) return new FieldError('Expected a list of national IDs.');
        if (value.length === 0) return new FieldError('This list may not be empty.');
        return value.length > MOST_LOOKUPS
          ? new FieldError(`Send at most ${MOST_LOOKUPS} national IDs at once.`)
          : value;
      },
    },
  },
} as const satisfies BodyDeclaration;

/** Returns the number of national IDs in an unchecked body; 1 if the list is missing, empty or too long. */
function countLookups(body: unknown): number {
  const list = (body as { identity_cards?: unknown } | null)?.identity_cards;
  return Array.isArray(list) && list.length <= MOST_LOOKUPS ? Math.max(1, list.length) : 1;
}

/** @throws RegistryError for an invalid list; HttpError 400 for invalid items, with messages by index */
function readIdentityCards(body: unknown, context: FieldContext): readonly string[] {
  const { values, faults } = parseBody(LOOKUPS_BODY, body, context);
  faults.throwIfAny();
  const list = (values as { identityCards: readonly unknown[] }).identityCards;
  const byIndex: { [index: string]: string[] } = {};
  const earlier = new Set<unknown>();
  for (const [index, item] of list.entries()) {
    if (typeof item !== 'string' || !isIdentityCard(item)) byIndex[index] = [EXPECTED_NATIONAL_ID];
    else if (earlier.has(item)) byIndex[index] = ['This national ID is in the list twice.'];
    earlier.add(item);
  }
  if (Object.keys(byIndex).length > 0)
    throw new HttpError(400, EXPECTED_NATIONAL_ID, {}, { identity_cards: byIndex });
  return list as readonly string[];
}

export const lookUpManyRoute = ({ storeOf, clock, zone }: ResourceDependencies<MemberStore>): Route => ({
  method: 'POST',
  onlyReads: true,
  path: '/members/lookups',
  operationId: 'lookUpMembers',
  summary: `Look up at most ${MOST_LOOKUPS} people by national ID`,
  description:
    'Counts as one request for each number; if the limits do not allow all of them, the lookup is ' +
    'refused. Nothing is written.',
  tag: 'members',
  access: { scope: 'members:read' },
  narrowed: SHOWS_COOPERATIVES,
  personal: showing('numbers', CONSOLIDATED_MEMBER.groups),
  optionalScopes: ['members:financials'],
  body: LOOKUPS_BODY,
  countRequests: countLookups,
  responses: {
    200: {
      description: 'The results, in the order of the request.',
      example: { results: [{ identity_card: EXAMPLE_NATIONAL_ID, member: null }] },
      schema: object({
        results: array(
          object({
            identity_card: string({ pattern: IDENTITY_CARD.source, examples: [EXAMPLE_NATIONAL_ID] }),
            member: nullable(CONSOLIDATED_MEMBER.schema, {
              description: 'The response of a lookup of this number; null if that lookup would return 404.',
            }),
          }),
        ),
      }),
    },
  },
  handle(request) {
    const store = storeOf(request.visible);
    const identityCards = readIdentityCards(request.body, { zone, nowSeconds: nowSeconds(clock) });
    const subjectCards = new Set(identityCards);
    const memberIds: number[] = [];
    const results = identityCards.map((identityCard) => {
      const person = findPerson(store, identityCard, request.caller, clock, zone);
      for (const membership of person?.memberships ?? []) {
        subjectCards.add(membership.identityCard);
        memberIds.push(membership.id);
      }
      return `{"identity_card":"${identityCard}","member":${person?.json ?? 'null'}}`;
    });
    return {
      ...ok(new JsonText(`{"results":[${results.join(',')}]}`)),
      subject: { identityCards: [...subjectCards], memberIds },
      fields: memberIds.length === 0 ? [] : fieldsFor(request.caller),
    };
  },
});

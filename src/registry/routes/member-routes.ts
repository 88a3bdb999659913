/** Routes of members: list, create, replace, change. The route that reads a member is in lookup.ts. */

import type { Visible } from '../../access/api-keys.ts';
import { ID_FILTER, PAGE_PARAMETERS, type ParsedQuery, SEARCH_FILTER } from '../../http/declare/query.ts';
import {
  changeRoutes,
  createRoute,
  declareResource,
  listRoute,
  type MoreRoutes,
  pageResponse,
  readPathId,
  respondWithPage,
  subjectOfRows,
} from '../../http/declare/resource.ts';
import { badRequest } from '../../http/declare/response.ts';
import {
  type ApiRequest,
  defineRoute,
  type Parameter,
  type Route,
  SHOWS_PERSONS,
  showing,
} from '../../http/declare/route.ts';
import type { Clock } from '../../runtime/scheduler.ts';
import { formatDateTime, type TimeZone } from '../../values/date-time.ts';
import { onlyGiven } from '../../values/declared-fields.ts';
import {
  FieldError,
  type FieldErrorList,
  ID,
  notFound,
  type PageRequest,
  parseId,
} from '../../values/errors.ts';
import { shownObject } from '../../values/field-json.ts';
import { parseIdentityCard } from '../../values/identity-card.ts';
import { string } from '../../values/schema.ts';
import type { Serialize } from '../../values/serializer.ts';
import { parseMobile } from '../../values/telephone.ts';
import { MAX_LENGTH, parseText } from '../../values/text.ts';
import {
  composeNames,
  type ListedMember,
  MEMBER_FIELDS,
  type Member,
  type MemberFilter,
  type MemberInput,
  type MemberValues,
  type Names,
} from '../members.ts';
import type { NarrowableStore } from '../registry-store.ts';
import { IDENTITY_CARD_SCHEMA, SHOWN_LISTED_MEMBER, SHOWN_MEMBER } from '../shown-rows.ts';
import {
  COOPERATIVE,
  COOPERATIVE_FILTER,
  serializeCooperativeSummary,
  statusFilter,
} from './cooperative-routes.ts';
import { lookUpManyRoute, lookUpRoute } from './lookup.ts';

export const MEMBER_ID: Parameter = {
  description: 'The id of a member: 1 to 12 digits.',
  schema: string({ pattern: ID.source }),
  example: '2',
  takesAnyByte: true,
};

/** @throws HttpError 400 for anything but a member id, such as a national ID (docs/api.md#routes) */
export function readMemberId(request: Pick<ApiRequest, 'params'>): number {
  const id = parseId(request.params.id ?? '');
  if (id === undefined) throw badRequest('Expected a member id.');
  return id;
}

const MEMBER_ROW = shownObject('MemberRow', SHOWN_LISTED_MEMBER);

const declared = declareResource(MEMBER_FIELDS, {
  tag: 'members',
  title: 'Member',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_MEMBER,
  memberIdOf: ({ id }) => id,
  oneOf: [['full_name'], ['first_name', 'last_name']],
});

export const MEMBER: typeof declared = { ...declared, id: MEMBER_ID, readId: readMemberId };

export const serializeMemberRow: Serialize<ListedMember> = ({ json, cooperative, registrationDate }, zone) =>
  `${json.slice(0, -1)},"cooperative":${serializeCooperativeSummary(cooperative)},` +
  `"registration_date":"${formatDateTime(registrationDate, zone)}"}`;

const FILTERS = {
  id: ID_FILTER,
  identity_card: {
    description: 'Only the rows of this person, of every status.',
    schema: IDENTITY_CARD_SCHEMA,
    parse: parseIdentityCard,
  },
  status: statusFilter(MEMBER_FIELDS.status, 'Only members of this status.'),
  member_code: {
    description: 'Only members with exactly this code, in any cooperative.',
    schema: string(),
    parse: (value: string) => parseText(value, MAX_LENGTH.memberCode),
  },
  mobile: {
    description: 'Only members with this telephone number, in any form that a request body may have.',
    schema: string(),
    parse: parseMobile,
  },
  search: SEARCH_FILTER,
};
const LISTED = {
  ...MEMBER,
  ...MEMBER_ROW,
  serialize: serializeMemberRow,
  memberIdOf: ({ id }: ListedMember) => id,
};

const ALL = {
  ...LISTED,
  description: 'One row per person and cooperative, in order of id, of every status.',
  narrowed: { lookupOnly: ({ search }: ApiRequest) => search.has('identity_card'), cooperatives: 'narrowed' },
} as const;

const memberListRoutes = (store: NarrowableStore, more: MoreRoutes, zone: TimeZone): Route[] => [
  ...more(MEMBER, { cooperative: COOPERATIVE_FILTER, status: FILTERS.status }),
  listRoute(
    ALL,
    { ...FILTERS, cooperative: COOPERATIVE_FILTER },
    ({ cooperative, ...query }) => toFilter(query, cooperative),
    { storeOf: (visible) => store.narrowedTo(visible).members, zone },
  ),
  defineRoute({
    method: 'GET',
    path: '/cooperatives/{id}/members',
    operationId: 'listCooperativeMembers',
    summary: 'List the members of a cooperative',
    tag: 'members',
    access: { scope: 'members:read' },
    narrowed: SHOWS_PERSONS,
    personal: showing('page', LISTED.groups),
    params: { id: COOPERATIVE.id },
    query: { ...PAGE_PARAMETERS, ...FILTERS },
    responses: { 200: pageResponse('members', '/members', LISTED.schema) },
    refusals: [400, 404, 503],
    handle(request) {
      const id = readPathId(request);
      const { cooperatives, members } = store.narrowedTo(request.visible);
      if (cooperatives.find(id) === undefined) throw notFound();
      const list = (page: PageRequest) => members.list(toFilter(request.query, id), page);
      return respondWithPage(request, list, serializeMemberRow, zone, subjectOfRows(LISTED.memberIdOf));
    },
  }),
];

function toFilter(query: ParsedQuery<typeof FILTERS>, cooperativeId: number | undefined): MemberFilter {
  const { id: ids, identity_card: identityCard, member_code: memberCode, mobile, status, search } = query;
  return onlyGiven({ ids, identityCard, cooperativeId, status, memberCode, mobile, search });
}

function readNames(
  { fullName, firstName, lastName }: Partial<MemberInput>,
  faults: FieldErrorList,
): Names | undefined {
  if (fullName === undefined || firstName === undefined || lastName === undefined) return undefined;
  const names = composeNames(fullName, firstName, lastName);
  if (names instanceof FieldError) faults.add('full_name', names.message);
  else if (names !== undefined) return names;
  else faults.add('full_name', 'This field is required.');
  return undefined;
}

/**
 * Adds faults that depend on several fields or on the stored member. A faulty result may lack values.
 * @param body checked, without its invalid fields
 * @param stored undefined for a new member
 */
function readMemberValues(
  body: Partial<MemberInput>,
  stored: Member | undefined,
  faults: FieldErrorList,
  nowSeconds: number,
): Partial<MemberValues> {
  const cooperativeId = body.cooperativeId ?? stored?.cooperativeId;
  if (stored !== undefined && cooperativeId !== stored.cooperativeId)
    faults.add('cooperative_id', 'This field cannot be changed.');
  const names = readNames(body, faults);
  return {
    ...body,
    ...names,
    // Without a cooperative, the store checks no conflicts.
    cooperativeId: faults.has('cooperative_id') ? undefined : cooperativeId,
    registrationDate: body.registrationDate ?? stored?.registrationDate ?? nowSeconds,
  } as Partial<MemberValues>;
}

export function memberRoutes(
  store: NarrowableStore,
  more: MoreRoutes,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const storeOf = (visible: Visible) => store.narrowedTo(visible).members;
  const dependencies = { storeOf, clock, zone };
  return [
    ...memberListRoutes(store, more, zone),
    createRoute(
      MEMBER,
      { summary: 'Create a member', showsOnlyItsRequest: true },
      (body, { faults, nowSeconds: now }) => [readMemberValues(body, undefined, faults, now) as MemberValues],
      dependencies,
    ),
    lookUpRoute(MEMBER, dependencies),
    lookUpManyRoute(dependencies),
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

/** The lists of members: of all cooperatives, and of one. */

import { parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import { MEMBER_FIELDS, MEMBER_STATUSES, type MemberFilter } from '../../../domain/membership/members.ts';
import { parseMobile } from '../../../domain/membership/mobile.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { notFound } from '../../../domain/values/errors.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import type { PageRequest } from '../../../domain/values/page.ts';
import { MAX_LENGTH, parseChoice, parseText } from '../../../domain/values/text.ts';
import { kindOf } from '../../../json/declared-fields.ts';
import { string } from '../../../json/schema.ts';
import { IDENTITY_CARD } from '../../../json/shown/row-properties.ts';
import type { ListedMember, NarrowableStore } from '../../../store/contract/registry.ts';
import { PAGE_PARAMETERS, pageResponse, respondWithPage } from '../../declare/list.ts';
import { type Asked, SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { readPathId } from '../../declare/path-id.ts';
import { showing } from '../../declare/personal.ts';
import type { ParsedQuery } from '../../declare/query.ts';
import { defineRoute, type Route } from '../../declare/route.ts';
import { COOPERATIVE, COOPERATIVE_FILTER } from '../cooperative-fields.ts';
import { type ExportDependencies, exportOf, exportRoute } from '../exports.ts';
import { listRoute, subjectOfRows } from '../resource.ts';
import { SEARCH_FILTER } from '../search-filter.ts';
import { MEMBER, MEMBER_ROW, serializeMemberRow } from './member-fields.ts';

const FILTERS = {
  identity_card: {
    description: 'Only the rows of this person, of every status.',
    schema: IDENTITY_CARD,
    parse: parseIdentityCard,
  },
  status: {
    description: 'Only members of this status.',
    schema: kindOf(MEMBER_FIELDS.status).schema,
    parse: (value: string) => parseChoice(value, MEMBER_STATUSES),
  },
  member_code: {
    description: 'Only members with exactly this code, in whichever cooperative.',
    schema: string(),
    parse: (value: string) => parseText(value, MAX_LENGTH.memberCode),
  },
  mobile: {
    description: 'Only members with this telephone number, which is read as in a body.',
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
  narrowed: { lookupOnly: ({ search }: Asked) => search.has('identity_card'), cooperatives: 'narrowed' },
} as const;

export const memberListRoutes = (
  store: NarrowableStore,
  exports: ExportDependencies,
  zone: TimeZone,
): Route[] => [
  exportRoute(exportOf(MEMBER), { cooperative: COOPERATIVE_FILTER, status: FILTERS.status }, exports),
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
      const list = (asked: PageRequest) => members.list(toFilter(request.query, id), asked);
      return respondWithPage(request, list, serializeMemberRow, zone, subjectOfRows(LISTED.memberIdOf));
    },
  }),
];

/** Only what was given, as an absent filter is not an undefined one. */
function toFilter(query: ParsedQuery<typeof FILTERS>, cooperativeId: number | undefined): MemberFilter {
  const { identity_card: identityCard, member_code: memberCode, mobile, status, search } = query;
  return onlyGiven({ identityCard, cooperativeId, status, memberCode, mobile, search });
}

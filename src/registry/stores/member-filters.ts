/** Lists of members. A filter by ids, person, code or telephone number uses its own index. */

import { type Visible, visibleCooperatives } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS, MEMBER_COUNTS } from '../../sqlite/counts.ts';
import {
  type CooperativeIds,
  isInCooperativesSql,
  type ListRows,
  openCountedList,
  openFewRows,
  toIdsParameter,
} from '../../sqlite/list-pages.ts';
import type { Page, PageRequest } from '../../values/errors.ts';
import { MEMBER_STATUSES, type MemberFilter } from '../members.ts';
import { currentNumberSql } from '../stored/former-ids-and-transfers.ts';
import { LISTED_ROW, type ListedRow, PERSON } from './rows.ts';

const isOrAny = (column: string, parameter: string): string =>
  `(@${parameter} IS NULL OR m.${column} = @${parameter})`;
const IS_PERSON = `m.identity_card = ${currentNumberSql('@identityCard')}`;

/** SQL condition on the members `m` that applies all parameters. A null parameter matches every member. */
const ALL_FILTERS = [
  isOrAny('member_code', 'memberCode'),
  isOrAny('mobile', 'mobile'),
  isOrAny('status', 'status'),
  isInCooperativesSql('m.cooperative_id'),
].join(' AND ');

/**
 * FROM and WHERE of each selective filter. The statements force an index, because SQLite's planner has no
 * statistics here. The planner may choose the index on status, and scan most of the table.
 */
const BY = {
  ids: {
    rows: `json_each(@ids) i CROSS JOIN members m ON m.id = i.value
      WHERE (@identityCard IS NULL OR ${IS_PERSON}) AND m.status <> '${ERASED_STATUS}'`,
    bound: 'the members with these ids',
  },
  person: {
    rows: `${PERSON} WHERE ${IS_PERSON}`,
    bound: 'the memberships of one person',
  },
  codeInCooperative: {
    rows: `members m INDEXED BY members_code
      WHERE m.cooperative_id = @cooperativeId AND m.member_code = @memberCode`,
    bound: 'one row: the code is unique there',
  },
  code: {
    rows: 'members m INDEXED BY members_code WHERE m.member_code = @memberCode',
    bound: 'one row for each of a few thousand cooperatives',
  },
  mobile: {
    rows: 'members m INDEXED BY members_mobile WHERE m.mobile = @mobile',
    bound: 'the members who share one telephone number',
  },
};

type Way = keyof typeof BY;

/** Returns the filter whose index finds the fewest rows, or undefined if no filter is selective. */
function wayOf(filter: MemberFilter, cooperatives: CooperativeIds): Way | undefined {
  const { ids, identityCard, memberCode, mobile } = filter;
  if (ids !== undefined) return 'ids';
  if (identityCard !== undefined) return 'person';
  if (memberCode !== undefined) return cooperatives?.length === 1 ? 'codeInCooperative' : 'code';
  return mobile === undefined ? undefined : 'mobile';
}

/**
 * @param condition further SQL condition on the members `m`, which may use `@match`: a query of the full-text
 *   index of names
 * @returns a function that returns a page of members, or undefined if no filter is selective
 */
export function openFewMembers<Row>(db: Connection, listed: ListRows, condition = 'true') {
  const open = ({ rows, bound }: (typeof BY)[Way]) => {
    const ids = `SELECT m.id AS id FROM ${rows} AND ${ALL_FILTERS} AND ${condition}`;
    return openFewRows<Row, object>(db, listed, ids, bound);
  };
  const few = {
    ids: open(BY.ids),
    person: open(BY.person),
    codeInCooperative: open(BY.codeInCooperative),
    code: open(BY.code),
    mobile: open(BY.mobile),
  };

  return (
    filter: MemberFilter,
    cooperatives: CooperativeIds,
    request: PageRequest,
    match: string | null = null,
  ): Page<Row> | undefined => {
    const way = wayOf(filter, cooperatives);
    if (way === undefined) return undefined;
    const { ids, identityCard = null, memberCode = null, mobile = null, status = null } = filter;
    const parameters = {
      ids: toIdsParameter(ids),
      identityCard,
      memberCode,
      mobile,
      // For `codeInCooperative`.
      cooperativeId: cooperatives?.[0] ?? null,
      cooperatives: toIdsParameter(cooperatives),
      status,
      match,
    };
    return few[way](parameters, request);
  };
}

export const LISTED_MEMBERS: ListRows = {
  table: 'members',
  alias: 'm',
  select: `SELECT ${LISTED_ROW}`,
  joins: '',
  asTuples: true,
};

export function openMemberLists(db: Connection) {
  const listFew = openFewMembers<ListedRow>(db, LISTED_MEMBERS);
  const listCounted = openCountedList<ListedRow>(db, LISTED_MEMBERS, MEMBER_COUNTS, MEMBER_STATUSES);

  return (filter: MemberFilter, request: PageRequest, visible: Visible): Page<ListedRow> => {
    const cooperatives = visibleCooperatives(visible, filter.cooperativeId);
    const few = listFew(filter, cooperatives, request);
    return few ?? listCounted({ cooperatives, value: filter.status }, request);
  };
}

/**
 * Lists of members by filters that select few rows through an index: ids, person, code or telephone number.
 */

import { type Visible, visibleGroups } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS, MEMBER_COUNTS } from '../../sqlite/counts.ts';
import {
  type Groups,
  isInGroupsSql,
  type ListRows,
  openCountedList,
  openFewRows,
  toIdsParameter,
} from '../../sqlite/list-pages.ts';
import type { Page, PageRequest } from '../../values/errors.ts';
import { MEMBER_STATUSES, type MemberFilter } from '../members.ts';
import { currentNumberSql } from '../stored/former-ids-and-transfers.ts';
import { LISTED_ROW, type ListedRow, PERSON } from './rows.ts';

interface ListParameters {
  /** JSON array of ids. */
  readonly ids: string | null;
  readonly identityCard: string | null;
  readonly memberCode: string | null;
  readonly mobile: string | null;
  /** Cooperative in which the code is searched, if the list covers only one. */
  readonly cooperativeId: number | null;
  readonly cooperatives: string | null;
  readonly status: string | null;
  /** Query for the full-text index of names. */
  readonly match: string | null;
}

const isOrAny = (column: string, parameter: string): string =>
  `(@${parameter} IS NULL OR m.${column} = @${parameter})`;
const CODE = isOrAny('member_code', 'memberCode');
const MOBILE = isOrAny('mobile', 'mobile');
const COOPERATIVE = isInGroupsSql('m.cooperative_id');
const STATUS = isOrAny('status', 'status');

/**
 * FROM and WHERE of each filter. The index is forced because SQLite's planner, which has no statistics here,
 * may choose the index on status and scan most of the table.
 */
const BY = {
  ids: {
    rows: `json_each(@ids) i CROSS JOIN members m ON m.id = i.value
      WHERE (@identityCard IS NULL OR m.identity_card = ${currentNumberSql('@identityCard')})
        AND m.status <> '${ERASED_STATUS}' AND ${CODE} AND ${MOBILE} AND ${COOPERATIVE} AND ${STATUS}`,
    bound: 'the members with these ids',
  },
  person: {
    rows: `${PERSON} WHERE m.identity_card = ${currentNumberSql('@identityCard')}
      AND ${CODE} AND ${MOBILE} AND ${COOPERATIVE} AND ${STATUS}`,
    bound: 'the memberships of one person',
  },
  codeInCooperative: {
    rows: `members m INDEXED BY members_code
      WHERE m.cooperative_id = @cooperativeId AND m.member_code = @memberCode AND ${MOBILE} AND ${STATUS}`,
    bound: 'one row: the code is unique there',
  },
  code: {
    rows: `members m INDEXED BY members_code
      WHERE m.member_code = @memberCode AND ${MOBILE} AND ${COOPERATIVE} AND ${STATUS}`,
    bound: 'one row for each of a few thousand cooperatives',
  },
  mobile: {
    rows: `members m INDEXED BY members_mobile WHERE m.mobile = @mobile AND ${COOPERATIVE} AND ${STATUS}`,
    bound: 'the members who share one telephone number',
  },
};

type Way = keyof typeof BY;

/** Returns the filter whose index finds the fewest rows, or undefined if no filter is selective. */
function wayOf({ ids, identityCard, memberCode, mobile }: MemberFilter, groups: Groups): Way | undefined {
  if (ids !== undefined) return 'ids';
  if (identityCard !== undefined) return 'person';
  if (memberCode !== undefined) return groups?.length === 1 ? 'codeInCooperative' : 'code';
  return mobile === undefined ? undefined : 'mobile';
}

/**
 * @param condition further SQL condition on the members `m`, which may use `@match`
 * @returns a function that returns a page of members, or undefined if no filter is selective
 */
export function openFewMembers<Row>(db: Connection, listed: ListRows, condition = 'true') {
  const open = (way: Way) => {
    const { rows, bound } = BY[way];
    return openFewRows<Row, ListParameters>(
      db,
      listed,
      `SELECT m.id AS id FROM ${rows} AND ${condition}`,
      bound,
    );
  };
  const few = {
    ids: open('ids'),
    person: open('person'),
    codeInCooperative: open('codeInCooperative'),
    code: open('code'),
    mobile: open('mobile'),
  };

  return (
    filter: MemberFilter,
    groups: Groups,
    request: PageRequest,
    match: string | null = null,
  ): Page<Row> | undefined => {
    const way = wayOf(filter, groups);
    if (way === undefined) return undefined;
    const { ids, identityCard = null, memberCode = null, mobile = null, status = null } = filter;
    const parameters = {
      ids: toIdsParameter(ids),
      identityCard,
      memberCode,
      mobile,
      cooperativeId: groups?.[0] ?? null,
      cooperatives: toIdsParameter(groups),
      status,
      match,
    };
    return few[way](parameters, request);
  };
}

// Lists of members. A selective filter uses its own index; all other lists use the count index.

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
    const groups = visibleGroups(visible, filter.cooperativeId);
    return listFew(filter, groups, request) ?? listCounted({ groups, value: filter.status }, request);
  };
}

/**
 * Members that a filter finds by an index, because few have its value: those of a person, a code or a
 * telephone number.
 */
import type { MemberFilter } from '../../../domain/membership/members.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/former-keys.ts';
import { PERSON } from '../rows/rows.ts';
import { type Groups, isInGroupsSql, type ListRows, openFewRows, toGroupsParameter } from './list-pages.ts';

interface Wanted {
  readonly identityCard: string | null;
  readonly memberCode: string | null;
  readonly mobile: string | null;
  /** The only one, for a code. */
  readonly cooperativeId: number | null;
  readonly cooperatives: string | null;
  readonly status: string | null;
  /** What the index of names is asked for. */
  readonly match: string | null;
}

const isOrAny = (column: string, parameter: string): string =>
  `(@${parameter} IS NULL OR m.${column} = @${parameter})`;
const CODE = isOrAny('member_code', 'memberCode');
const MOBILE = isOrAny('mobile', 'mobile');
const COOPERATIVE = isInGroupsSql('m.cooperative_id');
const STATUS = isOrAny('status', 'status');

/** The index is named: without statistics the planner may take that on status, and walk most of the table. */
const BY = {
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

/** The way that finds the fewest rows; undefined when no filter finds few. */
function wayOf({ identityCard, memberCode, mobile }: MemberFilter, groups: Groups): Way | undefined {
  if (identityCard !== undefined) return 'person';
  if (memberCode !== undefined) return groups?.length === 1 ? 'codeInCooperative' : 'code';
  return mobile === undefined ? undefined : 'mobile';
}

/**
 * @param condition on the members `m`, after those of the filter; it may name `@match`
 * @returns what gives a page of them; undefined when no filter finds few
 */
export function openFewMembers<Row>(db: Connection, listed: ListRows, condition = 'true') {
  const open = ({ rows, bound }: (typeof BY)[Way]) =>
    openFewRows<Row, Wanted>(db, listed, `SELECT m.id AS id FROM ${rows} AND ${condition}`, bound);
  const few = {
    person: open(BY.person),
    codeInCooperative: open(BY.codeInCooperative),
    code: open(BY.code),
    mobile: open(BY.mobile),
  } satisfies { readonly [way in Way]: unknown };

  return (
    filter: MemberFilter,
    groups: Groups,
    request: PageRequest,
    match: string | null = null,
  ): Page<Row> | undefined => {
    const way = wayOf(filter, groups);
    if (way === undefined) return undefined;
    const { identityCard = null, memberCode = null, mobile = null, status = null } = filter;
    const cooperativeId = groups?.[0] ?? null;
    const cooperatives = toGroupsParameter(groups);
    return few[way](
      { identityCard, memberCode, mobile, cooperativeId, cooperatives, status, match },
      request,
    );
  };
}

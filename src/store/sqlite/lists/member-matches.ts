/** Lists of members that a filter narrows to few: those of a person, of a code, of a telephone number. */
import type { MemberFilter } from '../../../domain/membership/members.ts';
import { offsetOf, type PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { LISTED_ROW, type ListedRow, PERSON } from '../rows/member-rows.ts';

interface Wanted {
  readonly identityCard: string | null;
  readonly memberCode: string | null;
  readonly mobile: string | null;
  readonly cooperativeId: number | null;
  readonly status: string | null;
}

const EVERY: Wanted = {
  ...{ identityCard: null, memberCode: null, mobile: null, cooperativeId: null, status: null },
};

const isOrAny = (column: string, parameter: string): string =>
  `(@${parameter} IS NULL OR m.${column} = @${parameter})`;
const CODE = isOrAny('member_code', 'memberCode');
const MOBILE = isOrAny('mobile', 'mobile');
const COOPERATIVE = isOrAny('cooperative_id', 'cooperativeId');
const STATUS = isOrAny('status', 'status');

/** The index is named: without statistics the planner may take that on status, and walk most of the table. */
const BY = {
  person: {
    rows: `${PERSON} WHERE m.identity_card = @identityCard AND ${CODE} AND ${MOBILE} AND ${COOPERATIVE}
      AND ${STATUS}`,
    bound: 'the memberships of one person',
  },
  codeInCooperative: {
    rows: `members m INDEXED BY members_code
      WHERE m.cooperative_id = @cooperativeId AND m.member_code = @memberCode AND ${MOBILE} AND ${STATUS}`,
    bound: 'one row: the code is unique there',
  },
  code: {
    rows: `members m INDEXED BY members_member_code
      WHERE m.member_code = @memberCode AND ${MOBILE} AND ${STATUS}`,
    bound: 'one row for each of a few thousand cooperatives',
  },
  mobile: {
    rows: `members m INDEXED BY members_mobile WHERE m.mobile = @mobile AND ${COOPERATIVE} AND ${STATUS}`,
    bound: 'the members who share one telephone number',
  },
};

type Way = keyof typeof BY;

/** The way that finds the fewest rows; undefined when no filter finds few. */
function wayOf({ identityCard, memberCode, mobile, cooperativeId }: MemberFilter): Way | undefined {
  if (identityCard !== undefined) return 'person';
  if (memberCode !== undefined) return cooperativeId === undefined ? 'code' : 'codeInCooperative';
  return mobile === undefined ? undefined : 'mobile';
}

export function openMemberMatches(db: Connection) {
  const open = ({ rows, bound }: (typeof BY)[Way]) => ({
    count: db.prepare<[Wanted], { count: number }>(`SELECT count(*) AS count FROM ${rows}`, bound),
    // The ids of a page first, so that the rows before it are not shown in vain.
    page: db.prepareTuples<[Wanted & { limit: number; offset: number }], ListedRow>(
      `SELECT ${LISTED_ROW} FROM
       (SELECT m.id FROM ${rows} ORDER BY m.id LIMIT @limit OFFSET @offset) page
       CROSS JOIN members m ON m.id = page.id ORDER BY page.id`,
      bound,
    ),
  });
  const statements = {
    person: open(BY.person),
    codeInCooperative: open(BY.codeInCooperative),
    code: open(BY.code),
    mobile: open(BY.mobile),
  } satisfies { readonly [way in Way]: unknown };

  /** @returns one page of the rows that match; undefined when no filter narrows the list to few */
  return function match(filter: MemberFilter, request: PageRequest) {
    const way = wayOf(filter);
    if (way === undefined) return undefined;
    const { count, page } = statements[way];
    const wanted = { ...EVERY, ...filter };
    const found = (count.get(wanted) as { count: number }).count;
    const offset = offsetOf(request);
    const rows = offset >= found ? [] : page.all({ ...wanted, limit: request.pageSize, offset });
    return { count: found, rows };
  };
}

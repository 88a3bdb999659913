/**
 * Transfers of members between cooperatives, derived from corrections that have not been undone, and the rule
 * for entries after a transfer (docs/correcting.md#a-change-of-cooperative).
 */

import type { TimeZone } from '../../values/date-time.ts';
import { REVERSED_ACTORS } from '../changes/record-changes.ts';
import type { ImportKind } from '../file-columns.ts';
import { ENDED_MEMBER_STATUSES } from '../members.ts';
import { currentMemberSql } from './former-ids.ts';

export const TRANSFER_KIND = 'members_transfer';

export interface TransferOptions {
  /** Id of the membership that ended. */
  readonly member: number;
  /** Code of the cooperative in which the new membership began. */
  readonly to: string;
  /** Day of the transfer, `YYYY-MM-DD`. */
  readonly on: string;
}

const option = (name: keyof TransferOptions): string => `json_extract(o.options, '$.${name}')`;
/** SQL list of the statuses of ended memberships. */
export const ENDED = ENDED_MEMBER_STATUSES.map((status) => `'${status}'`).join(', ');

/** SQL of the id of the membership that a transfer began. */
const BEGUN = `(SELECT w.first_row FROM main.created_rows w
  WHERE w.operation_id = o.id AND w.entity = 'members')`;

/**
 * SELECT of `member_id, code, day` for each membership that a transfer ended. If the membership was merged
 * later, `member_id` is the membership that remains. A membership is missing if it became active again, or if
 * it was merged with the membership that the transfer began.
 */
export const TRANSFERS = `SELECT m.id AS member_id, ${option('to')} AS code, ${option('on')} AS day
   FROM main.operations o
   CROSS JOIN main.members m ON m.id = ${currentMemberSql(option('member'))}
   WHERE o.kind = '${TRANSFER_KIND}' AND o.undone_at IS NULL AND m.status IN (${ENDED})
     AND m.id IS NOT ${currentMemberSql(BEGUN)}
     AND NOT EXISTS (SELECT 1 FROM main.changes h WHERE h.entity = 'members' AND h.row_id = m.id
       AND h.field = 'status' AND h.id > o.last_change AND h.new NOT IN (${ENDED})
       AND h.actor NOT IN (${REVERSED_ACTORS}))`;

/**
 * Entries that may not be dated after the transfer of their member. Withdrawals and payments may, because
 * they close old savings and loans (docs/correcting.md#a-change-of-cooperative).
 */
const BEGINNINGS = {
  production: { column: 'delivered_at', condition: 'true' },
  savings: { column: 'transacted_at', condition: "r.kind = 'contribution'" },
  loans: { column: 'loan_start_date', condition: 'true' },
} as const satisfies {
  readonly [kind in ImportKind]?: { readonly column: string; readonly condition: string };
};

type BeginningKind = keyof typeof BEGINNINGS;

export const isBeginning = (kind: ImportKind): kind is BeginningKind => kind in BEGINNINGS;

/** Returns the date column of a row `r`, and SQL that is true if the row is dated after the transfer `t`. */
export function beginningAfterTransfer(kind: BeginningKind, zone: TimeZone | undefined) {
  const { column, condition } = BEGINNINGS[kind];
  const nextDay = `unixepoch(t.day, '+1 day') - ${zone?.offsetSeconds ?? 0}`;
  return { column, isAfter: `${condition} AND r.${column} >= ${nextDay}` };
}

/**
 * Returns a SELECT that returns a row if an entry is dated after the transfer of its member. The SELECT reads
 * transfers only for an ended membership. `memberId`, `at` and `entryKind` are SQL.
 * @param entryKind kind of a savings transaction
 */
export function transferCheck(
  kind: BeginningKind,
  zone: TimeZone,
  { memberId, at, entryKind = 'NULL' }: { memberId: string; at: string; entryKind?: string },
) {
  const { column, isAfter } = beginningAfterTransfer(kind, zone);
  return {
    field: column,
    message: 'The member had changed to another cooperative by then: record it there.',
    sql: `SELECT 1 FROM (SELECT ${at} AS ${column}, ${entryKind} AS kind) r
      CROSS JOIN main.members m ON m.id = ${memberId} AND m.status IN (${ENDED})
      CROSS JOIN (${TRANSFERS}) t ON t.member_id = m.id
      WHERE ${isAfter} LIMIT 1`,
    bound: 'changes of cooperative, where a membership has ended',
  };
}

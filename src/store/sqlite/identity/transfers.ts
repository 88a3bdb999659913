/** Who has changed from one cooperative to another: known from the corrections that stand. */
import { ENDED_MEMBER_STATUSES } from '../../../domain/membership/members.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { ImportKind } from '../../contract/import/import-session.ts';
import { MERGED_MEMBERS, redirectSql } from './former-keys.ts';

export const TRANSFER_KIND = 'members_transfer';

/** What is kept of such a correction. */
export interface TransferOptions {
  /** Id of the membership that has ended. */
  readonly member: number;
  /** Code of the cooperative in which another one began. */
  readonly to: string;
  /** `YYYY-MM-DD` */
  readonly on: string;
}

const option = (name: keyof TransferOptions): string => `json_extract(o.options, '$.${name}')`;
/** The statuses with which a membership is over. */
export const ENDED = ENDED_MEMBER_STATUSES.map((status) => `'${status}'`).join(', ');

/**
 * SELECT of `member_id, code, day`: memberships that have ended by a transfer, or into which such a one was
 * merged. One that was active again since has nothing to do with it any more.
 * @param reversed SELECT of actors whose changes do not count
 */
export const transfersSql = (reversed: string): string =>
  `SELECT m.id AS member_id, ${option('to')} AS code, ${option('on')} AS day FROM main.operations o
   CROSS JOIN main.members m
     ON m.id = coalesce((${redirectSql(MERGED_MEMBERS, option('member'))}), ${option('member')})
   WHERE o.kind = '${TRANSFER_KIND}' AND o.undone_at IS NULL AND m.status IN (${ENDED})
     AND NOT EXISTS (SELECT 1 FROM main.changes h WHERE h.entity = 'members' AND h.row_id = m.id
       AND h.field = 'status' AND h.id > o.last_change AND h.new NOT IN (${ENDED})
       AND h.actor NOT IN (${reversed}))`;

/**
 * Entries of a membership that are dated after the person has changed to another cooperative
 * (docs/correcting.md#a-change-of-cooperative). What is stored already, and what ends old savings and loans,
 * may be.
 */
const BEGINNINGS = {
  production: { column: 'delivered_at', condition: 'true' },
  savings: { column: 'transacted_at', condition: "r.kind = 'contribution'" },
  loans: { column: 'loan_start_date', condition: 'true' },
} as const satisfies {
  readonly [kind in ImportKind]?: { readonly column: string; readonly condition: string };
};

export type BeginningKind = keyof typeof BEGINNINGS;

/** Whether rows of this kind begin something. */
export const isBeginning = (kind: ImportKind): kind is BeginningKind => kind in BEGINNINGS;

/**
 * The column of a new row `r` that says when it begins, and a condition: it began after the day of the
 * transfer `t` of its member.
 */
export function beginningAfterTransfer(kind: BeginningKind, zone: TimeZone | undefined) {
  const { column, condition } = BEGINNINGS[kind];
  const nextDay = `unixepoch(t.day, '+1 day') - ${zone?.offsetSeconds ?? 0}`;
  return { column, isAfter: `${condition} AND r.${column} >= ${nextDay}` };
}

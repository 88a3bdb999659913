/**
 * Redirects from replaced national IDs to current ones, and from merged members to the members that have
 * their entries now. A redirect in force leads directly to the current target. If a later correction ends a
 * redirect, the row stays, so that an undo of the correction can put the redirect back in force.
 */
import type { Connection } from '../../sqlite/connection.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { REVERSED_ACTORS } from '../changes/record-changes.ts';
import type { ImportKind } from '../file-columns.ts';
import { ENDED_MEMBER_STATUSES } from '../members.ts';

interface Redirects {
  readonly table: string;
  /** View of the redirects in force. */
  readonly inForce: string;
  readonly from: string;
  readonly to: string;
}

export const REPLACED_NUMBERS: Redirects = {
  table: 'replaced_identity_cards',
  inForce: 'former_identity_cards',
  from: 'old',
  to: 'new',
};
export const MERGED_MEMBERS: Redirects = {
  table: 'merged_members',
  inForce: 'former_members',
  from: 'id',
  to: 'into_id',
};

type Key = string | number;

/**
 * SELECT of the target of a former identifier.
 * @param key SQL of the identifier; by default the only parameter
 */
export const redirectSql = ({ inForce, from, to }: Redirects, key = '?'): string =>
  `SELECT ${to} AS "to" FROM ${inForce} WHERE ${from} = ${key}`;

const currentSql = (redirects: Redirects, key: string): string =>
  `coalesce((${redirectSql(redirects, key)}), ${key})`;
/** @param value SQL of a national ID, current or former */
export const currentNumberSql = (value: string): string => currentSql(REPLACED_NUMBERS, value);
/** @param id SQL of the id of a member, which may have been merged into another one */
export const currentMemberSql = (id: string): string => currentSql(MERGED_MEMBERS, id);

/** @returns undefined for a key without a redirect in force */
export const redirectOf = <To extends Key>(db: Connection, redirects: Redirects, from: To): To | undefined =>
  db.value<To | undefined>(redirectSql(redirects), [from]);

/** SQL that is true for a replaced national ID, even if a later correction has ended its redirect. */
export const wasReplacedSql = (value: string): string =>
  `EXISTS (SELECT 1 FROM main.${REPLACED_NUMBERS.table} WHERE old = ${value})`;

/** @param numbers SQL list of national IDs */
export const forgetNumbers = (db: Connection, numbers: string): void =>
  db.exec(`DELETE FROM main.${REPLACED_NUMBERS.table} WHERE old IN (${numbers}) OR new IN (${numbers})`);

/** @returns true if a redirect was in force */
export const endRedirect = (
  db: Connection,
  { table, from }: Redirects,
  key: Key,
  correctionId: number,
): boolean =>
  db.run(`UPDATE main.${table} SET ended_by = ? WHERE ${from} = ? AND ended_by IS NULL`, [correctionId, key])
    .changes > 0;

/**
 * Redirects `key`, and all keys that were redirected to `key`, to `target`.
 * @param keepsKey false if `key` becomes free for another person or row, and gets no redirect
 */
export function addRedirect(
  db: Connection,
  { table, from, to }: Redirects,
  [key, target]: readonly [key: Key, target: Key],
  correctionId: number,
  keepsKey = true,
): void {
  const run = (sql: string) => db.run(sql, { key, target, correctionId });
  db.run(`UPDATE main.${table} SET ended_by = ? WHERE ${to} = ? AND ended_by IS NULL`, [correctionId, key]);
  run(`INSERT INTO main.${table} (${from}, ${to}, correction_id)
    SELECT ${from}, @target, @correctionId FROM main.${table}
    WHERE ${to} = @key AND ended_by = @correctionId AND ${from} <> @target`);
  if (keepsKey)
    run(`INSERT INTO main.${table} (${from}, ${to}, correction_id) VALUES (@key, @target, @correctionId)`);
}

export function undoRedirects(db: Connection, correctionId: number): void {
  for (const { table } of [REPLACED_NUMBERS, MERGED_MEMBERS]) {
    db.run(`DELETE FROM main.${table} WHERE correction_id = ?`, [correctionId]);
    db.run(`UPDATE main.${table} SET ended_by = NULL WHERE ended_by = ?`, [correctionId]);
  }
}

/** @param code SQL of the member code that a merged member had before the merge */
export const mergedByCodeSql = (code: string): string =>
  `SELECT ${MERGED_MEMBERS.to} FROM main.${MERGED_MEMBERS.inForce} f WHERE ${code} =
    (SELECT old FROM main.changes WHERE entity = 'members' AND row_id = f.${MERGED_MEMBERS.from}
       AND field = 'member_code' ORDER BY id DESC LIMIT 1)`;

// Transfers of members between cooperatives, derived from corrections that have not been undone

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
 * Returns a SELECT that finds a row if an entry is dated after the transfer of its member. The SELECT reads
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

/**
 * What builds on an import, so that it cannot be undone: rows that were changed since, rows that refer to one
 * it created, rows that took a member code or national ID which would be put back, and entries of persons who
 * were erased, as the sums of their cooperatives stay. What an import did that was itself undone no longer
 * counts.
 */
import type { ChangedEntity } from '../../ports/corrections.ts';
import type { Actor } from '../../ports/history.ts';
import type { ImportKind } from '../../ports/import-session.ts';
import type { UndoBlocker } from '../../ports/imports.ts';
import type { Connection } from '../engine/connection.ts';
import { CHANGED_OR_ERASED, ERASED_BY, ERASED_FIRST, ERASED_STATUS } from '../identity/erased-rows.ts';
import { rowLabel } from './labels.ts';
import { openOrigins } from './origin.ts';
import { REVERSED_ACTORS } from './reversed.ts';
import type { ImportRow } from './rows.ts';

const OWN_CHANGES = 'c.id BETWEEN @first_change AND @last_change';
/**
 * Also right without changes of its own: the range then ends before the next change. The plus keeps SQLite
 * from reading all changes of the kind by their index.
 */
const LATER_CHANGES = `c.id > @last_change AND +c.entity = @kind AND c.actor NOT IN (${REVERSED_ACTORS})`;

/** SELECTs of `kind, id, reason, actor`. */
const CHANGED = `SELECT c.entity AS kind, c.row_id AS id, ${CHANGED_OR_ERASED} AS reason, c.actor
  FROM main.changes c WHERE ${LATER_CHANGES} AND (c.row_id BETWEEN @first_row AND @last_row
    OR c.row_id IN (SELECT c.row_id FROM main.changes c WHERE ${OWN_CHANGES}))`;

const referring = (kind: ImportKind, table: string, column: string): string =>
  `SELECT '${kind}' AS kind, id, 'refers' AS reason, NULL AS actor FROM main.${table}
   WHERE ${column} BETWEEN @first_row AND @last_row`;

/** A transaction is named by an account that it alone was moved out of: undoing that needs the account. */
const IN_OPENED_ACCOUNTS = `SELECT 'savings' AS kind, t.id, 'refers' AS reason, NULL AS actor
  FROM main.savings_transactions t
  WHERE t.account_id BETWEEN @first_account AND @last_account AND t.id NOT BETWEEN @first_row AND @last_row
    AND t.id NOT IN (
      SELECT c.row_id FROM main.changes c WHERE ${OWN_CHANGES} AND c.field = 'account_number')`;
const MOVED_FROM_OPENED_ACCOUNTS = `SELECT 'savings' AS kind, t.id, 'refers' AS reason, c.actor
  FROM main.changes c CROSS JOIN main.savings_transactions t ON t.id = c.row_id
  CROSS JOIN main.savings_accounts a ON a.cooperative_id = t.cooperative_id AND a.account_number = c.old
  WHERE ${LATER_CHANGES} AND c.field = 'account_number'
    AND a.id BETWEEN @first_account AND @last_account AND t.id NOT BETWEEN @first_row AND @last_row`;

/** A correction that gave such an account to another member needs it for its own undo. */
const CORRECTED_ACCOUNTS = `SELECT 'accounts' AS kind, c.row_id AS id, 'changed' AS reason, c.actor
  FROM main.changes c WHERE c.id > @last_change AND +c.entity = 'accounts'
    AND c.actor NOT IN (${REVERSED_ACTORS}) AND c.row_id BETWEEN @first_account AND @last_account`;

/** A transaction cannot go back to an account that no longer has the number by which the history names it. */
const RENAMED_BY = `SELECT n.actor FROM main.changes n WHERE n.entity = 'accounts' AND n.old = c.old
  ORDER BY n.id DESC LIMIT 1`;
const LOST_ACCOUNTS = `SELECT 'savings' AS kind, t.id, 'changed' AS reason, (${RENAMED_BY}) AS actor
  FROM main.changes c CROSS JOIN main.savings_transactions t ON t.id = c.row_id
  WHERE ${OWN_CHANGES} AND c.field = 'account_number' AND NOT EXISTS (SELECT 1 FROM main.savings_accounts a
    WHERE a.cooperative_id = t.cooperative_id AND a.account_number = c.old)`;

/** A member that was merged leads to one of its rows. */
const MERGED_INTO = `SELECT 'members' AS kind, r.into_id AS id, 'changed' AS reason,
    'correction:' || r.correction_id AS actor
  FROM main.merged_members r WHERE r.into_id BETWEEN @first_row AND @last_row AND r.ended_by IS NULL`;

/** Another member of the cooperative has what would be put back. */
const taken = (column: 'member_code' | 'identity_card'): string =>
  `SELECT 'members' AS kind, m.id, 'taken' AS reason, NULL AS actor
   FROM main.changes c CROSS JOIN main.members r ON r.id = c.row_id
   CROSS JOIN main.members m ON m.cooperative_id = r.cooperative_id AND m.${column} = c.old AND m.id <> r.id
   WHERE ${OWN_CHANGES} AND c.field = '${column}'`;

/**
 * A payment that the import made void would count again, and the opening balance of its loan, which was set
 * since, may include it.
 */
const COUNTED_SINCE = `SELECT 'loans' AS kind, l.row_id AS id, 'changed' AS reason, l.actor
  FROM main.changes c CROSS JOIN main.payments t ON t.id = c.row_id
  CROSS JOIN main.changes l ON l.entity = 'loans' AND l.row_id = t.loan_id
  WHERE ${OWN_CHANGES} AND c.field = 'status' AND l.field = 'paid_until' AND l.id > @last_change
    AND l.actor NOT IN (${REVERSED_ACTORS})`;

/** By the few members who were erased: it costs nothing for others. */
const ofErased = (kind: ImportKind, entries: string): string =>
  `SELECT '${kind}' AS kind, e.id, 'erased' AS reason, ${ERASED_BY} AS actor
   FROM main.members m INDEXED BY members_status CROSS JOIN ${entries}
   WHERE m.status = '${ERASED_STATUS}' AND (e.id BETWEEN @first_row AND @last_row
     OR e.id IN (SELECT c.row_id FROM main.changes c WHERE ${OWN_CHANGES}))`;

const ERASED = {
  production: ofErased('production', 'main.production_entries e ON e.member_id = m.id'),
  loans: ofErased('loans', 'main.loans e ON e.member_id = m.id'),
  payments: ofErased(
    'payments',
    'main.loans l ON l.member_id = m.id CROSS JOIN main.payments e ON e.loan_id = l.id',
  ),
  savings: ofErased(
    'savings',
    `main.savings_accounts a ON a.member_id = m.id
     CROSS JOIN main.savings_transactions e ON e.account_id = a.id`,
  ),
};

const ENTRIES = [
  ['production', 'production_entries'],
  ['loans', 'loans'],
] as const;

const BLOCKERS: { readonly [kind in ImportKind]: readonly string[] } = {
  cooperatives: [
    CHANGED,
    referring('members', 'members', 'cooperative_id'),
    ...ENTRIES.map(([kind, table]) => referring(kind, table, 'cooperative_id')),
    referring('payments', 'payments', 'cooperative_id'),
    referring('savings', 'savings_transactions', 'cooperative_id'),
  ],
  members: [
    CHANGED,
    MERGED_INTO,
    taken('member_code'),
    taken('identity_card'),
    ...ENTRIES.map(([kind, table]) => referring(kind, table, 'member_id')),
    // Loan by loan, and account by account: a member's payments and transactions are those of these.
    `SELECT 'payments' AS kind, p.id, 'refers' AS reason, NULL AS actor
     FROM main.loans l CROSS JOIN main.payments p ON p.loan_id = l.id
     WHERE l.member_id BETWEEN @first_row AND @last_row`,
    `SELECT 'savings' AS kind, t.id, 'refers' AS reason, NULL AS actor
     FROM main.savings_accounts a CROSS JOIN main.savings_transactions t ON t.account_id = a.id
     WHERE a.member_id BETWEEN @first_row AND @last_row`,
  ],
  production: [CHANGED, ERASED.production],
  // Void ones too: a payment needs its loan.
  loans: [CHANGED, ERASED.loans, referring('payments', 'payments', 'loan_id')],
  payments: [CHANGED, ERASED.payments, COUNTED_SINCE],
  savings: [
    ...[CHANGED, ERASED.savings, CORRECTED_ACCOUNTS],
    ...[IN_OPENED_ACCOUNTS, MOVED_FROM_OPENED_ACCOUNTS, LOST_ACCOUNTS],
  ],
};

interface Found {
  readonly kind: ImportKind | ChangedEntity;
  readonly id: number;
  readonly reason: UndoBlocker['reason'];
  readonly actor: Actor | null;
}

/**
 * @param listed how many are listed at most
 * @returns each row once for each reason and actor
 */
export function findBlockers(
  db: Connection,
  row: ImportRow,
  listed: number,
): { readonly count: number; readonly blockers: UndoBlocker[] } {
  const found = `SELECT DISTINCT kind, id, reason, actor FROM (${BLOCKERS[row.kind].join('\nUNION ALL ')})`;
  const count = db.raw.prepare(`SELECT count(*) FROM (${found})`).pluck().get(row) as number;
  if (count === 0) return { count, blockers: [] };
  const rows = db.raw.prepare(`${found} ${ERASED_FIRST} LIMIT @listed`).all({ ...row, listed }) as Found[];
  const originOf = openOrigins(db);
  return {
    count,
    blockers: rows.map(({ kind, id, reason, actor }) => ({
      ...{ kind, row: rowLabel(db, kind, id), reason },
      actor: actor ?? originOf(kind, id)?.actor ?? null,
    })),
  };
}

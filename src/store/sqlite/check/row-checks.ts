/** Whether rows agree with each other, and with the records of operations: for `check`, as all are read. */
import type { CountCheck } from '../lists/count-checks.ts';
import { TABLES } from '../schema/tables.ts';

/** Whether loans and payments agree: each finds one that is wrong. */
export const LOAN_CHECKS: readonly CountCheck[] = [
  {
    name: 'paid amounts of loans',
    sql: `SELECT l.id, l.paid_amount_minor AS paid, l.opening_balance_minor AS opening_balance,
        coalesce(p.recorded, 0) AS recorded
      FROM loans l LEFT JOIN (SELECT loan_id, sum(amount_minor) AS recorded FROM payments
        WHERE status = 'recorded' GROUP BY loan_id) p ON p.loan_id = l.id
      WHERE l.paid_amount_minor <> l.opening_balance_minor + coalesce(p.recorded, 0) LIMIT 1`,
  },
  {
    name: 'cooperatives of loans',
    sql: `SELECT l.id, l.cooperative_id FROM loans l CROSS JOIN members m ON m.id = l.member_id
      WHERE l.cooperative_id <> m.cooperative_id LIMIT 1`,
  },
  {
    name: 'cooperatives of payments',
    sql: `SELECT p.id, p.cooperative_id FROM payments p CROSS JOIN loans l ON l.id = p.loan_id
      WHERE p.cooperative_id <> l.cooperative_id LIMIT 1`,
  },
];

/** Whether former numbers and merged members lead to what is there: none shows a national ID. */
export const REDIRECT_CHECKS: readonly CountCheck[] = [
  {
    name: 'replaced national IDs',
    sql: `SELECT r.correction_id FROM replaced_identity_cards r WHERE r.ended_by IS NULL AND (
        EXISTS (SELECT 1 FROM members m WHERE m.identity_card = r.old)
        OR NOT EXISTS (SELECT 1 FROM members m WHERE m.identity_card = r.new)
        OR EXISTS (SELECT 1 FROM former_identity_cards n WHERE n.old = r.new))
      LIMIT 1`,
  },
  {
    name: 'merged members',
    sql: `SELECT r.id, r.into_id FROM former_members r WHERE (
        EXISTS (SELECT 1 FROM members m WHERE m.id = r.id)
        OR NOT EXISTS (SELECT 1 FROM members m WHERE m.id = r.into_id))
      LIMIT 1`,
  },
];

const ROWS = TABLES.map(
  ({ entity, table }) =>
    `WHEN '${entity}' THEN (SELECT count(*) FROM ${table} WHERE id BETWEEN r.first_row AND r.last_row)`,
);

/** Whether the records of operations agree with the rows, of which some may be gone. */
export const OPERATION_CHECKS: readonly CountCheck[] = [
  {
    name: 'rows of imports',
    sql: `SELECT o.id, r.entity, o.created FROM created_rows r
      CROSS JOIN operations o ON o.id = r.operation_id
      WHERE (o.undone_at IS NOT NULL AND CASE r.entity ${ROWS.join(' ')} END > 0)
        OR (r.entity = o.kind AND o.created <> r.last_row - r.first_row + 1) LIMIT 1`,
  },
  {
    name: 'changes of imports',
    // Accounts come and go with their transactions, and are not counted by imports.
    sql: `SELECT id, changed, rows FROM (
        SELECT o.id, o.changed + coalesce(f.removed, 0) AS changed,
          (SELECT count(DISTINCT c.entity || c.row_id) FROM changes c
           WHERE c.id BETWEEN o.first_change AND o.last_change
             AND (c.actor = 'correction:' || o.id
               OR c.actor = 'import:' || o.id AND c.entity <> 'accounts')) AS rows
        FROM operations o LEFT JOIN imported_files f ON f.operation_id = o.id)
      WHERE rows <> changed LIMIT 1`,
  },
];

/** Whether the records of operations agree with the rows, of which some may be gone: for `check`. */
import type { CountCheck } from '../lists/count-checks.ts';
import { TABLES } from '../schema/tables.ts';

const ROWS = TABLES.map(
  ({ entity, table }) =>
    `WHEN '${entity}' THEN (SELECT count(*) FROM ${table} WHERE id BETWEEN r.first_row AND r.last_row)`,
);

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

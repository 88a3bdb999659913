/** What the payments of a file change of the paid amounts of loans, found before the lock is taken. */
import { assignmentsOf } from './staged/changes.ts';
import type { FileScope } from './staged/file-scope.ts';

/** Fills `paid_amounts`, once it is staged what the file changes. */
export function stagePaidAmounts(scope: FileScope): void {
  const bitOf = new Map(assignmentsOf(scope).map(({ column, bit }) => [column, bit]));
  /** The value of a changed payment: that of the file where this cell changes. */
  const changed = (column: string, stored: string) =>
    `iif(c.cells & ${bitOf.get(column) ?? 0}, r.${column}, t.${stored})`;
  scope.db.exec(`DELETE FROM staging.paid_amounts;
    INSERT INTO staging.paid_amounts (loan_id, delta)
    SELECT loan_id, sum(delta) FROM (
      SELECT p.loan_id, r.amount AS delta FROM staging.resolved_references p
      CROSS JOIN staging.rows r ON r.line = p.line
      WHERE p.id IS NULL AND coalesce(r.status, 'recorded') = 'recorded'
      UNION ALL
      SELECT t.loan_id, -t.amount_minor FROM staging.missing x CROSS JOIN main.payments t ON t.id = x.id
      WHERE t.status = 'recorded'
      UNION ALL
      SELECT t.loan_id,
        iif(${changed('status', 'status')} = 'recorded', ${changed('amount', 'amount_minor')}, 0)
          - iif(t.status = 'recorded', t.amount_minor, 0) FROM staging.changed_rows c
      CROSS JOIN staging.rows r ON r.line = c.line CROSS JOIN main.payments t ON t.id = c.id)
    GROUP BY 1 HAVING sum(delta) <> 0`);
}

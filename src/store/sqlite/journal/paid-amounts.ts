/**
 * What the payments of a file change of the paid amounts of loans, set by set: a loan's paid amount is its
 * opening balance and its recorded payments.
 */
import { fieldBit } from '../../../domain/events.ts';
import type { Actor } from '../../ports/history.ts';
import type { Connection } from '../engine/connection.ts';
import { appendEvents } from '../events/append.ts';
import { assignmentsOf } from '../staging/changes.ts';
import type { FileScope } from '../staging/file-scope.ts';

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
      SELECT t.loan_id,
        iif(${changed('status', 'status')} = 'recorded', ${changed('amount', 'amount_minor')}, 0)
          - iif(t.status = 'recorded', t.amount_minor, 0) FROM staging.changed_rows c
      CROSS JOIN staging.rows r ON r.line = c.line CROSS JOIN main.payments t ON t.id = c.id)
    GROUP BY 1 HAVING sum(delta) <> 0`);
}

/** Changes the loans by what is staged. Their triggers set the stale flag of the read model. */
export function addPaidAmounts(db: Connection, nowSeconds: number): void {
  db.raw
    .prepare(
      `UPDATE main.loans AS t SET paid_amount_minor = t.paid_amount_minor + d.delta, updated_at = ?
       FROM staging.paid_amounts d WHERE t.id = d.loan_id`,
    )
    .run(nowSeconds);
}

/** The loans of such a table, for the events of what is paid on them. */
export const paidLoans = (table: string): string =>
  `SELECT t.id AS row_id, t.cooperative_id, ${fieldBit('loan', 'paid_amount')} AS fields
   FROM ${table} d CROSS JOIN main.loans t ON t.id = d.loan_id WHERE d.delta <> 0 ORDER BY t.id`;

/** Records the staged changes of loans, which are made by now, behind those of the payments. */
export function recordPaidAmounts(db: Connection, nowSeconds: number, actor: Actor): void {
  db.raw
    .prepare(
      `INSERT INTO main.changes (entity, row_id, field, old, new, at, actor)
       SELECT 'loans', t.id, 'paid_amount', t.paid_amount_minor - d.delta, t.paid_amount_minor, ?, ?
       FROM staging.paid_amounts d CROSS JOIN main.loans t ON t.id = d.loan_id ORDER BY t.id`,
    )
    .run(nowSeconds, actor);
  const loans = paidLoans('staging.paid_amounts');
  appendEvents(db, ['loan', 'updated'], loans, nowSeconds, actor);
}

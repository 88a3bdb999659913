/**
 * What changed payments change of the paid amounts of loans, set by set: a loan's paid amount is its opening
 * balance and its recorded payments. These changes follow from those of the payments, and so are not the
 * operation's own: they are recorded behind its end, and an undo computes them again.
 */
import type { Connection } from '../engine/connection.ts';
import type { Operation } from './operations.ts';
import { ownChanges } from './own-rows.ts';
import { announce, insertChanges, type Recording } from './record-changes.ts';

/**
 * Changes the loans, and records it. Their triggers set the stale flag of the read model.
 * @param table of `loan_id, delta` in minor units
 */
export function addPaidAmounts(db: Connection, table: string, by: Recording): void {
  db.run(
    `UPDATE main.loans AS t SET paid_amount_minor = t.paid_amount_minor + d.delta, updated_at = ?
     FROM ${table} d WHERE t.id = d.loan_id AND d.delta <> 0`,
    [by.nowSeconds],
  );
  const values = `SELECT NULL AS line, t.id AS row_id, 'paid_amount' AS field,
      t.paid_amount_minor - d.delta AS old, t.paid_amount_minor AS new
    FROM ${table} d CROSS JOIN main.loans t ON t.id = d.loan_id WHERE d.delta <> 0 ORDER BY t.id`;
  insertChanges(db, 'loans', values, by);
  announce(db, [{ entity: 'loans', values }], by);
}

/**
 * Adds what the payments of an operation count at this moment to `temp.paid_amounts`: called with `-` before
 * they are removed and put back, and with `+` after it, it leaves the difference.
 */
export function stagePaidByOwn(db: Connection, operation: Operation, sign: '-' | '+'): void {
  db.exec('CREATE TEMP TABLE IF NOT EXISTS paid_amounts (loan_id INTEGER PRIMARY KEY, delta INTEGER)');
  db.exec(`INSERT INTO temp.paid_amounts (loan_id, delta)
    SELECT loan_id, ${sign} sum(amount_minor) FROM main.payments t CROSS JOIN (
        SELECT coalesce(min(first_row), 1) AS first, coalesce(max(last_row), 0) AS last FROM main.created_rows
        WHERE operation_id = ${operation.id} AND entity = 'payments') w
    WHERE status = 'recorded' AND (t.id BETWEEN w.first AND w.last OR t.id IN
      (SELECT c.row_id FROM main.changes c WHERE ${ownChanges(operation)} AND c.entity = 'payments'))
    GROUP BY 1
    ON CONFLICT DO UPDATE SET delta = delta + excluded.delta`);
}

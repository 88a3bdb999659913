/** What the undo of a payments import changes of the paid amounts of loans. */
import type { Actor } from '../../ports/history.ts';
import type { Connection } from '../engine/connection.ts';
import { appendEvents } from '../events/append.ts';
import { paidLoans } from './paid-amounts.ts';
import type { ImportRow } from './rows.ts';

/** What the payments of the import add to each loan at this moment. */
const ADDED = (sign: '+' | '-') => `INSERT INTO temp.paid_amounts (loan_id, delta)
  SELECT loan_id, ${sign} sum(amount_minor) FROM main.payments
  WHERE status = 'recorded' AND (id BETWEEN @first_row AND @last_row OR id IN
    (SELECT c.row_id FROM main.changes c WHERE c.id BETWEEN @first_change AND @last_change))
  GROUP BY 1
  ON CONFLICT DO UPDATE SET delta = delta + excluded.delta`;

/** Called before the payments are removed and put back. */
export function openPaidAmounts(db: Connection, row: ImportRow): void {
  db.exec('CREATE TEMP TABLE paid_amounts (loan_id INTEGER PRIMARY KEY, delta INTEGER)');
  db.raw.prepare(ADDED('-')).run(row);
}

/** Called after it: changes the loans by the difference, and records it. */
export function closePaidAmounts(db: Connection, row: ImportRow, now: number): void {
  db.raw.prepare(ADDED('+')).run(row);
  const actor: Actor = `undo:${row.id}`;
  db.raw
    .prepare(
      `INSERT INTO main.changes (entity, row_id, field, old, new, at, actor)
       SELECT 'loans', t.id, 'paid_amount', t.paid_amount_minor, t.paid_amount_minor + d.delta, ?, ?
       FROM temp.paid_amounts d CROSS JOIN main.loans t ON t.id = d.loan_id
       WHERE d.delta <> 0 ORDER BY t.id`,
    )
    .run(now, actor);
  db.raw
    .prepare(
      `UPDATE main.loans AS t SET paid_amount_minor = t.paid_amount_minor + d.delta, updated_at = ?
       FROM temp.paid_amounts d WHERE t.id = d.loan_id AND d.delta <> 0`,
    )
    .run(now);
  appendEvents(db, ['loan', 'updated'], paidLoans('temp.paid_amounts'), now, actor);
  db.exec('DROP TABLE temp.paid_amounts');
}

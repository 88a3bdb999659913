/** What must hold after all kills, read from the tables. */
import { openFile } from '../../support/sqlite.ts';
import type { Payments } from './payments.ts';

/** What neither a merge nor a kill may change. */
interface Totals {
  readonly grams: number;
  readonly deliveries: number;
  readonly loans: number;
  readonly savings: number;
}

const TOTALS = `SELECT (SELECT sum(grams) FROM production_entries) AS grams,
  (SELECT count(*) FROM production_entries) AS deliveries, (SELECT count(*) FROM loans) AS loans,
  (SELECT sum(amount_minor) FROM savings_transactions) AS savings`;

export function totalsOf(db: string): Totals {
  const registry = openFile(db);
  try {
    return registry.raw.prepare(TOTALS).get() as Totals;
  } finally {
    registry.close();
  }
}

interface StoredPayment {
  readonly id: number;
  readonly reference: string;
  readonly loan_id: number;
  readonly amount_minor: number;
}

/** @returns what is wrong, a line each */
export function findLosses(db: string, payments: Payments, before: Totals): string[] {
  const faults: string[] = [];
  const after = totalsOf(db);
  if (JSON.stringify(after) !== JSON.stringify(before))
    faults.push(`Totals: ${JSON.stringify(before)} before, ${JSON.stringify(after)} after.`);
  const registry = openFile(db);
  const all = <Row>(sql: string): Row[] => registry.raw.prepare(sql).all() as Row[];
  try {
    faults.push(...findPaymentFaults(payments, all<StoredPayment>('SELECT * FROM payments')));
    const events = all<{ row_id: number }>('SELECT row_id FROM events WHERE type = 9');
    if (new Set(events.map(({ row_id }) => row_id)).size !== events.length)
      faults.push('A payment has two events of its creation.');
    if (events.length !== payments.acknowledged.length)
      faults.push(`${events.length} payments have an event.`);
    return faults;
  } finally {
    registry.close();
  }
}

function findPaymentFaults({ acknowledged }: Payments, stored: readonly StoredPayment[]): string[] {
  const faults: string[] = [];
  const byReference = new Map(stored.map((row) => [row.reference, row]));
  for (const { number, id, loanId, amount } of acknowledged) {
    const row = byReference.get(`P-${number}`);
    if (row === undefined) faults.push(`Payment ${number} was acknowledged and is lost.`);
    else if (String(row.id) !== id || row.loan_id !== loanId || row.amount_minor !== amount * 100)
      faults.push(`Payment ${number} differs from what was acknowledged.`);
  }
  // `check` has proved that each loan's paid amount is the sum of its payments.
  if (stored.length !== acknowledged.length)
    faults.push(`${acknowledged.length} payments were acknowledged, ${stored.length} are stored.`);
  return faults;
}

/** How large the registry is, for the operator who imports into it. */
import type { RegistrySize } from '../../contract/import/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import {
  DELIVERY_COUNTS,
  LOAN_COUNTS,
  MEMBER_COUNTS,
  PAYMENT_COUNTS,
  SAVINGS_COUNTS,
  sizeSql,
} from '../schema/counts.ts';
import type { Totals } from '../schema/declared-totals.ts';

export function readSize(db: Connection): RegistrySize {
  const sizeOf = (counts: Totals) => db.value<number>(sizeSql(counts));
  // One snapshot for all.
  return db.transaction.deferred(() => ({
    cooperatives: db.count('main.cooperatives'),
    members: sizeOf(MEMBER_COUNTS.large),
    deliveries: sizeOf(DELIVERY_COUNTS),
    loans: sizeOf(LOAN_COUNTS.large),
    payments: sizeOf(PAYMENT_COUNTS.large),
    transactions: sizeOf(SAVINGS_COUNTS),
  }));
}

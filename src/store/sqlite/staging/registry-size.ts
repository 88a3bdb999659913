/** How large the registry is, for the operator who imports into it. */
import type { RegistrySize } from '../../ports/import/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import { readRowCount } from '../lists/table-sizes.ts';

export function readSize(db: Connection): RegistrySize {
  // One snapshot for all.
  return db.transaction.deferred(() => ({
    cooperatives: db.count('main.cooperatives'),
    members: db.value('SELECT coalesce(sum(members), 0) FROM main.member_counts'),
    deliveries: readRowCount(db, 'production_entries'),
    loans: readRowCount(db, 'loans'),
    payments: readRowCount(db, 'payments'),
    transactions: readRowCount(db, 'savings_transactions'),
  }));
}

/** Removes deliveries, savings transactions or loans that should not be there. */
import type { EntryKind, EntrySelection } from '../../../domain/entries/entries.ts';
import type { Collision, CorrectionRefused } from '../../ports/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { readEntryIds } from '../persons/entry-rows.ts';
import { tableOf } from '../schema/tables.ts';
import { type Correction, type CorrectionPlan, refuse } from './run.ts';

export const removeEntries = (db: Connection, kind: EntryKind, selection: EntrySelection): Correction => ({
  kind: 'entries_remove',
  // Not the reference: some cooperatives use national IDs in theirs.
  options: { kind, ...('memberId' in selection ? { member_id: selection.memberId } : {}) },
  decide: () => planRemoval(db, kind, readEntryIds(db, kind, selection)),
});

function planRemoval(
  db: Connection,
  kind: EntryKind,
  ids: readonly number[],
): CorrectionPlan | CorrectionRefused {
  if (ids.length === 0) return refuse('There is no such entry.');
  // Dropped by the work, or with the transaction.
  db.exec('CREATE TEMP TABLE removed_entries (id INTEGER PRIMARY KEY)');
  const insert = db.raw.prepare('INSERT INTO temp.removed_entries VALUES (?)');
  for (const id of ids) insert.run(id);
  const payments = kind === 'loans' ? findPayments(db) : [];
  if (payments.length > 0) return refuse('A loan with payments cannot be removed.', payments);
  return {
    touched: { [kind]: 'SELECT id FROM temp.removed_entries' },
    work() {
      db.exec(`DELETE FROM main.${tableOf(kind).table} WHERE id IN (SELECT id FROM temp.removed_entries);
        DROP TABLE temp.removed_entries`);
    },
  };
}

const findPayments = (db: Connection): Collision[] =>
  db.rows(`SELECT 'payments' AS entity, p.reference AS row,
      'It belongs to the loan ' || l.reference || '.' AS message
    FROM temp.removed_entries r
    CROSS JOIN main.loans l ON l.id = r.id CROSS JOIN main.payments p ON p.loan_id = l.id ORDER BY p.id`);

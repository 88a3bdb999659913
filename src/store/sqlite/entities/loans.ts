/** Loans in SQLite. What is paid on one is changed by payments.ts. */

import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import { LOAN_FIELDS, type LoanRecord, type LoanValues } from '../../../domain/lending/loans.ts';
import { refuseFields } from '../../../domain/values/errors.ts';
import type { LoanStore } from '../../contract/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { openLoanLists } from '../lists/lending-lists.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { openColumnRefresh } from '../read-model/refresh.ts';
import { LOAN_OWNER, LOAN_ROW } from '../rows/rows.ts';
import type { StoreDependencies } from './row-store.ts';
import { openRowStore } from './row-store.ts';

/** @returns what reads one loan, inside a write or a read of the snapshot */
export function openLoanReader(db: Connection): (id: number) => LoanRecord | undefined {
  const select = db.prepare<[number], LoanRecord>(`${LOAN_ROW} FROM loans l ${LOAN_OWNER} WHERE l.id = ?`);
  return (id) => select.get(id);
}

export function openLoans(
  db: Connection,
  { snapshot, responses }: StoreDependencies,
  format: ReadModelFormat,
): (visible: Visible) => LoanStore {
  const refreshLoanHistory = openColumnRefresh(db, format, 'loans');
  const list = openLoanLists(db);
  const selectCooperative = db.prepare<[number], { id: number }>(
    'SELECT cooperative_id AS id FROM members WHERE id = ?',
  );
  const read = openLoanReader(db);
  const find = (id: number, visible: Visible): LoanRecord | undefined => {
    const loan = read(id);
    return loan !== undefined && isVisible(visible, loan.cooperativeId) ? loan : undefined;
  };
  const rows = openRowStore<LoanRecord, LoanValues>(db, {
    entity: 'loans',
    fields: LOAN_FIELDS,
    find,
  });

  return (visible) => ({
    find: (id) => snapshot.read(() => find(id, visible)),
    list: (filter, request) => snapshot.read(() => list(filter, request, visible)),
    conflicts: (values, exceptId) => snapshot.read(() => rows.conflicts(values, visible, exceptId)),

    create: (values, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(rows.conflicts(values, visible));
        const { memberId } = values;
        const { id: cooperativeId } = selectCooperative.get(memberId) as { id: number };
        const nothing = { cooperativeId, paidAmountMinor: 0, openingBalanceMinor: 0 };
        const id = rows.insert({ ...values, ...nothing }, nowSeconds, actor);
        refreshLoanHistory(memberId, nowSeconds);
        return read(id) as LoanRecord;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () =>
        rows.update(
          id,
          visible,
          (stored) => ({
            values: decide(stored),
            follow: () => refreshLoanHistory(stored.memberId, nowSeconds),
          }),
          nowSeconds,
          actor,
        ),
      ),
  });
}

/** Payments in SQLite: each write also changes what is paid on the loan, in the same transaction. */

import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import type { LoanRecord } from '../../../domain/lending/loans.ts';
import {
  PAYMENT_FIELDS,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../../../domain/lending/payments.ts';
import { refuseFields } from '../../../domain/values/errors.ts';
import type { Actor } from '../../contract/journal/history.ts';
import type { PaymentStore } from '../../contract/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { openChangeRecorder } from '../journal/recorder.ts';
import { openPaymentLists } from '../lists/lending-lists.ts';
import type { ReadModelFormat } from '../read-model/format.ts';
import { openColumnRefresh } from '../read-model/refresh.ts';
import { PAYMENT_OWNER, PAYMENT_ROW } from '../rows/rows.ts';
import { openLoanReader } from './loans.ts';
import type { StoreDependencies } from './row-store.ts';
import { openRowStore } from './row-store.ts';

/** @returns what changes the paid amount of a loan, with its history, event and read model */
function openPaidAmount(db: Connection, format: ReadModelFormat) {
  const store = db.prepare<[paid: number, at: number, id: number]>(
    'UPDATE loans SET paid_amount_minor = ?, updated_at = ? WHERE id = ?',
  );
  const history = openChangeRecorder(db, 'loans');
  const refreshLoanHistory = openColumnRefresh(db, format, 'loans');
  return (loan: LoanRecord, paidMinor: number, nowSeconds: number, actor: Actor): void => {
    if (paidMinor === loan.paidAmountMinor) return;
    store.run(paidMinor, nowSeconds, loan.id);
    const change = { fields: ['paid_amount'], old: [loan.paidAmountMinor], new: [paidMinor] };
    history.changed({ id: loan.id, cooperativeId: loan.cooperativeId }, change, nowSeconds, actor);
    refreshLoanHistory(loan.memberId, nowSeconds);
  };
}

export function openPayments(
  db: Connection,
  { snapshot, responses }: StoreDependencies,
  format: ReadModelFormat,
): (visible: Visible) => PaymentStore {
  const list = openPaymentLists(db);
  const readLoan = openLoanReader(db);
  const setPaidAmount = openPaidAmount(db, format);
  const select = db.prepare<[number], PaymentRecord>(
    `${PAYMENT_ROW} FROM payments p ${PAYMENT_OWNER} WHERE p.id = ?`,
  );
  const find = (id: number, visible: Visible): PaymentRecord | undefined => {
    const payment = select.get(id);
    return payment !== undefined && isVisible(visible, payment.cooperativeId) ? payment : undefined;
  };
  const rows = openRowStore<PaymentRecord, PaymentValues>(db, {
    entity: 'payments',
    fields: PAYMENT_FIELDS,
    find,
  });

  return (visible) => ({
    find: (id) => snapshot.read(() => find(id, visible)),
    list: (filter, request) => snapshot.read(() => list(filter, request, visible)),
    conflicts: (values, exceptId) => snapshot.read(() => rows.conflicts(values, visible, exceptId)),

    create: (given, decide, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(rows.conflicts(given, visible));
        const loan = readLoan(given.loanId) as LoanRecord;
        const values = decide(loan);
        const paidMinor = paidAfter(loan, undefined, values);
        const { cooperativeId } = loan;
        const id = rows.insert({ ...values, cooperativeId }, nowSeconds, actor);
        setPaidAmount(loan, paidMinor, nowSeconds, actor);
        return select.get(id) as PaymentRecord;
      }),

    update(id, decide, nowSeconds, actor) {
      const decideWithLoan = (stored: PaymentRecord) => {
        const loan = readLoan(stored.loanId) as LoanRecord;
        const values = decide(stored, loan);
        const paidMinor = paidAfter(loan, stored, values);
        return { values, follow: () => setPaidAmount(loan, paidMinor, nowSeconds, actor) };
      };
      return responses.update(nowSeconds, () => rows.update(id, visible, decideWithLoan, nowSeconds, actor));
    },
  });
}

/** Payments in SQLite: each write also changes what is paid on the loan, in the same transaction. */

import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import type { LoanRecord } from '../../../domain/lending/loans.ts';
import {
  PAYMENT_FIELDS,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../../../domain/lending/payments.ts';
import {
  FieldErrorList,
  type FieldMessages,
  notFound,
  refuseFields,
  unknownReference,
} from '../../../domain/values/errors.ts';
import type { Actor } from '../../ports/journal/history.ts';
import type { PaymentStore } from '../../ports/payments.ts';
import type { Connection } from '../engine/connection.ts';
import { openChangeRecorder } from '../journal/recorder.ts';
import { openPaymentLists } from '../lists/payment-lists.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { openLoanHistoryRefresh } from '../read-model/refresh-loans.ts';
import { PAYMENT_OWNER, PAYMENT_ROW } from '../rows/payment-rows.ts';
import type { StoreDependencies } from './dependencies.ts';
import { openLoanReader } from './loans.ts';
import { openRowWriter } from './row-writer.ts';

const prepareStatements = (db: Connection) => ({
  selectOne: db.prepare<[number], PaymentRecord>(
    `${PAYMENT_ROW} FROM payments p ${PAYMENT_OWNER} WHERE p.id = ?`,
  ),
  selectLoan: db.prepare<[number], { cooperative_id: number }>(
    'SELECT cooperative_id FROM loans WHERE id = ?',
  ),
  selectPayment: db.prepare<[number], { cooperative_id: number }>(
    'SELECT cooperative_id FROM payments WHERE id = ?',
  ),
  selectByReference: db.prepare<[number, string], { id: number }>(
    'SELECT id FROM payments WHERE cooperative_id = ? AND reference = ?',
  ),
});

type Statements = ReturnType<typeof prepareStatements>;

/** @returns what gives the messages for values that cannot be written */
function openConflicts({ selectLoan, selectPayment, selectByReference }: Statements) {
  return function findConflicts(
    values: Partial<PaymentValues>,
    visible: Visible,
    exceptId?: number,
  ): FieldMessages {
    const faults = new FieldErrorList();
    const { loanId, reference } = values;
    const found = loanId === undefined ? undefined : selectLoan.get(loanId);
    const loan = found !== undefined && isVisible(visible, found.cooperative_id) ? found : undefined;
    if (loanId !== undefined && loan === undefined) faults.add('loan_id', unknownReference(loanId));
    const owned = exceptId === undefined ? loan : selectPayment.get(exceptId);
    if (owned === undefined || reference === undefined) return faults.fields;
    const same = selectByReference.get(owned.cooperative_id, reference);
    if (same !== undefined && same.id !== exceptId) faults.add('reference', 'This field must be unique.');
    return faults.fields;
  };
}

/** @returns what changes the paid amount of a loan, with its history, event and read model */
function openPaidAmount(db: Connection, format: ReadModelFormat) {
  const store = db.prepare<[paid: number, at: number, id: number]>(
    'UPDATE loans SET paid_amount_minor = ?, updated_at = ? WHERE id = ?',
  );
  const history = openChangeRecorder(db, 'loans');
  const refreshLoanHistory = openLoanHistoryRefresh(db, format);
  return (loan: LoanRecord, paidMinor: number, nowSeconds: number, actor: Actor): void => {
    if (paidMinor === loan.paidAmountMinor) return;
    store.run(paidMinor, nowSeconds, loan.id);
    const change = { fields: ['paid_amount'], old: [loan.paidAmountMinor], new: [paidMinor] };
    history.changed({ id: loan.id, cooperativeId: loan.cooperativeId }, change, nowSeconds, actor);
    refreshLoanHistory(loan.memberId);
  };
}

export function openPayments(
  db: Connection,
  { snapshot, responses }: StoreDependencies,
  format: ReadModelFormat,
): (visible: Visible) => PaymentStore {
  const statements = prepareStatements(db);
  const findConflicts = openConflicts(statements);
  const { counts, list } = openPaymentLists(db);
  const rows = openRowWriter<PaymentValues>(db, 'payments', PAYMENT_FIELDS, counts);
  const readLoan = openLoanReader(db);
  const setPaidAmount = openPaidAmount(db, format);

  const read = (id: number): PaymentRecord | undefined => statements.selectOne.get(id);

  const readVisible = (id: number, visible: Visible): PaymentRecord | undefined => {
    const payment = read(id);
    return payment !== undefined && isVisible(visible, payment.cooperativeId) ? payment : undefined;
  };

  return (visible) => ({
    find: (id) => snapshot.read(() => readVisible(id, visible)),
    list: (filter, request) => snapshot.read(() => list(filter, request, visible)),
    conflicts: (values, exceptId) => snapshot.read(() => findConflicts(values, visible, exceptId)),

    create: (given, decide, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(findConflicts(given, visible));
        const loan = readLoan(given.loanId) as LoanRecord;
        const values = decide(loan);
        const paidMinor = paidAfter(loan, undefined, values);
        const { cooperativeId } = loan;
        const id = rows.insert({ ...values, cooperativeId }, nowSeconds, actor);
        setPaidAmount(loan, paidMinor, nowSeconds, actor);
        return read(id) as PaymentRecord;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () => {
        const stored = readVisible(id, visible);
        if (stored === undefined) throw notFound();
        const loan = readLoan(stored.loanId) as LoanRecord;
        const values = decide(stored, loan);
        if (values.loanId !== stored.loanId) refuseFields({ loan_id: ['This field cannot be changed.'] });
        refuseFields(findConflicts(values, visible, id));
        const paidMinor = paidAfter(loan, stored, values);
        if (!rows.replace(stored, values, nowSeconds, actor)) return stored;
        setPaidAmount(loan, paidMinor, nowSeconds, actor);
        return read(id) as PaymentRecord;
      }),
  });
}

/** Payments in SQLite: each write also changes what is paid on the loan, in the same transaction. */

import type { LoanRecord } from '../../../domain/lending/loans.ts';
import { type PaymentRecord, type PaymentValues, paidAfter } from '../../../domain/lending/payments.ts';
import {
  FieldErrorList,
  type FieldMessages,
  notFound,
  refuseFields,
  unknownReference,
} from '../../../domain/values/errors.ts';
import type { Actor } from '../../ports/history.ts';
import type { PaymentStore } from '../../ports/payments.ts';
import type { Connection } from '../engine/connection.ts';
import { openChangeRecorder } from '../journal/recorder.ts';
import { newIdSql } from '../journal/removed-ids.ts';
import { openPaymentLists } from '../lists/payment-lists.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { openLoanHistoryRefresh } from '../read-model/refresh-loans.ts';
import {
  PAYMENT_COLUMNS,
  PAYMENT_FIELDS,
  PAYMENT_OWNER,
  PAYMENT_ROW,
  type PaymentRow,
  toPaymentColumns,
  toPaymentRecord,
} from '../rows/payment-rows.ts';
import type { StoreDependencies } from './dependencies.ts';
import { openLoanReader } from './loans.ts';

const prepareStatements = (db: Connection) => ({
  selectOne: db.prepare<[number], PaymentRow>(
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
  insert: db.prepare<(string | number)[]>(
    `INSERT INTO payments (id, cooperative_id, loan_id, ${PAYMENT_COLUMNS.join(', ')}, created_at, updated_at)
     VALUES (${newIdSql('payments')}, ?, ?, ${PAYMENT_COLUMNS.map(() => '?').join(', ')}, ?, ?)`,
  ),
  replace: db.prepare<(string | number)[]>(
    `UPDATE payments SET ${PAYMENT_COLUMNS.map((name) => `${name} = ?`).join(', ')}, updated_at = ?
     WHERE id = ?`,
  ),
});

type Statements = ReturnType<typeof prepareStatements>;

/** @returns what gives the messages for values that cannot be written */
function openConflicts({ selectLoan, selectPayment, selectByReference }: Statements) {
  return function findConflicts(values: Partial<PaymentValues>, exceptId?: number): FieldMessages {
    const faults = new FieldErrorList();
    const { loanId, reference } = values;
    const loan = loanId === undefined ? undefined : selectLoan.get(loanId);
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
    history.changed({ id: loan.id, cooperativeId: loan.cooperative.id }, change, nowSeconds, actor);
    refreshLoanHistory(loan.member.id);
  };
}

export function openPayments(
  db: Connection,
  { snapshot, responses }: StoreDependencies,
  format: ReadModelFormat,
): PaymentStore {
  const statements = prepareStatements(db);
  const { selectOne, insert, replace } = statements;
  const findConflicts = openConflicts(statements);
  const history = openChangeRecorder(db, 'payments');
  const { counts, list } = openPaymentLists(db);
  const readLoan = openLoanReader(db);
  const setPaidAmount = openPaidAmount(db, format);

  function read(id: number): PaymentRecord | undefined {
    const row = selectOne.get(id);
    return row && toPaymentRecord(row);
  }

  return {
    find: (id) => snapshot.read(() => read(id)),
    list: (filter, request) => snapshot.read(() => list(filter, request)),
    conflicts: (values, exceptId) => snapshot.read(() => findConflicts(values, exceptId)),

    create: (given, decide, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(findConflicts(given));
        const loan = readLoan(given.loanId) as LoanRecord;
        const values = decide(loan);
        const paidMinor = paidAfter(loan, undefined, values);
        const cooperativeId = loan.cooperative.id;
        const columns = [cooperativeId, loan.id, ...toPaymentColumns(values), nowSeconds, nowSeconds];
        const id = Number(insert.run(...columns).lastInsertRowid);
        counts.change(id, undefined, { group: cooperativeId, value: values.status });
        history.created({ id, cooperativeId }, nowSeconds, actor);
        setPaidAmount(loan, paidMinor, nowSeconds, actor);
        return read(id) as PaymentRecord;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () => {
        const stored = read(id);
        if (stored === undefined) throw notFound();
        const loan = readLoan(stored.loanId) as LoanRecord;
        const values = decide(stored, loan);
        if (values.loanId !== stored.loanId) refuseFields({ loan_id: ['This field cannot be changed.'] });
        refuseFields(findConflicts(values, id));
        const [before, after] = [toPaymentColumns(stored), toPaymentColumns(values)];
        if (before.every((column, i) => column === after[i])) return stored;
        const paidMinor = paidAfter(loan, stored, values);
        replace.run(...after, nowSeconds, id);
        const group = stored.cooperative.id;
        const change = { fields: PAYMENT_FIELDS, old: before, new: after };
        history.changed({ id, cooperativeId: group }, change, nowSeconds, actor);
        counts.change(id, { group, value: stored.status }, { group, value: values.status });
        setPaidAmount(loan, paidMinor, nowSeconds, actor);
        return read(id) as PaymentRecord;
      }),
  };
}

/** Loans in SQLite. What is paid on one is changed by payments.ts. */

import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import { LOAN_FIELDS, type LoanRecord, type LoanValues } from '../../../domain/lending/loans.ts';
import {
  FieldErrorList,
  type FieldMessages,
  notFound,
  refuseFields,
  unknownReference,
} from '../../../domain/values/errors.ts';
import type { LoanStore } from '../../ports/loans.ts';
import type { Connection } from '../engine/connection.ts';
import { isErased } from '../identity/erased-rows.ts';
import { openLoanLists } from '../lists/loan-lists.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { openLoanHistoryRefresh } from '../read-model/refresh-loans.ts';
import { LOAN_OWNER, LOAN_ROW } from '../rows/loan-rows.ts';
import type { StoreDependencies } from './dependencies.ts';
import { openRowWriter } from './row-writer.ts';

interface Owned {
  readonly cooperative_id: number;
}

const prepareStatements = (db: Connection) => ({
  selectMember: db.prepare<[number], Owned & { status: string }>(
    'SELECT cooperative_id, status FROM members WHERE id = ?',
  ),
  selectLoan: db.prepare<[number], Owned>('SELECT cooperative_id FROM loans WHERE id = ?'),
  selectByReference: db.prepare<[number, string], { id: number }>(
    'SELECT id FROM loans WHERE cooperative_id = ? AND reference = ?',
  ),
});

/** @returns what gives the messages for values that cannot be written */
function openConflicts({
  selectMember,
  selectLoan,
  selectByReference,
}: ReturnType<typeof prepareStatements>) {
  return function findConflicts(
    values: Partial<LoanValues>,
    visible: Visible,
    exceptId?: number,
  ): FieldMessages {
    const faults = new FieldErrorList();
    const { memberId, reference } = values;
    const found = memberId === undefined ? undefined : selectMember.get(memberId);
    const member = found !== undefined && isVisible(visible, found.cooperative_id) ? found : undefined;
    const isUnknown = member === undefined || (exceptId === undefined && isErased(member));
    if (memberId !== undefined && isUnknown) faults.add('member_id', unknownReference(memberId));
    const owned = exceptId === undefined ? member : selectLoan.get(exceptId);
    if (owned === undefined || reference === undefined) return faults.fields;
    const same = selectByReference.get(owned.cooperative_id, reference);
    if (same !== undefined && same.id !== exceptId) faults.add('reference', 'This field must be unique.');
    return faults.fields;
  };
}

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
  const statements = prepareStatements(db);
  const findConflicts = openConflicts(statements);
  const refreshLoanHistory = openLoanHistoryRefresh(db, format);
  const { counts, list } = openLoanLists(db);
  const rows = openRowWriter<LoanValues>(db, 'loans', LOAN_FIELDS, counts);
  const read = openLoanReader(db);

  const readVisible = (id: number, visible: Visible): LoanRecord | undefined => {
    const loan = read(id);
    return loan !== undefined && isVisible(visible, loan.cooperativeId) ? loan : undefined;
  };

  return (visible) => ({
    find: (id) => snapshot.read(() => readVisible(id, visible)),
    list: (filter, request) => snapshot.read(() => list(filter, request, visible)),
    conflicts: (values, exceptId) => snapshot.read(() => findConflicts(values, visible, exceptId)),

    create: (values, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(findConflicts(values, visible));
        const { memberId } = values;
        const { cooperative_id: cooperativeId } = statements.selectMember.get(memberId) as Owned;
        const nothing = { cooperativeId, paidAmountMinor: 0, openingBalanceMinor: 0 };
        const id = rows.insert({ ...values, ...nothing }, nowSeconds, actor);
        refreshLoanHistory(memberId);
        return read(id) as LoanRecord;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () => {
        const stored = readVisible(id, visible);
        if (stored === undefined) throw notFound();
        const values = decide(stored);
        if (values.memberId !== stored.memberId)
          refuseFields({ member_id: ['This field cannot be changed.'] });
        refuseFields(findConflicts(values, visible, id));
        if (!rows.replace(stored, values, nowSeconds, actor)) return stored;
        refreshLoanHistory(values.memberId);
        return read(id) as LoanRecord;
      }),
  });
}

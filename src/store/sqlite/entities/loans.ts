/** Loans in SQLite. What is paid on one is changed by payments.ts. */

import type { LoanRecord, LoanValues } from '../../../domain/lending/loans.ts';
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
import { openChangeRecorder } from '../journal/recorder.ts';
import { newIdSql } from '../journal/removed-ids.ts';
import { openLoanLists } from '../lists/loan-lists.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { openLoanHistoryRefresh } from '../read-model/refresh-loans.ts';
import {
  LOAN_COLUMNS,
  LOAN_FIELDS,
  LOAN_OWNER,
  LOAN_ROW,
  type LoanRow,
  toLoanColumns,
  toLoanRecord,
} from '../rows/loan-rows.ts';
import type { StoreDependencies } from './dependencies.ts';

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
  insert: db.prepare<(string | number | null)[]>(
    `INSERT INTO loans (id, cooperative_id, member_id, paid_amount_minor, ${LOAN_COLUMNS.join(', ')},
       created_at, updated_at)
     VALUES (${newIdSql('loans')}, ?, ?, 0, ${LOAN_COLUMNS.map(() => '?').join(', ')}, ?, ?)`,
  ),
  replace: db.prepare<(string | number | null)[]>(
    `UPDATE loans SET ${LOAN_COLUMNS.map((name) => `${name} = ?`).join(', ')}, updated_at = ? WHERE id = ?`,
  ),
});

/** @returns what gives the messages for values that cannot be written */
function openConflicts({
  selectMember,
  selectLoan,
  selectByReference,
}: ReturnType<typeof prepareStatements>) {
  return function findConflicts(values: Partial<LoanValues>, exceptId?: number): FieldMessages {
    const faults = new FieldErrorList();
    const { memberId, reference } = values;
    const member = memberId === undefined ? undefined : selectMember.get(memberId);
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
  const select = db.prepare<[number], LoanRow>(`${LOAN_ROW} FROM loans l ${LOAN_OWNER} WHERE l.id = ?`);
  return (id) => {
    const row = select.get(id);
    return row && toLoanRecord(row);
  };
}

export function openLoans(
  db: Connection,
  { snapshot, responses }: StoreDependencies,
  format: ReadModelFormat,
): LoanStore {
  const statements = prepareStatements(db);
  const { insert, replace, selectMember } = statements;
  const findConflicts = openConflicts(statements);
  const history = openChangeRecorder(db, 'loans');
  const refreshLoanHistory = openLoanHistoryRefresh(db, format);
  const { counts, list } = openLoanLists(db);
  const read = openLoanReader(db);

  return {
    find: (id) => snapshot.read(() => read(id)),
    list: (filter, request) => snapshot.read(() => list(filter, request)),
    conflicts: (values, exceptId) => snapshot.read(() => findConflicts(values, exceptId)),

    create: (values, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(findConflicts(values));
        const { memberId, status } = values;
        const { cooperative_id: cooperativeId } = selectMember.get(memberId) as Owned;
        const columns = [cooperativeId, memberId, ...toLoanColumns(values), nowSeconds, nowSeconds];
        const id = Number(insert.run(...columns).lastInsertRowid);
        counts.change(id, undefined, { group: cooperativeId, value: status });
        history.created({ id, cooperativeId }, nowSeconds, actor);
        refreshLoanHistory(memberId);
        return read(id) as LoanRecord;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () => {
        const stored = read(id);
        if (stored === undefined) throw notFound();
        const values = decide(stored);
        if (values.memberId !== stored.member.id)
          refuseFields({ member_id: ['This field cannot be changed.'] });
        refuseFields(findConflicts(values, id));
        const [before, after] = [toLoanColumns(stored), toLoanColumns(values)];
        if (before.every((column, i) => column === after[i])) return stored;
        replace.run(...after, nowSeconds, id);
        const group = stored.cooperative.id;
        const change = { fields: LOAN_FIELDS, old: before, new: after };
        history.changed({ id, cooperativeId: group }, change, nowSeconds, actor);
        counts.change(id, { group, value: stored.status }, { group, value: values.status });
        refreshLoanHistory(values.memberId);
        return read(id) as LoanRecord;
      }),
  };
}

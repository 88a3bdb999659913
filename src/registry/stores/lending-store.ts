/** Loans and payments in SQLite. */

import { isVisible, type Visible, visibleGroups } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { LOAN_COUNTS, PAYMENT_COUNTS } from '../../sqlite/counts.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import {
  type Groups,
  isInGroupsSql,
  type ListRows,
  openCountedList,
  openFewRows,
  toGroupsParameter,
} from '../../sqlite/list-pages.ts';
import { type Page, type PageRequest, refuseFields } from '../../values/errors.ts';
import { openChangeRecorder } from '../changes/record-changes.ts';
import { LOAN_FIELDS, LOAN_STATUSES, type LoanFilter, type LoanRecord, type LoanValues } from '../loans.ts';
import {
  PAYMENT_FIELDS,
  PAYMENT_STATUSES,
  type PaymentFilter,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../payments.ts';
import type { LoanStore, PaymentStore } from '../registry-store.ts';
import { currentNumberSql } from '../stored/former-identifiers.ts';
import type { ReadModelFormat } from './read-model.ts';
import { openColumnRefresh } from './refresh-read-model.ts';
import { openRowStore, type StoreDependencies } from './row-store.ts';
import { LOAN_OWNER, LOAN_ROW, PAYMENT_OWNER, PAYMENT_ROW } from './rows.ts';

// Lists of loans and payments: those of a person, member, loan, reference or time of change use the index of
// that filter, others the count index.

const LOANS: ListRows = { table: 'loans', alias: 'l', select: LOAN_ROW, joins: LOAN_OWNER, asTuples: false };
const PAYMENTS: ListRows = {
  table: 'payments',
  alias: 'p',
  select: PAYMENT_ROW,
  joins: PAYMENT_OWNER,
  asTuples: false,
};

interface Few {
  readonly cooperatives: string | null;
  readonly status: string | null;
  readonly reference: string | null;
  readonly since: number | null;
}

const toFew = (groups: Groups, { status, reference, updatedSince }: LoanFilter | PaymentFilter): Few => ({
  cooperatives: toGroupsParameter(groups),
  status: status ?? null,
  reference: reference ?? null,
  since: updatedSince ?? null,
});

const isLike = (row: string): string => `(@status IS NULL OR ${row}.status = @status)
  AND (@reference IS NULL OR ${row}.reference = @reference)
  AND (@since IS NULL OR ${row}.updated_at >= @since)`;
// A payment has the cooperative of its loan, so payments are read from their index only.
const isWanted = (row: string): string => `${isInGroupsSql('l.cooperative_id')} AND ${isLike(row)}`;
const LOANS_OF_PERSON = `members m INDEXED BY members_person
  CROSS JOIN loans l INDEXED BY loans_member ON l.member_id = m.id`;
const IS_PERSON = `m.identity_card = ${currentNumberSql('@identityCard')}`;
const OF_LOAN = 'payments p INDEXED BY payments_loan ON p.loan_id = l.id';

/** Both indexes begin with the cooperative: they are searched once for each of a few thousand. */
const COOPERATIVES = 'json_each(coalesce(@cooperatives, (SELECT json_group_array(id) FROM cooperatives))) g';
/** A longer list is refused: counting and sorting it must not cost more on a larger registry. */
const MOST_UPDATED = 10_000;

/**
 * @returns a function that gives a page of the rows with a reference, or changed since a moment; undefined if
 *   neither filter is set. It throws RegistryError `invalid` if too many rows were changed.
 */
function openChanged<Row>(db: Connection, listed: ListRows) {
  const { table, alias } = listed;
  const by = (index: string, condition: string): string => `FROM ${COOPERATIVES} CROSS JOIN ${table} ${alias}
    INDEXED BY ${table}_${index} ON ${alias}.cooperative_id = g.value AND ${alias}.${condition}`;
  const open = (rows: string, bound: string) =>
    openFewRows<Row, Few>(db, listed, `SELECT ${alias}.id AS id ${rows} WHERE ${isLike(alias)}`, bound);
  const updated = by('updated', 'updated_at >= @since');
  const atMost = `at most ${MOST_UPDATED} rows of a few thousand cooperatives`;
  const ofReference = open(by('reference', 'reference = @reference'), 'one row of each cooperative');
  const ofUpdated = open(updated, atMost);
  const countUpdated = db.prepare<[Few], { count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 ${updated} LIMIT ${MOST_UPDATED + 1})`,
    atMost,
  );
  return (few: Few, request: PageRequest): Page<Row> | undefined => {
    if (few.reference !== null) return ofReference(few, request);
    if (few.since === null) return undefined;
    if ((countUpdated.get(few) as { count: number }).count > MOST_UPDATED)
      refuseFields({ updated_since: ['More than 10,000 have changed since then. Follow /events instead.'] });
    return ofUpdated(few, request);
  };
}

function openLoanLists(db: Connection) {
  const ofPerson = openFewRows<LoanRecord, Few & { identityCard: string; memberId: number | null }>(
    db,
    LOANS,
    `SELECT l.id AS id FROM ${LOANS_OF_PERSON}
     WHERE ${IS_PERSON} AND (@memberId IS NULL OR m.id = @memberId) AND ${isWanted('l')}`,
    'the loans of one person',
  );
  const ofMember = openFewRows<LoanRecord, Few & { memberId: number }>(
    db,
    LOANS,
    `SELECT l.id AS id FROM loans l INDEXED BY loans_member
     WHERE l.member_id = @memberId AND ${isWanted('l')}`,
    'the loans of one member',
  );
  const changed = openChanged<LoanRecord>(db, LOANS);
  const counted = openCountedList<LoanRecord>(db, LOANS, LOAN_COUNTS, LOAN_STATUSES);

  return (filter: LoanFilter, request: PageRequest, visible: Visible): Page<LoanRecord> => {
    const { identityCard, memberId, cooperativeId, status } = filter;
    const groups = visibleGroups(visible, cooperativeId);
    const few = toFew(groups, filter);
    if (identityCard !== undefined)
      return ofPerson({ ...few, identityCard, memberId: memberId ?? null }, request);
    if (memberId !== undefined) return ofMember({ ...few, memberId }, request);
    return changed(few, request) ?? counted({ groups, value: status }, request);
  };
}

function openPaymentLists(db: Connection) {
  const ofPerson = openFewRows<PaymentRecord, Few & { identityCard: string }>(
    db,
    PAYMENTS,
    `SELECT p.id AS id FROM ${LOANS_OF_PERSON} CROSS JOIN ${OF_LOAN} WHERE ${IS_PERSON} AND ${isWanted('p')}`,
    'the payments of one person',
  );
  const ofLoan = openFewRows<PaymentRecord, Few & { loanId: number; identityCard: string | null }>(
    db,
    PAYMENTS,
    `SELECT p.id AS id FROM loans l CROSS JOIN members m ON m.id = l.member_id CROSS JOIN ${OF_LOAN}
     WHERE l.id = @loanId AND ${isWanted('p')} AND (@identityCard IS NULL OR ${IS_PERSON})`,
    'the payments of one loan',
  );
  const changed = openChanged<PaymentRecord>(db, PAYMENTS);
  const counted = openCountedList<PaymentRecord>(db, PAYMENTS, PAYMENT_COUNTS, PAYMENT_STATUSES);

  return (filter: PaymentFilter, request: PageRequest, visible: Visible): Page<PaymentRecord> => {
    const { identityCard, loanId, cooperativeId, status } = filter;
    const groups = visibleGroups(visible, cooperativeId);
    const few = toFew(groups, filter);
    if (loanId !== undefined) return ofLoan({ ...few, loanId, identityCard: identityCard ?? null }, request);
    if (identityCard !== undefined) return ofPerson({ ...few, identityCard }, request);
    return changed(few, request) ?? counted({ groups, value: status }, request);
  };
}

/** @returns a function that reads one loan, inside a write or a read of the snapshot */
function openLoanReader(db: Connection): (id: number) => LoanRecord | undefined {
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

// Payments: each write also updates the paid amount of the loan, in the same transaction

/** @returns a function that sets the paid amount of a loan, with its history, event and read model */
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

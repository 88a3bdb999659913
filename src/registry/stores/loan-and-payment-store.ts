/** Stores of loans and payments. */

import { type Visible, visibleCooperatives } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { type CountedTable, LOAN_COUNTS, PAYMENT_COUNTS } from '../../sqlite/counts.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import type { ResponseToSave } from '../../sqlite/idempotent-writes.ts';
import {
  isInCooperativesSql,
  type ListRows,
  openCountedList,
  openFewRows,
  toIdsParameter,
} from '../../sqlite/list-pages.ts';
import { type PageRequest, refuseFields } from '../../values/errors.ts';
import { openChangeRecorder } from '../changes/record-changes.ts';
import {
  type LendingFilter,
  LOAN_FIELDS,
  LOAN_STATUSES,
  type LoanFilter,
  type LoanRecord,
  type LoanValues,
} from '../loans.ts';
import {
  PAYMENT_FIELDS,
  PAYMENT_STATUSES,
  type PaymentFilter,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../payments.ts';
import { currentNumberSql } from '../stored/former-ids.ts';
import { transferCheck } from '../stored/transfers.ts';
import { openColumnRefresh, type ReadModelFormat } from './read-model.ts';
import { ifVisible, openRowStore, type StoreDependencies } from './row-store.ts';
import { LOAN_OWNER, LOAN_ROW, PAYMENT_OWNER, PAYMENT_ROW } from './rows.ts';

const LOANS: ListRows = { table: 'loans', alias: 'l', select: LOAN_ROW, joins: LOAN_OWNER, asTuples: false };
const PAYMENTS: ListRows = {
  table: 'payments',
  alias: 'p',
  select: PAYMENT_ROW,
  joins: PAYMENT_OWNER,
  asTuples: false,
};

const LOANS_OF_PERSON = `members m INDEXED BY members_person
  CROSS JOIN loans l INDEXED BY loans_member ON l.member_id = m.id`;
const IS_PERSON = `m.identity_card = ${currentNumberSql('@identityCard')}`;
const OF_LOAN = 'payments p INDEXED BY payments_loan ON p.loan_id = l.id';

/** FROM clause of the cooperatives `g`. The indexes begin with a cooperative, so SQLite searches each one. */
const COOPERATIVES = 'json_each(coalesce(@cooperatives, (SELECT json_group_array(id) FROM cooperatives))) g';
/** Maximum rows of a list with `updatedSince`, because all its rows are counted and sorted for each page. */
const MOST_UPDATED = 10_000;

/** FROM clauses of the members `m`, the loans `l` and, in a list of payments, the payments `p`. */
interface Selective {
  readonly ofIds: string;
  readonly ofPerson: string;
  readonly ofOwner: string;
}

/**
 * @param owner noun for the owner of a row, and SQL of the owner's id
 * @returns a function that returns a page of rows, and throws RegistryError `invalid` if too many rows have
 *   changed since the moment in the filter
 */
function openLists<Row>(
  db: Connection,
  listed: ListRows,
  counts: CountedTable,
  statuses: readonly string[],
  owner: { readonly name: string; readonly id: string },
  { ofIds, ofPerson, ofOwner }: Selective,
) {
  const { table, alias } = listed;
  const isLike = `(@status IS NULL OR ${alias}.status = @status)
    AND (@reference IS NULL OR ${alias}.reference = @reference)
    AND (@since IS NULL OR ${alias}.updated_at >= @since)`;
  // A payment has the same cooperative as its loan. The condition reads the cooperative of the loan, so that
  // SQLite reads payments from their index only.
  const isMatch = `(@owner IS NULL OR ${owner.id} = @owner) AND (@identityCard IS NULL OR ${IS_PERSON})
    AND ${isInCooperativesSql('l.cooperative_id')} AND ${isLike}`;
  const open = (rows: string, bound: string) =>
    openFewRows<Row, object>(db, listed, `SELECT ${alias}.id AS id FROM ${rows}`, bound);
  const by = (index: string, condition: string): string => `${COOPERATIVES} CROSS JOIN ${table} ${alias}
    INDEXED BY ${table}_${index} ON ${alias}.cooperative_id = g.value AND ${alias}.${condition}`;
  const updated = by('updated', 'updated_at >= @since');
  const atMost = `at most ${MOST_UPDATED} rows of a few thousand cooperatives`;
  const countUpdated = db.prepare<[object], { count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${updated} LIMIT ${MOST_UPDATED + 1})`,
    atMost,
  );
  const listOfIds = open(`${ofIds} WHERE ${isMatch}`, `the ${table} with these ids`);
  const listOfPerson = open(`${ofPerson} WHERE ${isMatch}`, `the ${table} of one person`);
  const listOfOwner = open(`${ofOwner} WHERE ${isMatch}`, `the ${table} of one ${owner.name}`);
  const ofReference = by('reference', 'reference = @reference');
  const listOfReference = open(`${ofReference} WHERE ${isLike}`, 'one row of each cooperative');
  const listUpdated = open(`${updated} WHERE ${isLike}`, atMost);
  const listCounted = openCountedList<Row>(db, listed, counts, statuses);

  return (filter: LendingFilter, ownerId: number | undefined, request: PageRequest, visible: Visible) => {
    const { ids, identityCard, cooperativeId, status, reference, updatedSince } = filter;
    const cooperatives = visibleCooperatives(visible, cooperativeId);
    const parameters = {
      ids: toIdsParameter(ids),
      identityCard: identityCard ?? null,
      owner: ownerId ?? null,
      cooperatives: toIdsParameter(cooperatives),
      status: status ?? null,
      reference: reference ?? null,
      since: updatedSince ?? null,
    };
    if (ids !== undefined) return listOfIds(parameters, request);
    if (ownerId !== undefined) return listOfOwner(parameters, request);
    if (identityCard !== undefined) return listOfPerson(parameters, request);
    if (reference !== undefined) return listOfReference(parameters, request);
    if (updatedSince === undefined) return listCounted({ cooperatives, value: status }, request);
    if ((countUpdated.get(parameters) as { count: number }).count > MOST_UPDATED)
      refuseFields({ updated_since: ['More than 10,000 have changed since then. Follow /events instead.'] });
    return listUpdated(parameters, request);
  };
}

const openLoanLists = (db: Connection) => {
  const owner = { name: 'member', id: 'l.member_id' };
  return openLists<LoanRecord>(db, LOANS, LOAN_COUNTS, LOAN_STATUSES, owner, {
    ofIds:
      'json_each(@ids) i CROSS JOIN loans l ON l.id = i.value CROSS JOIN members m ON m.id = l.member_id',
    ofPerson: `${LOANS_OF_PERSON} AND ${IS_PERSON}`,
    ofOwner: `loans l INDEXED BY loans_member
      CROSS JOIN members m ON m.id = l.member_id AND l.member_id = @owner`,
  });
};

const openPaymentLists = (db: Connection) => {
  const owner = { name: 'loan', id: 'l.id' };
  return openLists<PaymentRecord>(db, PAYMENTS, PAYMENT_COUNTS, PAYMENT_STATUSES, owner, {
    ofIds: `json_each(@ids) i CROSS JOIN payments p ON p.id = i.value
      CROSS JOIN loans l ON l.id = p.loan_id CROSS JOIN members m ON m.id = l.member_id`,
    ofPerson: `${LOANS_OF_PERSON} AND ${IS_PERSON} CROSS JOIN ${OF_LOAN}`,
    ofOwner: `loans l CROSS JOIN members m ON m.id = l.member_id AND l.id = @owner CROSS JOIN ${OF_LOAN}`,
  });
};

const openLoanReader = (db: Connection) =>
  db.prepare<[id: number], LoanRecord>(`${LOAN_ROW} FROM loans l ${LOAN_OWNER} WHERE l.id = ?`);

/** A new loan may not begin after the transfer of its member to another cooperative. */
function beginningElsewhere({ zone }: ReadModelFormat) {
  const check = transferCheck('loans', zone, { memberId: '@member_id', at: '@loan_start_date' });
  return { ...check, sql: `SELECT 1 WHERE @exceptId IS NULL AND EXISTS (${check.sql})` };
}

export function openLoans(db: Connection, dependencies: StoreDependencies) {
  const { snapshot, format } = dependencies;
  const refreshLoanHistory = openColumnRefresh(db, format, 'loans');
  const list = openLoanLists(db);
  const selectCooperative = db.prepare<[number], { cooperativeId: number }>(
    'SELECT cooperative_id AS cooperativeId FROM members WHERE id = ?',
  );
  const select = openLoanReader(db);
  const rows = openRowStore<LoanRecord, LoanValues>(db, dependencies, {
    entity: 'loans',
    fields: LOAN_FIELDS,
    otherConflict: beginningElsewhere(format),
    find: (id, visible) => ifVisible(select.get(id), visible),
    complete: ({ memberId }) => ({
      ...selectCooperative.get(memberId),
      paidAmountMinor: 0,
      openingBalanceMinor: 0,
    }),
    follow: ({ memberId }, nowSeconds) => refreshLoanHistory(memberId, nowSeconds),
  });
  return (visible: Visible) => ({
    ...rows.narrowedTo(visible),
    list: (filter: LoanFilter, request: PageRequest) =>
      snapshot.read(() => list(filter, filter.memberId, request, visible)),
  });
}

// Payments. Each write also updates the paid amount of the loan in the same transaction.

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
    history.changed(loan, change, nowSeconds, actor);
    refreshLoanHistory(loan.memberId, nowSeconds);
  };
}

export function openPayments(db: Connection, dependencies: StoreDependencies) {
  const { snapshot, writes, format } = dependencies;
  const list = openPaymentLists(db);
  const selectLoan = openLoanReader(db);
  const setPaidAmount = openPaidAmount(db, format);
  const select = db.prepare<[number], PaymentRecord>(
    `${PAYMENT_ROW} FROM payments p ${PAYMENT_OWNER} WHERE p.id = ?`,
  );
  const rows = openRowStore<PaymentRecord, PaymentValues>(db, dependencies, {
    entity: 'payments',
    fields: PAYMENT_FIELDS,
    find: (id, visible) => ifVisible(select.get(id), visible),
  });

  return (visible: Visible) => {
    const { find, conflicts } = rows.narrowedTo(visible);
    return {
      find,
      conflicts,
      list: (filter: PaymentFilter, request: PageRequest) =>
        snapshot.read(() => list(filter, filter.loanId, request, visible)),

      /**
       * @param decide called in the transaction; returns the values to store, or throws RegistryError
       * @throws RegistryError `invalid` for a conflict, or if the paid amount would be too large
       */
      create: (
        submitted: PaymentValues,
        decide: (loan: LoanRecord) => PaymentValues,
        nowSeconds: number,
        actor: Actor,
        keep?: ResponseToSave<PaymentRecord> | undefined,
      ) =>
        writes.create(keep, nowSeconds, () => {
          refuseFields(conflicts(submitted));
          const loan = selectLoan.get(submitted.loanId) as LoanRecord;
          const values = decide(loan);
          const paidMinor = paidAfter(loan, undefined, values);
          const payment = rows.insert({ ...values, cooperativeId: loan.cooperativeId }, nowSeconds, actor);
          setPaidAmount(loan, paidMinor, nowSeconds, actor);
          return payment;
        }),

      update: (
        id: number,
        decide: (stored: PaymentRecord, loan: LoanRecord) => PaymentValues,
        nowSeconds: number,
        actor: Actor,
      ) =>
        writes.update(nowSeconds, () => {
          let setPaid = () => {};
          const decideWithLoan = (stored: PaymentRecord) => {
            const loan = selectLoan.get(stored.loanId) as LoanRecord;
            const values = decide(stored, loan);
            const paidMinor = paidAfter(loan, stored, values);
            setPaid = () => setPaidAmount(loan, paidMinor, nowSeconds, actor);
            return values;
          };
          const payment = rows.update(id, visible, decideWithLoan, nowSeconds, actor);
          setPaid();
          return payment;
        }),
    };
  };
}

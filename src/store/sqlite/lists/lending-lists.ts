/**
 * Lists of loans and payments: of a person, a member, a loan, a reference or a moment by their index, others
 * by the count index.
 */

import { type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import { LOAN_STATUSES, type LoanFilter, type LoanRecord } from '../../../domain/lending/loans.ts';
import {
  PAYMENT_STATUSES,
  type PaymentFilter,
  type PaymentRecord,
} from '../../../domain/lending/payments.ts';
import { refuseFields } from '../../../domain/values/errors.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/former-keys.ts';
import { LOAN_OWNER, LOAN_ROW, PAYMENT_OWNER, PAYMENT_ROW } from '../rows/rows.ts';
import { LOAN_COUNTS, PAYMENT_COUNTS } from '../schema/counts.ts';
import {
  type Groups,
  isInGroupsSql,
  type ListRows,
  openCountedList,
  openFewRows,
  toGroupsParameter,
} from './list-pages.ts';

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
// The cooperative of a payment is that of its loan, so that payments are read from their index only.
const isWanted = (row: string): string => `${isInGroupsSql('l.cooperative_id')} AND ${isLike(row)}`;
const LOANS_OF_PERSON = `members m INDEXED BY members_person
  CROSS JOIN loans l INDEXED BY loans_member ON l.member_id = m.id`;
const IS_PERSON = `m.identity_card = ${currentNumberSql('@identityCard')}`;
const OF_LOAN = 'payments p INDEXED BY payments_loan ON p.loan_id = l.id';

/** Both indexes begin with the cooperative: a few thousand are looked at, one after the other. */
const COOPERATIVES = 'json_each(coalesce(@cooperatives, (SELECT json_group_array(id) FROM cooperatives))) g';
/** More are refused: neither counting nor sorting them may cost more on a larger registry. */
const MOST_UPDATED = 10_000;

/**
 * @returns what gives a page of the rows of a reference, or that were changed since a moment; undefined when
 * neither is asked for. It throws RegistryError `invalid` when too many were changed.
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

export function openLoanLists(db: Connection) {
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

export function openPaymentLists(db: Connection) {
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

/** Lists of loans: those of a person or member are found by index, all others by the count index. */
import { type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import { LOAN_STATUSES, type LoanFilter, type LoanRecord } from '../../../domain/lending/loans.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/former-keys.ts';
import { LOAN_OWNER, LOAN_ROW } from '../rows/loan-rows.ts';
import { LOAN_COUNTS } from './counted-tables.ts';
import { isInGroupsSql, toGroupsParameter } from './groups.ts';
import { type ListRows, openCountedList, openFewRows } from './list-pages.ts';

const LOANS: ListRows = {
  table: 'loans',
  alias: 'l',
  select: LOAN_ROW,
  joins: LOAN_OWNER,
  asTuples: false,
};

interface Few {
  readonly cooperatives: string | null;
  readonly status: string | null;
}

const OTHERS = `${isInGroupsSql('l.cooperative_id')}
  AND (@status IS NULL OR l.status = @status)`;

export function openLoanLists(db: Connection) {
  const ofPerson = openFewRows<LoanRecord, Few & { identityCard: string; memberId: number | null }>(
    db,
    LOANS,
    `SELECT l.id AS id FROM members m INDEXED BY members_person CROSS JOIN loans l INDEXED BY loans_member
       ON l.member_id = m.id
     WHERE m.identity_card = ${currentNumberSql('@identityCard')}
       AND (@memberId IS NULL OR m.id = @memberId) AND ${OTHERS}`,
    'the loans of one person',
  );
  const ofMember = openFewRows<LoanRecord, Few & { memberId: number }>(
    db,
    LOANS,
    `SELECT l.id AS id FROM loans l INDEXED BY loans_member WHERE l.member_id = @memberId AND ${OTHERS}`,
    'the loans of one member',
  );
  const { counts, list: listCounted } = openCountedList<LoanRecord>(db, LOANS, LOAN_COUNTS, LOAN_STATUSES);

  function list(filter: LoanFilter, request: PageRequest, visible: Visible): Page<LoanRecord> {
    const { identityCard, memberId, cooperativeId, status } = filter;
    const groups = visibleGroups(visible, cooperativeId);
    const few = { cooperatives: toGroupsParameter(groups), status: status ?? null };
    if (identityCard !== undefined)
      return ofPerson({ ...few, identityCard, memberId: memberId ?? null }, request);
    if (memberId !== undefined) return ofMember({ ...few, memberId }, request);
    return listCounted({ groups, value: status }, request);
  }

  return { counts, list };
}

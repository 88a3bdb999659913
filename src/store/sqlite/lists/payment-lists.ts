/** Lists of payments: those of a person or loan are found by index, all others by the count index. */

import { type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import {
  PAYMENT_STATUSES,
  type PaymentFilter,
  type PaymentRecord,
} from '../../../domain/lending/payments.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/former-keys.ts';
import { PAYMENT_OWNER, PAYMENT_ROW } from '../rows/payment-rows.ts';
import { PAYMENT_COUNTS } from './counted-tables.ts';
import { isInGroupsSql, toGroupsParameter } from './groups.ts';
import { type ListRows, openCountedList, openFewRows } from './list-pages.ts';

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
}

// The cooperative is that of the loan, so the payments are read from their index only.
const OTHERS = `${isInGroupsSql('l.cooperative_id')}
  AND (@status IS NULL OR p.status = @status)`;
const OF_LOAN = 'payments p INDEXED BY payments_loan ON p.loan_id = l.id';

export function openPaymentLists(db: Connection) {
  const ofPerson = openFewRows<PaymentRecord, Few & { identityCard: string }>(
    db,
    PAYMENTS,
    `SELECT p.id AS id FROM members m INDEXED BY members_person
       CROSS JOIN loans l INDEXED BY loans_member ON l.member_id = m.id CROSS JOIN ${OF_LOAN}
     WHERE m.identity_card = ${currentNumberSql('@identityCard')} AND ${OTHERS}`,
    'the payments of one person',
  );
  const ofLoan = openFewRows<PaymentRecord, Few & { loanId: number; identityCard: string | null }>(
    db,
    PAYMENTS,
    `SELECT p.id AS id FROM loans l CROSS JOIN members m ON m.id = l.member_id CROSS JOIN ${OF_LOAN}
     WHERE l.id = @loanId AND ${OTHERS}
       AND (@identityCard IS NULL OR m.identity_card = ${currentNumberSql('@identityCard')})`,
    'the payments of one loan',
  );
  const { counts, list: listCounted } = openCountedList<PaymentRecord>(
    db,
    PAYMENTS,
    PAYMENT_COUNTS,
    PAYMENT_STATUSES,
  );

  function list(filter: PaymentFilter, request: PageRequest, visible: Visible): Page<PaymentRecord> {
    const { identityCard, loanId, cooperativeId, status } = filter;
    const groups = visibleGroups(visible, cooperativeId);
    const few = { cooperatives: toGroupsParameter(groups), status: status ?? null };
    if (loanId !== undefined) return ofLoan({ ...few, loanId, identityCard: identityCard ?? null }, request);
    if (identityCard !== undefined) return ofPerson({ ...few, identityCard }, request);
    return listCounted({ groups, value: status }, request);
  }

  return { counts, list };
}

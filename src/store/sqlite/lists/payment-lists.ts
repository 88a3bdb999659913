/** Lists of payments: those of a person or loan are found by index, all others by the count index. */

import {
  PAYMENT_STATUSES,
  type PaymentFilter,
  type PaymentRecord,
} from '../../../domain/lending/payments.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/redirects.ts';
import { PAYMENT_OWNER, PAYMENT_ROW } from '../rows/payment-rows.ts';
import { PAYMENT_COUNTS } from './counted-tables.ts';
import { openEntryPages, pageOfIds } from './entry-pages.ts';

interface Few {
  cooperativeId: number | null;
  status: string | null;
}

// The cooperative is that of the loan, so the payments are read from their index only.
const OTHERS = `(@cooperativeId IS NULL OR l.cooperative_id = @cooperativeId)
  AND (@status IS NULL OR p.status = @status)`;
const OF_LOAN = 'payments p INDEXED BY payments_loan ON p.loan_id = l.id';

export function openPaymentLists(db: Connection) {
  const { counts, page } = openEntryPages(db, PAYMENT_COUNTS, PAYMENT_STATUSES);
  const ofPerson = db.prepareTuples<[Few & { identityCard: string }], readonly [number]>(
    `SELECT p.id FROM members m INDEXED BY members_person
       CROSS JOIN loans l INDEXED BY loans_member ON l.member_id = m.id CROSS JOIN ${OF_LOAN}
     WHERE m.identity_card = ${currentNumberSql('@identityCard')} AND ${OTHERS} ORDER BY p.id`,
    'the payments of one person',
  );
  const ofLoan = db.prepareTuples<[Few & { loanId: number; identityCard: string | null }], readonly [number]>(
    `SELECT p.id FROM loans l CROSS JOIN members m ON m.id = l.member_id CROSS JOIN ${OF_LOAN}
     WHERE l.id = @loanId AND ${OTHERS}
       AND (@identityCard IS NULL OR m.identity_card = ${currentNumberSql('@identityCard')})
     ORDER BY p.id`,
    'the payments of one loan',
  );
  const rows = db.prepare<[ids: string], PaymentRecord>(
    `${PAYMENT_ROW} FROM json_each(?) page CROSS JOIN payments p ON p.id = page.value ${PAYMENT_OWNER}
     ORDER BY p.id`,
    'one page',
  );

  function idsOf({ identityCard, loanId, cooperativeId, status }: PaymentFilter, request: PageRequest) {
    const few = { cooperativeId: cooperativeId ?? null, status: status ?? null };
    if (loanId !== undefined)
      return pageOfIds(ofLoan.all({ ...few, loanId, identityCard: identityCard ?? null }), request);
    if (identityCard !== undefined) return pageOfIds(ofPerson.all({ ...few, identityCard }), request);
    return page({ group: cooperativeId, value: status }, request);
  }

  return {
    counts,
    list(filter: PaymentFilter, request: PageRequest): Page<PaymentRecord> {
      const { count, ids } = idsOf(filter, request);
      return { count, rows: rows.all(JSON.stringify(ids)) };
    },
  };
}

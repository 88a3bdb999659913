/** Lists of loans: those of a person or member are found by index, all others by the count index. */
import { LOAN_STATUSES, type LoanFilter, type LoanRecord } from '../../../domain/lending/loans.ts';
import type { Page, PageRequest } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/redirects.ts';
import { LOAN_OWNER, LOAN_ROW } from '../rows/loan-rows.ts';
import { LOAN_COUNTS } from './counted-tables.ts';
import { openEntryPages, pageOfIds } from './entry-pages.ts';

interface Few {
  cooperativeId: number | null;
  status: string | null;
}

const OTHERS = `(@cooperativeId IS NULL OR l.cooperative_id = @cooperativeId)
  AND (@status IS NULL OR l.status = @status)`;

export function openLoanLists(db: Connection) {
  const { counts, page } = openEntryPages(db, LOAN_COUNTS, LOAN_STATUSES);
  const ofPerson = db.prepareTuples<
    [Few & { identityCard: string; memberId: number | null }],
    readonly [number]
  >(
    `SELECT l.id FROM members m INDEXED BY members_person CROSS JOIN loans l INDEXED BY loans_member
       ON l.member_id = m.id
     WHERE m.identity_card = ${currentNumberSql('@identityCard')}
       AND (@memberId IS NULL OR m.id = @memberId) AND ${OTHERS}
     ORDER BY l.id`,
    'the loans of one person',
  );
  const ofMember = db.prepareTuples<[Few & { memberId: number }], readonly [number]>(
    `SELECT l.id FROM loans l INDEXED BY loans_member WHERE l.member_id = @memberId AND ${OTHERS}
     ORDER BY l.id`,
    'the loans of one member',
  );
  const rows = db.prepare<[ids: string], LoanRecord>(
    `${LOAN_ROW} FROM json_each(?) page CROSS JOIN loans l ON l.id = page.value ${LOAN_OWNER} ORDER BY l.id`,
    'one page',
  );

  function idsOf({ identityCard, memberId, cooperativeId, status }: LoanFilter, request: PageRequest) {
    const few = { cooperativeId: cooperativeId ?? null, status: status ?? null };
    if (identityCard !== undefined)
      return pageOfIds(ofPerson.all({ ...few, identityCard, memberId: memberId ?? null }), request);
    if (memberId !== undefined) return pageOfIds(ofMember.all({ ...few, memberId }), request);
    return page({ group: cooperativeId, value: status }, request);
  }

  return {
    counts,
    list(filter: LoanFilter, request: PageRequest): Page<LoanRecord> {
      const { count, ids } = idsOf(filter, request);
      return { count, rows: rows.all(JSON.stringify(ids)) };
    },
  };
}

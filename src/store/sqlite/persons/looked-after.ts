/** Members and loans of a cooperative that somebody should look after: read page by page, for the desk. */
import { offsetOf, type Page, type PageRequest } from '../../../domain/values/page.ts';
import type { FoundMember, LateLoan } from '../../contract/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';

const MEMBER = 'm.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName';

const WITHOUT_DELIVERY = `FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
  WHERE m.cooperative_id = ? AND m.status = 'active' AND NOT EXISTS
    (SELECT 1 FROM main.production_entries p WHERE p.member_id = m.id AND p.delivered_at >= ?)`;

const LATE = `FROM main.loans l CROSS JOIN main.members m ON m.id = l.member_id
  CROSS JOIN main.cooperatives c ON c.id = l.cooperative_id
  WHERE l.cooperative_id = ? AND l.status IN ('approved', 'defaulted') AND l.loan_end_date < ?
    AND l.paid_amount_minor < l.amount_minor`;

export const listWithoutDelivery = (
  db: Connection,
  cooperativeId: number,
  since: number,
  request: PageRequest,
): Page<FoundMember> =>
  onePage(db, `SELECT ${MEMBER}`, WITHOUT_DELIVERY, 'm.id', [cooperativeId, since], request);

export const listLateLoans = (
  db: Connection,
  cooperativeId: number,
  at: number,
  request: PageRequest,
): Page<LateLoan> =>
  onePage(
    db,
    `SELECT ${MEMBER}, l.reference, l.amount_minor AS amountMinor, l.paid_amount_minor AS paidAmountMinor,
       l.loan_end_date AS endDate`,
    LATE,
    'l.loan_end_date, l.id',
    [cooperativeId, at],
    request,
  );

/** Of one cooperative, so that all of it may be read. */
const onePage = <Row>(
  db: Connection,
  select: string,
  from: string,
  order: string,
  given: readonly number[],
  request: PageRequest,
): Page<Row> =>
  db.transaction.deferred(() => ({
    count: db.value<number>(`SELECT count(*) ${from}`, [...given]),
    rows: db.rows<Row>(`${select} ${from} ORDER BY ${order} LIMIT ? OFFSET ?`, [
      ...given,
      request.pageSize,
      offsetOf(request),
    ]),
  }));

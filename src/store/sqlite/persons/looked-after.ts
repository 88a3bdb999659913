/** Rows of a cooperative, page by page, for the desk: what was recorded, and what should be looked after. */
import { offsetOf, type Page } from '../../../domain/values/page.ts';
import type {
  FoundMember,
  LateLoan,
  OrderedRequest,
  RecordedKind,
  RecordedRow,
  RowOrder,
} from '../../contract/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { joinOwnedSql, memberSql, tableOf } from '../schema/tables.ts';

interface Listed {
  /** Of the rows `e`. */
  readonly table: string;
  /** FROM of the rows that are counted and put in order, of one cooperative: as little as that takes. */
  readonly from: string;
  /** SQL of the member of a row. */
  readonly member: string;
  /** Beside those of the member. */
  readonly columns: readonly string[];
  /** Unless another one is asked for. */
  readonly order: string;
  readonly orders: { readonly [order in RowOrder]?: string };
}

const WITHOUT_DELIVERY: Listed = {
  table: 'members',
  from: `main.members e WHERE e.cooperative_id = @cooperativeId AND e.status = 'active' AND NOT EXISTS
    (SELECT 1 FROM main.production_entries p WHERE p.member_id = e.id AND p.delivered_at >= @at)`,
  member: 'e.id',
  columns: [],
  order: 'e.id',
  orders: {},
};

const LATE_LOANS: Listed = {
  table: 'loans',
  from: `main.loans e WHERE e.cooperative_id = @cooperativeId AND e.status IN ('approved', 'defaulted')
    AND e.loan_end_date < @at AND e.paid_amount_minor < e.amount_minor`,
  member: 'e.member_id',
  columns: [
    'e.reference',
    'e.amount_minor AS amountMinor',
    'e.paid_amount_minor AS paidAmountMinor',
    'e.loan_end_date AS endDate',
  ],
  order: 'e.loan_end_date, e.id',
  orders: {
    day: 'e.loan_end_date DESC',
    amount: 'e.amount_minor DESC',
    left: 'e.amount_minor - e.paid_amount_minor DESC',
    reference: 'e.reference',
  },
};

const LOAN = '(SELECT reference FROM main.loans WHERE id = e.loan_id)';

const RECORDED: {
  readonly [kind in RecordedKind]: { readonly [value in 'at' | 'what' | 'amount' | 'loan']: string };
} = {
  production: { at: 'e.delivered_at', what: 'e.product', amount: 'e.grams', loan: 'NULL' },
  savings: {
    at: 'e.transacted_at',
    what: 'e.kind',
    amount: "iif(e.kind = 'withdrawal', -e.amount_minor, e.amount_minor)",
    loan: 'NULL',
  },
  loans: { at: 'e.loan_start_date', what: 'e.status', amount: 'e.amount_minor', loan: 'NULL' },
  payments: {
    at: 'e.paid_at',
    what: "iif(e.status = 'void', e.status, e.method)",
    amount: 'e.amount_minor',
    loan: LOAN,
  },
};

/** The index is named: the newest rows could also be found by walking those of all cooperatives. */
function recorded(kind: RecordedKind, isOfMember: boolean): Listed {
  const { table } = tableOf(kind);
  const { at, what, amount, loan } = RECORDED[kind];
  return {
    table,
    from: isOfMember
      ? `main.members m INDEXED BY members_code ${joinOwnedSql(kind)}
         WHERE m.cooperative_id = @cooperativeId AND m.member_code = @memberCode`
      : `main.${table} e INDEXED BY ${table}_reference WHERE e.cooperative_id = @cooperativeId`,
    member: memberSql(kind, 'e'),
    columns: [
      'CAST(e.id AS TEXT) AS rowId',
      'e.reference',
      `${at} AS at`,
      `${what} AS what`,
      `${amount} AS amount`,
      `${loan} AS loan`,
    ],
    order: 'e.id DESC',
    orders: {
      day: `${at} DESC`,
      what: `${what} COLLATE NOCASE NULLS LAST`,
      amount: `${amount} DESC`,
      reference: 'e.reference',
      loan,
    },
  };
}

export const listWithoutDelivery = (
  db: Connection,
  cooperativeId: number,
  at: number,
  request: OrderedRequest,
): Page<FoundMember> => onePage(db, WITHOUT_DELIVERY, { cooperativeId, at }, request);

export const listLateLoans = (
  db: Connection,
  cooperativeId: number,
  at: number,
  request: OrderedRequest,
): Page<LateLoan> => onePage(db, LATE_LOANS, { cooperativeId, at }, request);

export const listRecorded = (
  db: Connection,
  kind: RecordedKind,
  cooperativeId: number,
  memberCode: string | undefined,
  request: OrderedRequest,
): Page<RecordedRow> =>
  onePage(db, recorded(kind, memberCode !== undefined), { cooperativeId, memberCode }, request);

/** All of a cooperative is counted and put in order; only rows of the page are read with their members. */
function onePage<Row>(
  db: Connection,
  { table, from, member, columns, order, orders }: Listed,
  given: { readonly [name: string]: number | string | undefined },
  request: OrderedRequest,
): Page<Row> {
  const ofMember = (column: string) => `(SELECT ${column} FROM main.members WHERE id = ${member})`;
  const ways: Listed['orders'] = {
    name: `${ofMember('full_name')} COLLATE NOCASE`,
    // M-2 is before M-10.
    code: `length(${ofMember('member_code')}), ${ofMember('member_code')}`,
    ...orders,
  };
  const asked = request.order && ways[request.order];
  const inOrder = `ORDER BY ${asked === undefined ? '' : `${asked}, `}${order}`;
  const page = `SELECT e.id FROM ${from} ${inOrder} LIMIT @limit OFFSET @offset`;
  const shown = [
    ...['m.id', 'c.code AS cooperativeCode', 'm.member_code AS memberCode', 'm.full_name AS fullName'],
    ...columns,
  ];
  return db.transaction.deferred(() => ({
    count: db.value<number>(`SELECT count(*) FROM ${from}`, given),
    rows: db.rows<Row>(
      `SELECT ${shown} FROM (${page}) page CROSS JOIN main.${table} e ON e.id = page.id
         CROSS JOIN main.members m ON m.id = ${member}
         CROSS JOIN main.cooperatives c ON c.id = e.cooperative_id ${inOrder}`,
      { ...given, limit: request.pageSize, offset: offsetOf(request) },
    ),
  }));
}

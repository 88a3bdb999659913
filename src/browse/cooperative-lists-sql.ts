/** Statements for lists of a cooperative: recorded rows, members without a delivery, and late loans. */

import { joinOwnedSql, memberSql, tableOf } from '../registry/changes/tables.ts';
import type { EntryKind } from '../registry/entries.ts';
import { FOUND_MEMBER, openStoredDataAnd } from '../registry/stored/stored-data.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Storage } from '../sqlite/storage.ts';
import { offsetOf, type Page, type PageRequest } from '../values/errors.ts';

/** Columns by which users can sort a list: texts ascending, days and amounts descending. */
export const ROW_ORDERS = ['name', 'code', 'day', 'what', 'amount', 'left', 'reference', 'loan'] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

export interface OrderedRequest extends PageRequest {
  readonly order?: RowOrder | undefined;
}

export type RecordedKind = EntryKind | 'payments';

export interface RecordedRow extends FoundMember {
  readonly rowId: string;
  readonly reference: string;
  /** Time of the row in epoch seconds. For a loan, this is the start date, which may be null. */
  readonly at: number | null;
  /** Product, kind of transaction, status of the loan or method of payment; `void` for a void payment. */
  readonly what: string | null;
  /** Grams for a delivery, otherwise minor units. Withdrawals are negative. */
  readonly amount: number;
  /** Reference of the loan of a payment; null for other rows. */
  readonly loan: string | null;
}

interface LateLoan extends FoundMember {
  readonly reference: string;
  readonly amountMinor: number;
  readonly paidAmountMinor: number;
  /** Epoch seconds. */
  readonly endDate: number;
}

interface Listed {
  /** Name of the table that has the alias `e`. */
  readonly table: string;
  /** SQL after FROM, with only the joins that counting and sorting need. */
  readonly from: string;
  /** Expression for the member id. */
  readonly member: string;
  /** Columns after those of the member. */
  readonly columns: string;
  readonly order: string;
  readonly orders: { readonly [order in RowOrder]?: string };
}

const WITHOUT_DELIVERY: Listed = {
  table: 'members',
  from: `main.members e WHERE e.cooperative_id = @cooperativeId AND e.status = 'active' AND NOT EXISTS
    (SELECT 1 FROM main.production_entries p WHERE p.member_id = e.id AND p.delivered_at >= @at)`,
  member: 'e.id',
  columns: '',
  order: 'e.id',
  orders: {},
};

const LATE_LOANS: Listed = {
  table: 'loans',
  from: `main.loans e WHERE e.cooperative_id = @cooperativeId AND e.status IN ('approved', 'defaulted')
    AND e.loan_end_date < @at AND e.paid_amount_minor < e.amount_minor`,
  member: 'e.member_id',
  columns: `, e.reference, e.amount_minor AS amountMinor, e.paid_amount_minor AS paidAmountMinor,
    e.loan_end_date AS endDate`,
  order: 'e.loan_end_date, e.id',
  orders: {
    day: 'e.loan_end_date DESC',
    amount: 'e.amount_minor DESC',
    left: 'e.amount_minor - e.paid_amount_minor DESC',
    reference: 'e.reference',
  },
};

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
    loan: '(SELECT reference FROM main.loans WHERE id = e.loan_id)',
  },
};

/** The index is forced, because the planner might otherwise scan the newest rows of all cooperatives. */
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
    columns: `, CAST(e.id AS TEXT) AS rowId, e.reference, ${at} AS at, ${what} AS what, ${amount} AS amount,
      ${loan} AS loan`,
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

/** Counts and sorts all rows of the list, but reads members only for the rows of the page. */
function onePage<Row>(
  db: Connection,
  { table, from, member, columns, order, orders }: Listed,
  filter: { readonly [name: string]: number | string | undefined },
  request: OrderedRequest,
): Page<Row> {
  const ofMember = (column: string) => `(SELECT ${column} FROM main.members WHERE id = ${member})`;
  const ways: Listed['orders'] = {
    name: `${ofMember('full_name')} COLLATE NOCASE`,
    // By length first, so that M-2 comes before M-10.
    code: `length(${ofMember('member_code')}), ${ofMember('member_code')}`,
    ...orders,
  };
  const way = request.order && ways[request.order];
  const inOrder = `ORDER BY ${way === undefined ? '' : `${way}, `}${order}`;
  const page = `SELECT e.id FROM ${from} ${inOrder} LIMIT @limit OFFSET @offset`;
  return db.transaction.deferred(() => ({
    count: db.value<number>(`SELECT count(*) FROM ${from}`, filter),
    rows: db.rows<Row>(
      `SELECT ${FOUND_MEMBER}${columns}
       FROM (${page}) page CROSS JOIN main.${table} e ON e.id = page.id
         CROSS JOIN main.members m ON m.id = ${member}
         CROSS JOIN main.cooperatives c ON c.id = e.cooperative_id ${inOrder}`,
      { ...filter, limit: request.pageSize, offset: offsetOf(request) },
    ),
  }));
}

export const cooperativeListsOn = (db: Connection) => ({
  /** Lists active members without a delivery since an instant. @param at epoch seconds */
  listWithoutDelivery: (cooperativeId: number, at: number, request: OrderedRequest) =>
    onePage<FoundMember>(db, WITHOUT_DELIVERY, { cooperativeId, at }, request),
  /** Lists unpaid and partly paid loans due before an instant, oldest first. @param at epoch seconds */
  listLateLoans: (cooperativeId: number, at: number, request: OrderedRequest) =>
    onePage<LateLoan>(db, LATE_LOANS, { cooperativeId, at }, request),
  /** Lists rows, last recorded first. @param memberCode limits the list to the rows of one member */
  listRecorded(
    kind: RecordedKind,
    cooperativeId: number,
    memberCode: string | undefined,
    request: OrderedRequest,
  ) {
    const rows = recorded(kind, memberCode !== undefined);
    return onePage<RecordedRow>(db, rows, { cooperativeId, memberCode }, request);
  },
});

export type CooperativeLists = ReturnType<typeof openCooperativeLists>;

/** @throws StorageError `unusable` if there is no registry */
export const openCooperativeLists = (storage: Storage) => openStoredDataAnd(storage, cooperativeListsOn);

/** Declares the counts of rows by status and by block of ids, and checks and completes counts and totals. */
import type { Connection } from './connection.ts';
import {
  addRowsSql,
  column,
  currentSql,
  nextSql,
  one,
  storedSql,
  sumsSql,
  TOTALS,
  type Totals,
} from './declared-totals.ts';

// Row counts of tables. Triggers maintain the counts, like totals (./declared-totals.ts), so that no query
// scans a table to count rows. Lists find the n-th row by the row counts of blocks of ids.

/** Status of an erased person's rows, which no list shows. The API never shows this status. */
export const ERASED_STATUS = 'erased';

/**
 * Numbers of ids in a block. To find a page of all rows, a list adds up the counts of blocks, and then steps
 * over the rows of at most one small block (./list-pages.ts).
 */
export const LARGE_BLOCK = 65_536;
export const SMALL_BLOCK = 512;

/** Table with columns for cooperative and status, by which lists of its rows are filtered. */
export interface CountedTable {
  readonly table: string;
  /** Status of rows that no list shows. */
  readonly excluded: string | undefined;
  /** Counts by status and block. `ofCooperatives` are counts by cooperative, status and large block. */
  readonly large: Totals;
  readonly small: Totals;
  readonly ofCooperatives: Totals;
}

const status = column('status');
const block = (ids: number) => (row: string) => `${row}.id / ${ids}`;
const sums = { rows: one };

export function countedTable(table: string, excluded?: string): CountedTable {
  const name = table.replace(/s$/, '');
  const byBlock = (size: string, ids: number): Totals => ({
    table: `${name}_${size}_blocks`,
    rows: table,
    columns: ['status'],
    key: { block: block(ids), status },
    sums,
  });
  return {
    table,
    excluded,
    large: byBlock('large', LARGE_BLOCK),
    small: byBlock('small', SMALL_BLOCK),
    ofCooperatives: {
      table: `${name}_counts`,
      rows: table,
      columns: ['cooperative_id', 'status'],
      key: { cooperative_id: column('cooperative_id'), status, block: block(LARGE_BLOCK) },
      sums,
    },
  };
}

export const MEMBER_COUNTS = countedTable('members', ERASED_STATUS);
export const LOAN_COUNTS = countedTable('loans');
export const PAYMENT_COUNTS = countedTable('payments');
export const COUNTED_TABLES: readonly CountedTable[] = [MEMBER_COUNTS, LOAN_COUNTS, PAYMENT_COUNTS];

/** Declares the row count of a table that has no paged lists. Updates of rows never change the count. */
const sizeOf = (rows: string, table: string): Totals => ({
  table,
  rows,
  columns: ['id'],
  key: { block: block(LARGE_BLOCK) },
  sums,
});

export const DELIVERY_COUNTS = sizeOf('production_entries', 'production_counts');
export const SAVINGS_COUNTS = sizeOf('savings_transactions', 'savings_counts');

export const COUNTS: readonly Totals[] = [
  ...COUNTED_TABLES.flatMap(({ large, small, ofCooperatives }) => [large, small, ofCooperatives]),
  DELIVERY_COUNTS,
  SAVINGS_COUNTS,
];

/** SELECT of the number of listed rows of a table. @param counts one of `COUNTS` */
export function sizeSql(counts: Totals): string {
  const isListed = 'status' in counts.key ? `status <> '${ERASED_STATUS}'` : 'true';
  return `SELECT coalesce(sum(rows), 0) FROM (${currentSql(counts, isListed)})`;
}

/** Argument for `prepare`: the reason why statements with `activeMembersSql` read few rows. */
export const FEW_BLOCKS = `one row per ${LARGE_BLOCK} ids of a cooperative`;

/** @param cooperative SQL of the cooperative's id */
export const activeMembersSql = (cooperative: string): string => {
  const isCounted = `cooperative_id = ${cooperative} AND status = 'active'`;
  return `((SELECT coalesce(sum(rows), 0) FROM main.${MEMBER_COUNTS.ofCooperatives.table} WHERE ${isCounted})
    + (SELECT count(*) FROM main.members INDEXED BY members_cooperative_status
       WHERE ${isCounted} AND id >= ${nextSql('members')}))`;
};

/** Query that finds one fault. Only `check` may run these queries, because they scan tables. */
export interface CountCheck {
  readonly name: string;
  readonly sql: string;
}

/** SELECT of one row in which the results of two SELECTs differ. */
export const difference = (actual: string, stored: string): string =>
  `SELECT * FROM (SELECT * FROM (${actual}) EXCEPT SELECT * FROM (${stored}))
   UNION ALL SELECT * FROM (SELECT * FROM (${stored}) EXCEPT SELECT * FROM (${actual})) LIMIT 1`;

/** SELECT of a stored sum that differs from the sum computed from the rows. */
export const wrongSumSql = (totals: Totals): string =>
  difference(sumsSql(totals, `r.id < ${nextSql(totals.rows)}`), storedSql(totals));

export const COUNT_CHECKS: readonly CountCheck[] = COUNTS.map((counts) => ({
  name: `counters of ${counts.rows} in ${counts.table}`,
  sql: wrongSumSql(counts),
}));

/** Completes totals and counts: adds the rows of an incomplete batch, and rows for which no trigger ran. */
export function addNewRows(db: Connection, table: string): void {
  const first = db.value<number>(`SELECT ${nextSql(table)}`);
  const last = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  for (const totals of [...TOTALS, ...COUNTS]) if (totals.rows === table) addRows(db, totals, first, last);
  db.run('UPDATE main.batches SET next_id = max(next_id, ?) WHERE table_name = ?', [last + 1, table]);
}

export function addRows(db: Connection, totals: Totals, first: number, last: number): void {
  const add = db.raw.prepare(addRowsSql(totals, 'r.id BETWEEN ? AND ?'));
  for (let id = first; id <= last; id += BATCH) add.run(id, Math.min(id + BATCH - 1, last));
}

/** Maximum number of rows that a statement groups, because SQLite sorts the rows in memory. */
export const BATCH = 50_000;

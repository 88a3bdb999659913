/**
 * How many rows tables have, added up as totals are (./declared-totals.ts), so that no list and no question
 * of size counts them: lists have exact counts, and find the n-th row by the counts of blocks of ids.
 */
import { column, currentSql, nextSql, one, type Totals } from './declared-totals.ts';

/** Of an erased person's rows, which are in no list. Internal: no member of the API has this status. */
export const ERASED_STATUS = 'erased';

/** Ids in a block. A small one is what a page may have to step over. */
export const LARGE_BLOCK = 65_536;
export const SMALL_BLOCK = 512;

/** A table whose rows have a cooperative and a status, and lists that are filtered by these. */
export interface CountedTable {
  readonly table: string;
  /** Rows with this status are in no list. */
  readonly excluded?: string;
  /** Rows by status and block, and inside a cooperative. */
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
    ...(excluded === undefined ? {} : { excluded }),
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

/** Of a table that is not listed, in which an UPDATE moves no row. */
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

/** SQL of how many rows a table has that are in lists. @param counts one of `COUNTS`, by block */
export function sizeSql(counts: Totals): string {
  const isListed = 'status' in counts.key ? `status <> '${ERASED_STATUS}'` : 'true';
  return `SELECT coalesce(sum(rows), 0) FROM (${currentSql(counts, isListed)})`;
}

/** Why the next adds up few rows. */
export const FEW_BLOCKS = `one row per ${LARGE_BLOCK} ids of a cooperative`;

/** SQL of how many active members a cooperative has: asked for many, whose new members have an index. */
export const activeMembersSql = (cooperative: string): string => {
  const isCounted = `cooperative_id = ${cooperative} AND status = 'active'`;
  return `((SELECT coalesce(sum(rows), 0) FROM main.${MEMBER_COUNTS.ofCooperatives.table} WHERE ${isCounted})
    + (SELECT count(*) FROM main.members INDEXED BY members_cooperative_status
       WHERE ${isCounted} AND id >= ${nextSql('members')}))`;
};

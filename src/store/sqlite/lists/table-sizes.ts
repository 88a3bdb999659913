/**
 * Exact numbers of rows of the largest tables, which grow to tens of millions: counting them takes seconds.
 * Triggers keep them, SQL by hand included; the check compares them with the rows.
 */
import type { Connection } from '../engine/connection.ts';
import type { CountCheck } from './count-checks.ts';

export const ROW_COUNTED = ['production_entries', 'loans', 'payments', 'savings_transactions'] as const;
export type RowCountedTable = (typeof ROW_COUNTED)[number];

export const isRowCounted = (table: string): table is RowCountedTable =>
  (ROW_COUNTED as readonly string[]).includes(table);

/** For those who insert rows while the triggers are dropped. @param added in the same transaction */
export function addToRowCount(db: Connection, table: RowCountedTable, added: number): void {
  db.run('UPDATE main.row_counts SET rows = rows + ? WHERE table_name = ?', [added, table]);
}

export const readRowCount = (db: Connection, table: RowCountedTable): number =>
  db.value<number>('SELECT rows FROM main.row_counts WHERE table_name = ?', [table]);

/** Each finds a number that differs. They count all rows, for `check` only. */
export const ROW_COUNT_CHECKS: readonly CountCheck[] = ROW_COUNTED.map((table) => ({
  name: `counter of ${table}`,
  sql: `SELECT * FROM (SELECT (SELECT count(*) FROM ${table}) AS rows,
          (SELECT rows FROM row_counts WHERE table_name = '${table}') AS counted)
        WHERE rows IS NOT counted`,
}));

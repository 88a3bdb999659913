/** The queries by which `check` compares what is counted and added up with the rows. */
import { COUNTS } from '../schema/counts.ts';
import { nextSql, storedSql, sumsSql, type Totals } from '../schema/declared-totals.ts';

/** A query that looks at all rows and finds one fault. It scans tables, for `check` only. */
export interface CountCheck {
  readonly name: string;
  readonly sql: string;
}

/** SELECT of one row that only one of two SELECTs gives. */
export const difference = (actual: string, kept: string): string =>
  `SELECT * FROM (SELECT * FROM (${actual}) EXCEPT SELECT * FROM (${kept}))
   UNION ALL SELECT * FROM (SELECT * FROM (${kept}) EXCEPT SELECT * FROM (${actual})) LIMIT 1`;

/** SELECT of a stored sum that is not that of the rows in it. */
export const wrongSumSql = (totals: Totals): string =>
  difference(sumsSql(totals, `r.id < ${nextSql(totals.rows)}`), storedSql(totals));

export const COUNT_CHECKS: readonly CountCheck[] = COUNTS.map((counts) => ({
  name: `counters of ${counts.rows} in ${counts.table}`,
  sql: wrongSumSql(counts),
}));

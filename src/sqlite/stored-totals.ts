/** Compares the version of the stored totals with the rules, recomputes totals, and checks them. */

import type { TimeZone } from '../values/date-time.ts';
import type { Connection } from './connection.ts';
import { addRows, type CountCheck, wrongSumSql } from './counts.ts';
import { nextSql, RULES_VERSION, TOTALS, TOTALS_VERSION } from './declared-totals.ts';
import { isBusy } from './sqlite-errors.ts';

/** Version of the rules, followed by the time zone in which months and years begin. */
const totalsVersion = ({ suffix }: TimeZone): string => RULES_VERSION + suffix;

export const OTHER_TOTALS =
  'The totals were stored by another release. On the server, run `registry summarize`.';

export const hasTotals = (db: Connection, zone: TimeZone): boolean =>
  db.value(TOTALS_VERSION) === totalsVersion(zone);

/** Recomputes all totals if their version differs. This may take minutes and blocks other writers. */
export function renewTotals(db: Connection, zone: TimeZone): void {
  if (hasTotals(db, zone)) return;
  db.transaction.immediate(() => {
    // Another process may have recomputed the totals meanwhile.
    if (hasTotals(db, zone)) return;
    const version = totalsVersion(zone);
    db.run('UPDATE main.totals_zone SET version = ?, offset_seconds = ?', [version, zone.offsetSeconds]);
    for (const totals of TOTALS) {
      db.exec(`DELETE FROM main.${totals.table}`);
      addRows(db, totals, 1, db.value<number>(`SELECT ${nextSql(totals.rows)}`) - 1);
    }
  });
}

/** Recomputes outdated totals when a registry is opened. While another process writes, does nothing. */
export function renewTotalsUnlessBusy(db: Connection, zone: TimeZone): void {
  try {
    renewTotals(db, zone);
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** Queries that find wrong totals. Totals that were never computed do not count as wrong. */
export const TOTALS_CHECKS: readonly CountCheck[] = TOTALS.map((totals) => ({
  name: `totals of ${totals.rows}`,
  sql: `SELECT * FROM (${wrongSumSql(totals)}) WHERE (${TOTALS_VERSION}) <> ''`,
}));

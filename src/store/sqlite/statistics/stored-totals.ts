/** The stored totals as a set: whether they are those of this release and time zone, and from scratch. */
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { Connection } from '../engine/connection.ts';
import { isBusy } from '../engine/errors.ts';
import { type CountCheck, wrongSumSql } from '../lists/count-checks.ts';
import { COUNTS } from '../schema/counts.ts';
import { addRowsSql, nextSql, TOTALS, type Totals } from '../schema/declared-totals.ts';

/** Raised with what is added up (schema/declared-totals.ts): what others have stored is not used. */
export const RULES_VERSION = '1';

/** Of the rules and the zone in which months and years begin. */
export const totalsVersion = ({ suffix }: TimeZone): string => RULES_VERSION + suffix;

export const TOTALS_VERSION = 'SELECT version FROM main.totals_zone';

export const OTHER_TOTALS = 'The totals are of another release. Run summarize.';

export const hasTotals = (db: Connection, zone: TimeZone): boolean =>
  db.value(TOTALS_VERSION) === totalsVersion(zone);

/**
 * Computes all totals again where they are of other rules, or the registry gets its zone; in a large registry
 * it takes minutes, in which nobody else writes.
 */
export function renewTotals(db: Connection, zone: TimeZone): void {
  if (hasTotals(db, zone)) return;
  db.transaction.immediate(() => {
    if (hasTotals(db, zone)) return;
    db.run('UPDATE main.totals_zone SET version = ?, offset_seconds = ?', [
      ...[totalsVersion(zone), zone.offsetSeconds],
    ]);
    for (const totals of TOTALS) {
      db.exec(`DELETE FROM main.${totals.table}`);
      addRows(db, totals, 1, db.value<number>(`SELECT ${nextSql(totals.rows)}`) - 1);
    }
  });
}

/** The same when a registry is opened; while somebody else writes, it is left to the next one. */
export function renewTotalsUnlessBusy(db: Connection, zone: TimeZone): void {
  try {
    renewTotals(db, zone);
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** Adds the rows of a table that are in no total yet: no trigger saw them, or their batch is not full. */
export function addNewRows(db: Connection, table: string): void {
  const first = db.value<number>(`SELECT ${nextSql(table)}`);
  const last = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  for (const totals of [...TOTALS, ...COUNTS]) if (totals.rows === table) addRows(db, totals, first, last);
  db.run('UPDATE main.batches SET next_id = max(next_id, ?) WHERE table_name = ?', [last + 1, table]);
}

/** So many rows are grouped at once: they are sorted in memory. */
const BATCH = 50_000;

function addRows(db: Connection, totals: Totals, first: number, last: number): void {
  const add = db.raw.prepare(addRowsSql(totals, 'r.id BETWEEN ? AND ?'));
  for (let id = first; id <= last; id += BATCH) add.run(id, Math.min(id + BATCH - 1, last));
}

/** Each finds a total that differs from the sum of all rows; they say nothing while none were added up. */
export const TOTALS_CHECKS: readonly CountCheck[] = TOTALS.map((totals) => ({
  name: `totals of ${totals.rows}`,
  sql: `SELECT * FROM (${wrongSumSql(totals)}) WHERE (${TOTALS_VERSION}) <> ''`,
}));

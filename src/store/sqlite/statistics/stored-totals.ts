/** The stored totals as a set: whether they are those of this release and time zone, and from scratch. */
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { Connection } from '../engine/connection.ts';
import { isBusy } from '../engine/errors.ts';
import { type CountCheck, wrongSumSql } from '../lists/count-checks.ts';
import { COUNTS } from '../schema/counts.ts';
import { addRowsSql, TOTALS, type Totals } from '../schema/declared-totals.ts';

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
      addRows(db, totals, 1);
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

/** What triggers add up. Counts are of no time zone, and never computed again. */
export const ADDED_UP: readonly Totals[] = [...TOTALS, ...COUNTS];

/** Adds new rows whose insert no trigger has seen. @param firstId of theirs */
export function addNewRows(db: Connection, table: string, firstId: number): void {
  for (const totals of ADDED_UP) if (totals.rows === table) addRows(db, totals, firstId);
}

/** So many rows are grouped at once: they are sorted in memory. */
const BATCH = 50_000;

function addRows(db: Connection, totals: Totals, firstId: number): void {
  const add = db.raw.prepare(addRowsSql(totals, 'r.id BETWEEN ? AND ?'));
  const last = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${totals.rows}`);
  for (let id = firstId; id <= last; id += BATCH) add.run(id, id + BATCH - 1);
}

/** Each finds a total that differs from the sum of all rows; they say nothing while none were added up. */
export const TOTALS_CHECKS: readonly CountCheck[] = TOTALS.map((totals) => ({
  name: `totals of ${totals.rows}`,
  sql: `SELECT * FROM (${wrongSumSql(totals)}) WHERE (${TOTALS_VERSION}) <> ''`,
}));

/**
 * The time zone in which rows without a reference are read
 * (docs/import-reference.md#entries-without-a-reference).
 */
import type { TimeZone } from '../../../../domain/values/date-time.ts';
import type { ImportKind } from '../../../contract/import/import-session.ts';
import type { Connection } from '../../engine/connection.ts';
import type { Check } from './check-statements.ts';

const HAS_DERIVED = 'EXISTS (SELECT 1 FROM staging.rows WHERE origin IS NOT NULL)';

/**
 * A day is another instant in another time zone, so that the ledger of before would be another one. Without
 * the imports of before, which can be undone, it is not.
 */
export const otherTimeZone = (kind: ImportKind, { suffix }: TimeZone): Check => ({
  column: 'reference',
  sql: `SELECT 1, 'Rows without a reference were imported in the time zone ' || f.time_zone
      || ', and would count again in ${suffix}. Set TIME_ZONE_OFFSET=' || f.time_zone
      || ' again, or give the rows references.'
    FROM main.operations o CROSS JOIN main.imported_files f ON f.operation_id = o.id
    WHERE o.kind = '${kind}' AND o.undone_at IS NULL AND f.time_zone <> '${suffix}' AND ${HAS_DERIVED}
    LIMIT 1`,
});

/** Keeps the time zone of an import that has such rows. */
export const keepTimeZone = (db: Connection, operationId: number, zone: TimeZone): void =>
  void db.run(`UPDATE main.imported_files SET time_zone = ? WHERE operation_id = ? AND ${HAS_DERIVED}`, [
    zone.suffix,
    operationId,
  ]);

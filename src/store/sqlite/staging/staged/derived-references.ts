/**
 * The references of rows that come without one (docs/import-reference.md#entries-without-a-reference). They
 * are derived from the row as it is written, before anything is looked up: so the same row has the same
 * reference, whatever has become of the member that it names.
 */
import { hash } from 'node:crypto';
import type { ImportKind, StagedRow } from '../../../ports/import/import-session.ts';
import type { Connection } from '../../engine/connection.ts';

/** How such references begin. */
export const DERIVED = 'auto-';
/** Enough of a SHA-256 that no two entries of a country share it by chance. */
const HASH_CHARACTERS = 20;

/** Whether a row of this kind may come without a reference. */
export const hasDerivedReferences = (kind: ImportKind): boolean =>
  kind === 'production' || kind === 'savings';

/**
 * The reference of the first of several equal rows. The last value is the member's name, which may be written
 * otherwise the next time.
 */
export const deriveReference = ({ values, rejectedFrom = '' }: StagedRow): string =>
  DERIVED + hash('sha256', JSON.stringify(values.slice(0, -1)) + rejectedFrom).slice(0, HASH_CHARACTERS);

/** Gives the second of equal rows another reference, and so on. Runs once, when all rows are staged. */
export const numberEqualRows = (db: Connection): void =>
  db.exec(`UPDATE staging.rows AS r SET reference = r.reference || '-' || n.place FROM (
      SELECT line, row_number() OVER (PARTITION BY reference ORDER BY line) AS place FROM staging.rows
      WHERE origin IS NOT NULL AND reference IN (SELECT reference FROM staging.rows
        WHERE origin IS NOT NULL GROUP BY reference HAVING count(*) > 1)) AS n
    WHERE r.line = n.line AND n.place > 1`);

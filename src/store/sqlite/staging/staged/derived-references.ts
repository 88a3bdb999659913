/**
 * The references of rows that come without one (docs/import-reference.md#entries-without-a-reference). They
 * are derived from some columns of the row, before anything is looked up: a row that is read to the same
 * values of these, and was rejected from the same files, has the same reference, whatever has become of the
 * member that it names. Equal rows of a file are numbered.
 */
import { hash } from 'node:crypto';
import { DERIVED_REFERENCE } from '../../../../domain/entries/entries.ts';
import type { ImportKind, StagedRow } from '../../../contract/import/import-session.ts';
import type { Connection } from '../../engine/connection.ts';

/** Enough of a SHA-256 that no two entries of a country share it by chance. */
const HASH_CHARACTERS = 20;

type DerivedKind = 'production' | 'savings';

/**
 * The columns whose values are hashed. Frozen: stored entries have these hashes, and with another column or
 * order, a ledger that comes again would not be recognised as imported, and would count for whoever has its
 * codes by then. The empty reference is among them only because it always was; the member's name is not,
 * which may be written otherwise the next time.
 */
const HASHED: { readonly [kind in DerivedKind]: readonly string[] } = {
  production: [
    'cooperative_code',
    'member_code',
    'identity_card',
    'reference',
    'delivered_at',
    'kg',
    'product',
  ],
  savings: [
    'cooperative_code',
    'member_code',
    'identity_card',
    'account_number',
    'reference',
    'kind',
    'amount',
    'transacted_at',
  ],
};

/** Whether a row of this kind may come without a reference. */
export const hasDerivedReferences = (kind: ImportKind): kind is DerivedKind => kind in HASHED;

/**
 * @param columns of the rows' values, in their order
 * @returns gives the reference of the first of several equal rows
 */
export function openDerivation(
  kind: DerivedKind,
  columns: readonly string[],
): (row: Pick<StagedRow, 'values' | 'rejectedFrom'>) => string {
  const places = HASHED[kind].map((name) => columns.indexOf(name));
  return ({ values, rejectedFrom = '' }) => {
    const hashed = JSON.stringify(places.map((place) => values[place])) + rejectedFrom;
    return DERIVED_REFERENCE + hash('sha256', hashed).slice(0, HASH_CHARACTERS);
  };
}

/** SQL of the reference of one of equal entries. @param first SQL of that of the first @param place SQL */
const referenceSql = (first: string, place: string): string =>
  `iif(${place} = 1, ${first}, ${first} || '-' || ${place})`;

/**
 * SELECT of the reference that another entry gets, equal to those that are stored in `@cooperativeId`, by
 * that of the first of them, `@first`: the first that is free.
 */
export const nextReferenceSql = (table: string): string =>
  `WITH RECURSIVE places (place, reference) AS (
     SELECT 1, @first
     UNION ALL SELECT place + 1, ${referenceSql('@first', '(place + 1)')} FROM places
       WHERE EXISTS (SELECT 1 FROM ${table} t
         WHERE t.cooperative_id = @cooperativeId AND t.reference = places.reference))
   SELECT reference FROM places ORDER BY place DESC LIMIT 1`;

/** Gives the second of equal rows another reference, and so on. Runs once, when all rows are staged. */
export const numberEqualRows = (db: Connection): void =>
  db.exec(`UPDATE staging.rows AS r SET reference = ${referenceSql('r.reference', 'n.place')} FROM (
      SELECT line, row_number() OVER (PARTITION BY reference ORDER BY line) AS place FROM staging.rows
      WHERE origin IS NOT NULL AND reference IN (SELECT reference FROM staging.rows
        WHERE origin IS NOT NULL GROUP BY reference HAVING count(*) > 1)) AS n
    WHERE r.line = n.line AND n.place > 1`);

/**
 * For rows without a reference, finds stored entries of the same member with the same values
 * (docs/import-reference.md#entries-without-a-reference). Each stored entry matches only one row, so two
 * equal rows are two entries.
 */

import { DERIVED_REFERENCE } from '../../registry/entries.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { type FileScope, TARGETS } from '../staging/staging-tables.ts';
import { type Check, where } from './check-statements.ts';

interface Entries {
  /** Column with the id of the owner, in `resolved_references` and in the table of entries. */
  readonly owner: 'member_id' | 'account_id';
  /** File columns that distinguish the entries of an owner. An index covers these columns. */
  readonly values: readonly string[];
  /** SQL expression for the member of an entry `t`. */
  readonly member: string;
  readonly noun: string;
}

const ENTRIES: { readonly [kind in ImportKind]?: Entries } = {
  production: {
    owner: 'member_id',
    values: ['delivered_at', 'kg', 'product'],
    member: 't.member_id',
    noun: 'delivery',
  },
  savings: {
    owner: 'account_id',
    values: ['kind', 'amount', 'transacted_at'],
    member: '(SELECT member_id FROM main.savings_accounts WHERE id = t.account_id)',
    noun: 'transaction',
  },
};

/** Returns an SQL condition on a staged row `r` and a stored entry `t`. */
const isEqual = (kind: ImportKind, values: readonly string[]): string =>
  TARGETS[kind].columns
    .filter(({ from }) => values.includes(from))
    .map(({ from, to }) => `t.${to} IS r.${from}`)
    .join(' AND ');

/**
 * Must be called after rows are resolved by their derived references. A row that was resolved to an entry of
 * another member becomes unresolved again.
 */
export function findEqualEntries({ db, kind, hasDerived }: FileScope): void {
  const entries = ENTRIES[kind];
  db.exec('DELETE FROM staging.entries_of_others; DELETE FROM staging.unmatched');
  if (entries === undefined || !hasDerived) return;
  stageUnmatched(db, kind, entries);
  // Each origin is matched separately: corrected rejects must not match accepted rows of their original file.
  const origins = db.values<string>('SELECT DISTINCT origin FROM staging.unmatched');
  for (const origin of origins) {
    stageTakenEntries(db, kind, origin);
    matchRows(db, kind, entries, origin);
  }
}

/** Unresolves rows that match another member's entry. Then stages unresolved rows with an equal entry. */
function stageUnmatched(db: Connection, kind: ImportKind, { owner, values, member }: Entries): void {
  const { table } = TARGETS[kind];
  db.exec(`INSERT INTO staging.entries_of_others (line)
      SELECT p.line FROM staging.rows r CROSS JOIN staging.resolved_references p ON p.line = r.line
      CROSS JOIN main.${table} t ON t.id = p.id
      WHERE r.origin IS NOT NULL AND ${member} IS NOT p.member_id;
    UPDATE staging.resolved_references SET id = NULL
      WHERE line IN (SELECT line FROM staging.entries_of_others);
    INSERT INTO staging.unmatched (line, origin, owner, first, second, third)
      SELECT r.line, r.origin, p.${owner}, ${values.map((name) => `r.${name}`).join(', ')}
      FROM staging.rows r CROSS JOIN staging.resolved_references p ON p.line = r.line
      WHERE r.origin IS NOT NULL AND p.id IS NULL AND EXISTS (SELECT 1 FROM main.${table} t
        WHERE t.${owner} = p.${owner} AND ${member} = p.member_id AND ${isEqual(kind, values)}
          AND t.reference GLOB '${DERIVED_REFERENCE}*')`);
}

const EQUAL = 'owner, first, second, third';
const place = (order: string): string =>
  `row_number() OVER (PARTITION BY ${EQUAL} ORDER BY ${order}) AS place`;

/** Matches each row of an origin with one equal entry that no other row matches. */
function matchRows(db: Connection, kind: ImportKind, { owner, values }: Entries, origin: string): void {
  db.run(
    `UPDATE staging.resolved_references AS p SET id = found.id FROM (
      WITH wanted AS MATERIALIZED (SELECT *, ${place('line')} FROM staging.unmatched WHERE origin = ?),
      free AS MATERIALIZED (SELECT ${EQUAL}, entry_id, ${place('entry_id')} FROM (
        SELECT w.owner, w.first, w.second, w.third, t.id AS entry_id FROM wanted w
        CROSS JOIN staging.rows r ON r.line = w.line
        CROSS JOIN main.${TARGETS[kind].table} t ON t.${owner} = w.owner AND ${isEqual(kind, values)}
        WHERE w.place = 1 AND t.reference GLOB '${DERIVED_REFERENCE}*'
          AND t.id NOT IN (SELECT id FROM staging.resolved_references WHERE id IS NOT NULL)
          AND t.id > ${LAST_TAKEN}))
      SELECT w.line, f.entry_id AS id FROM wanted w JOIN free f ON f.owner = w.owner AND f.first = w.first
        AND f.second = w.second AND f.third IS w.third AND f.place = w.place) AS found
    WHERE p.line = found.line`,
    [origin],
  );
}

/** SQL expression for the end of the last range of taken ids with a start of at most `t.id`; 0 if none. */
const LAST_TAKEN = `coalesce((SELECT last_row FROM staging.taken_entries WHERE first_row <= t.id
  ORDER BY first_row DESC LIMIT 1), 0)`;

/** Stages the ranges of taken ids: entries that the original files created, or found already stored. */
function stageTakenEntries(db: Connection, kind: ImportKind, origin: string): void {
  db.exec('DELETE FROM staging.taken_entries');
  if (origin === '') return;
  const beginnings = origin.split(' ').map((file) => file.replace('sha256:', ''));
  db.run(
    `WITH rejecting AS MATERIALIZED (SELECT o.id FROM json_each(@beginnings) b
      CROSS JOIN main.imported_files f ON f.sha256 >= b.value AND f.sha256 < b.value || 'g'
      CROSS JOIN main.operations o ON o.id = f.operation_id
      WHERE o.kind = @kind AND o.undone_at IS NULL),
    runs AS (
      SELECT first_row, last_row FROM main.created_rows
        WHERE operation_id IN (SELECT id FROM rejecting) AND entity = @kind
      UNION ALL
      SELECT first_row, last_row FROM main.repeated_rows
        WHERE operation_id IN (SELECT id FROM rejecting)),
    begun AS (SELECT *, first_row > coalesce(max(last_row) OVER (ORDER BY first_row, last_row
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS is_first FROM runs),
    joined AS (SELECT *, sum(is_first) OVER (ORDER BY first_row, last_row) AS run FROM begun)
    INSERT INTO staging.taken_entries SELECT min(first_row), max(last_row) FROM joined GROUP BY run`,
    { beginnings: JSON.stringify(beginnings), kind },
  );
}

/** Records the matched entries for a later import of corrected rejects. */
export const keepRepeatedRows = (db: Connection, operationId: number): void =>
  void db.run(
    `INSERT INTO main.repeated_rows (operation_id, first_row, last_row)
     SELECT ?, min(id), max(id) FROM (
       SELECT id, id - row_number() OVER (ORDER BY id) AS run FROM staging.resolved_references
       WHERE id IS NOT NULL)
     GROUP BY run`,
    [operationId],
  );

export const entryOfAnother = (kind: 'production' | 'savings'): Check =>
  where(
    'reference',
    `This row was imported as a ${ENTRIES[kind]?.noun} of another member. ` +
      `If this row is a different ${ENTRIES[kind]?.noun}, give it its own reference.`,
    'p.id IS NULL AND p.member_id IS NOT NULL',
    'CROSS JOIN staging.entries_of_others o ON o.line = p.line',
  );

/**
 * Rows without a reference → the stored entries that they are: the entries of their member with their values,
 * one by one, so that two equal rows are two entries. What the member and the cooperative are called does not
 * matter, nor what they were called when the entry was imported
 * (docs/import-reference.md#entries-without-a-reference).
 */
import type { ImportKind } from '../../../ports/import-session.ts';
import { TARGETS } from '../../schema/targets.ts';
import { DERIVED } from '../staged/derived-references.ts';
import type { FileScope } from '../staged/file-scope.ts';
import { type Check, where } from './check-statements.ts';

interface Entries {
  /** Reference of a row, and column of an entry, that it belongs to. */
  readonly owner: 'member_id' | 'account_id';
  /** Columns of the file that tell the entries of an owner apart, as far as an index has them. */
  readonly values: readonly string[];
  /** SQL of the member of an entry `t`. */
  readonly member: string;
  /** Of the fault of a row that was imported as an entry of somebody else. */
  readonly name: string;
}

const ENTRIES: { readonly [kind in ImportKind]?: Entries } = {
  production: {
    owner: 'member_id',
    values: ['delivered_at', 'kg', 'product'],
    member: 't.member_id',
    name: 'delivery',
  },
  savings: {
    owner: 'account_id',
    values: ['kind', 'amount', 'transacted_at'],
    member: '(SELECT member_id FROM main.savings_accounts WHERE id = t.account_id)',
    name: 'transaction',
  },
};

/** The stored entry `t` has these values of a row. */
const isEqual = (kind: ImportKind, values: readonly string[], row: string): string =>
  TARGETS[kind].columns
    .filter(({ from }) => values.includes(from))
    .map(({ from, to }) => `t.${to} IS ${row}.${from}`)
    .join(' AND ');

/**
 * Gives rows without a reference the entries that they are. One that was imported as it is written, under the
 * reference derived from that, is that entry already, if it is still one of its member.
 */
export function findEqualEntries({ db, kind }: FileScope): void {
  const entries = ENTRIES[kind];
  if (entries === undefined) return;
  const { owner, values, member } = entries;
  const { table } = TARGETS[kind];
  db.exec(`DELETE FROM staging.entries_of_others; DELETE FROM staging.unmatched;
    INSERT INTO staging.entries_of_others (line)
      SELECT p.line FROM staging.rows r CROSS JOIN staging.resolved_references p ON p.line = r.line
      CROSS JOIN main.${table} t ON t.id = p.id
      WHERE r.origin IS NOT NULL AND ${member} IS NOT p.member_id;
    UPDATE staging.resolved_references SET id = NULL
      WHERE line IN (SELECT line FROM staging.entries_of_others);
    INSERT INTO staging.unmatched (line, owner, first, second, third)
      SELECT r.line, p.${owner}, ${values.map((name) => `r.${name}`).join(', ')}
      FROM staging.rows r CROSS JOIN staging.resolved_references p ON p.line = r.line
      WHERE r.origin IS NOT NULL AND p.id IS NULL AND EXISTS (SELECT 1 FROM main.${table} t
        WHERE t.${owner} = p.${owner} AND ${member} = p.member_id AND ${isEqual(kind, values, 'r')}
          AND t.reference GLOB '${DERIVED}*')`);
  if (db.raw.prepare('SELECT 1 FROM staging.unmatched LIMIT 1').get() === undefined) return;
  const equal = 'owner, first, second, third';
  const place = (order: string) => `row_number() OVER (PARTITION BY ${equal} ORDER BY ${order}) AS place`;
  db.exec(`UPDATE staging.resolved_references AS p SET id = found.id FROM (
      WITH wanted AS MATERIALIZED (SELECT *, ${place('line')} FROM staging.unmatched),
      free AS MATERIALIZED (SELECT ${equal}, entry_id, ${place('entry_id')} FROM (
        SELECT w.owner, w.first, w.second, w.third, t.id AS entry_id FROM wanted w
        CROSS JOIN staging.rows r ON r.line = w.line
        CROSS JOIN main.${table} t ON t.${owner} = w.owner AND ${isEqual(kind, values, 'r')}
        WHERE w.place = 1 AND t.reference GLOB '${DERIVED}*'
          AND t.id NOT IN (SELECT id FROM staging.resolved_references WHERE id IS NOT NULL)))
      SELECT w.line, f.entry_id AS id FROM wanted w JOIN free f ON f.owner = w.owner AND f.first = w.first
        AND f.second = w.second AND f.third IS w.third AND f.place = w.place) AS found
    WHERE p.line = found.line`);
}

/** Under the code or national ID that it names, the row was imported as an entry of another member. */
export const entryOfAnother = (kind: 'production' | 'savings'): Check =>
  where(
    'reference',
    `This row was imported as a ${ENTRIES[kind]?.name} of another member. ` +
      'If it is another one, give it a reference of its own.',
    'p.id IS NULL AND p.member_id IS NOT NULL',
    'CROSS JOIN staging.entries_of_others o ON o.line = p.line',
  );

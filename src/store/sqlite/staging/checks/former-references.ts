/**
 * Entries without a reference whose member has had another code or cooperative: the reference that was
 * derived then is still theirs, so that a ledger that comes again adds nothing
 * (docs/import-reference.md#entries-without-a-reference).
 */
import type { ImportKind } from '../../../ports/import-session.ts';
import type { Connection } from '../../engine/connection.ts';
import { TARGETS } from '../../schema/targets.ts';

/** The stored entries `t` of a member `w.member_id` that have the values of a row `w`. */
const EQUAL_ENTRIES: { readonly [kind in ImportKind]?: { readonly values: string; readonly from: string } } =
  {
    production: {
      values: 'delivered_at, kg, product',
      from: `main.production_entries t ON t.member_id = w.member_id AND t.delivered_at = w.delivered_at
      AND t.grams = w.kg AND t.product IS w.product`,
    },
    savings: {
      values: 'account_number, kind, amount, transacted_at',
      from: `main.savings_accounts a
        ON a.cooperative_id = w.cooperative_id AND a.account_number = w.account_number
          AND a.member_id = w.member_id
      CROSS JOIN main.savings_transactions t ON t.account_id = a.id AND t.kind = w.kind
        AND t.amount_minor = w.amount AND t.transacted_at = w.transacted_at`,
    },
  };

/** Whether anybody may have entries from under another code: an import looks no further otherwise. */
const hasFormerCodes = (db: Connection): boolean =>
  db.raw
    .prepare(
      `SELECT 1 FROM main.operations
       WHERE kind IN ('members_merge', 'members_move', 'cooperatives_merge', 'nid_replace') LIMIT 1`,
    )
    .get() !== undefined;

/** Before references are derived. @returns gives rows former references in place of those that are new */
export function openFormerReferences(db: Connection, kind: ImportKind): () => void {
  if (!hasFormerCodes(db)) return () => {};
  db.exec(`DELETE FROM staging.derived_rows;
    INSERT INTO staging.derived_rows SELECT line FROM staging.rows WHERE reference IS NULL`);
  return () => takeFormerReferences(db, kind);
}

const HAS_FORMER_CODE = `EXISTS (SELECT 1 FROM main.merged_members g WHERE g.into_id = u.member_id)
  OR EXISTS (SELECT 1 FROM main.changes h WHERE h.entity = 'members' AND h.row_id = u.member_id
    AND h.field IN ('member_code', 'cooperative_id'))`;

/** Equal rows take equal entries one by one, so that two of them remain two. */
function takeFormerReferences(db: Connection, kind: ImportKind): void {
  const equal = EQUAL_ENTRIES[kind];
  if (equal === undefined) return;
  const { values, from } = equal;
  const same = ['member_id', ...values.split(', ')].map((name) => `w.${name} IS s.${name}`).join(' AND ');
  const ofRow = values.replaceAll(/\w+/g, 'w.$&');
  db.exec(`UPDATE staging.rows AS r SET reference = found.reference FROM (
      WITH unmatched AS MATERIALIZED (
        SELECT r.line, m.id AS member_id, c.id AS cooperative_id, ${values.replaceAll(/\w+/g, 'r.$&')}
        FROM staging.derived_rows d CROSS JOIN staging.rows r ON r.line = d.line
        CROSS JOIN main.cooperatives c ON c.code = r.cooperative_code
        CROSS JOIN main.members m ON m.cooperative_id = c.id AND m.member_code = r.member_code
        WHERE NOT EXISTS (SELECT 1 FROM main.${TARGETS[kind].table} t
          WHERE t.cooperative_id = c.id AND t.reference = r.reference)),
      former AS MATERIALIZED (SELECT u.member_id FROM (SELECT DISTINCT member_id FROM unmatched) u
        WHERE ${HAS_FORMER_CODE}),
      wanted AS MATERIALIZED (
        SELECT *, row_number() OVER (PARTITION BY member_id, ${values} ORDER BY line) AS place
        FROM unmatched WHERE member_id IN (SELECT member_id FROM former)),
      stored AS MATERIALIZED (
        SELECT w.member_id, ${ofRow}, t.reference,
          row_number() OVER (PARTITION BY w.member_id, ${ofRow} ORDER BY t.id) AS place
        FROM wanted w CROSS JOIN ${from}
        WHERE w.place = 1 AND t.reference GLOB 'auto-*'
          AND t.reference NOT IN (SELECT reference FROM staging.rows WHERE reference IS NOT NULL))
      SELECT w.line, s.reference FROM wanted w JOIN stored s ON ${same} AND s.place = w.place) AS found
    WHERE r.line = found.line`);
}

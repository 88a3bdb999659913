/**
 * Members of one cooperative with equal name and phone, whose national IDs differ in exactly one digit: most
 * likely one person with a mistyped number. Looked for among the rows that are new or change name or phone,
 * and between these and what is stored.
 */
import type { Connection } from '../../engine/connection.ts';
import type { FileScope } from '../staged/file-scope.ts';

const PLACES = `places (k) AS (VALUES ${Array.from({ length: 16 }, (_, i) => `(${i + 1})`).join(', ')})`;
const CHANGED = `SELECT line FROM staging.changes WHERE "column" IN ('full_name', 'mobile')`;

/** @returns undefined when no two members share a phone, one of them new or with another name or phone */
export function lookalikesSql({ db, columns }: FileScope): string | undefined {
  const isChanged = db.has(`(${CHANGED})`);
  if (!columns.has('mobile') && !isChanged) return undefined;
  const isCandidate = isChanged ? `(p.id IS NULL OR p.line IN (${CHANGED}))` : 'p.id IS NULL';
  if (!db.has(`staging.resolved_references p WHERE ${isCandidate}`)) return undefined;
  const mobile = columns.has('mobile') ? 'r.mobile' : 't.mobile';
  const from = `staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
    LEFT JOIN main.members t ON t.id = p.id WHERE ${isCandidate} AND ${mobile} IS NOT NULL`;
  // As they stay.
  const stored = `main.members m WHERE m.cooperative_id IN
      (SELECT p.cooperative_id FROM staging.resolved_references p WHERE ${isCandidate})
    AND m.mobile IS NOT NULL
    AND m.id NOT IN (SELECT row_id FROM staging.changes WHERE "column" IN ('full_name', 'mobile'))`;
  findSharedPhones(
    db,
    `SELECT ${phoneOf('p', mobile)} AS phone FROM ${from}
     UNION ALL SELECT ${phoneOf('m', 'm.mobile')} FROM ${stored}`,
  );
  if (!db.has('staging.shared_phones')) return undefined;
  const isShared = (row: string, phone: string) =>
    `${phoneOf(row, phone)} IN (SELECT phone FROM staging.shared_phones)`;
  // Name and phone as they will be.
  return amongPool(`SELECT p.line, p.cooperative_id, r.cooperative_code AS code, r.identity_card,
      coalesce(r.full_name, t.full_name) AS full_name, ${mobile} AS mobile
    FROM ${from} AND ${isShared('p', mobile)}
    UNION ALL SELECT NULL, m.cooperative_id,
      (SELECT code FROM main.cooperatives WHERE id = m.cooperative_id),
      m.identity_card, m.full_name, m.mobile FROM ${stored} AND ${isShared('m', 'm.mobile')}`);
}

/** A number for a phone in a cooperative: fast to sort, and rarely that of another phone. */
const phoneOf = (row: string, mobile: string): string =>
  `${row}.cooperative_id * 1000003 + CAST(substr(${mobile}, 2) AS INTEGER)`;

/** Few members of a cooperative share a phone: only their names and numbers are looked at afterwards. */
const findSharedPhones = (db: Connection, phones: string): void =>
  db.exec(`DELETE FROM staging.shared_phones;
    INSERT INTO staging.shared_phones SELECT phone FROM (${phones}) GROUP BY 1 HAVING count(*) > 1`);

/**
 * Of those that share name and phone, the rows that are equal to another but for one place of the number.
 * Linear, however many share one phone.
 */
const amongPool = (pool: string): string => `SELECT line, '' FROM (WITH
  pool AS MATERIALIZED (${pool}),
  alike AS MATERIALIZED (SELECT * FROM pool WHERE (code, full_name, mobile) IN
    (SELECT code, full_name, mobile FROM pool GROUP BY 1, 2, 3 HAVING count(*) > 1)),
  ${PLACES},
  masked AS MATERIALIZED (SELECT line, code, full_name, mobile, identity_card,
      substr(identity_card, 1, k - 1) || '_' || substr(identity_card, k + 1) AS mask
    FROM alike CROSS JOIN places)
  SELECT line FROM masked WHERE line IS NOT NULL AND (code, full_name, mobile, mask) IN
    (SELECT code, full_name, mobile, mask FROM masked GROUP BY 1, 2, 3, 4
     HAVING count(DISTINCT identity_card) > 1))`;

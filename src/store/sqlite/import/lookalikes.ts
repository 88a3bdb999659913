/**
 * Members of one cooperative with equal name and phone, whose national IDs differ in exactly one digit: most
 * likely one person with a mistyped number. Looked for among the rows that are new or change name or phone,
 * and between these and what is stored.
 */
import type { Connection } from '../connection/connection.ts';
import type { FileScope } from './file-scope.ts';

/** National IDs that differ from a given one in one digit. */
const VARIANTS = 16 * 9;
const DIGITS = 'digits (d) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))';
const PLACES = `places (k) AS (VALUES ${Array.from({ length: 16 }, (_, i) => `(${i + 1})`).join(', ')})`;
const replaced = (by: string, row = ''): string =>
  `substr(${row}identity_card, 1, k - 1) || ${by} || substr(${row}identity_card, k + 1)`;

const CHANGED = `SELECT line FROM staging.changes WHERE "column" IN ('full_name', 'mobile')`;

/** @returns undefined when no row has a phone, or none is new or changes name or phone */
export function lookalikesSql({ db, columns }: FileScope): string | undefined {
  const isChanged = db.raw.prepare(`SELECT 1 FROM (${CHANGED}) LIMIT 1`).get() !== undefined;
  const isCandidate = isChanged ? `(p.id IS NULL OR p.line IN (${CHANGED}))` : 'p.id IS NULL';
  if (!columns.has('mobile') && !isChanged) return undefined;
  const { candidates, stored } = measure(db, isCandidate);
  if (candidates === 0) return undefined;
  const mobile = columns.has('mobile') ? 'r.mobile' : 't.mobile';
  // Name and phone as they will be.
  const candidate = `candidate AS MATERIALIZED (
    SELECT p.line, p.cooperative_id, r.cooperative_code AS code, r.identity_card,
      coalesce(r.full_name, t.full_name) AS full_name, ${mobile} AS mobile
    FROM staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
    LEFT JOIN main.members t ON t.id = p.id WHERE ${isCandidate} AND ${mobile} IS NOT NULL)`;
  const isProbed = candidates * VARIANTS < stored;
  const inOnePool = pooled(candidate, isProbed ? undefined : isCandidate);
  return isProbed ? `${inOnePool} UNION ${probed(candidate)}` : inOnePool;
}

/** How many rows may be mistyped, and how many members their cooperatives have. */
function measure(db: Connection, isCandidate: string): { candidates: number; stored: number } {
  const candidates = db.raw
    .prepare(`SELECT count(*) FROM staging.resolved_references p WHERE ${isCandidate}`)
    .pluck()
    .get() as number;
  if (candidates === 0) return { candidates, stored: 0 };
  const stored = db.raw
    .prepare(
      `SELECT coalesce(sum(members), 0) FROM main.member_counts WHERE cooperative_id IN
         (SELECT p.cooperative_id FROM staging.resolved_references p WHERE ${isCandidate})`,
    )
    .pluck()
    .get() as number;
  return { candidates, stored };
}

/** A few rows in large cooperatives: each number that differs in one digit is looked up. */
const probed = (candidate: string): string => `SELECT line, '' FROM (WITH ${candidate}, ${PLACES}, ${DIGITS}
  SELECT c.line FROM candidate c CROSS JOIN places CROSS JOIN digits
  CROSS JOIN main.members m ON m.identity_card = ${replaced('d', 'c.')}
    AND m.cooperative_id = c.cooperative_id
  WHERE m.identity_card <> c.identity_card AND m.full_name = c.full_name AND m.mobile = c.mobile)`;

/**
 * Many rows: those that share name and phone, with the stored members of their cooperatives where these are
 * searched too, and of them those that are equal but for one place. Linear, however many share one phone.
 * @param isCandidate undefined when what is stored is not searched
 */
function pooled(candidate: string, isCandidate: string | undefined): string {
  const stored = `main.members m WHERE m.cooperative_id IN
    (SELECT p.cooperative_id FROM staging.resolved_references p WHERE ${isCandidate}) AND m.mobile IS NOT NULL
    AND m.id NOT IN (SELECT row_id FROM staging.changes WHERE "column" IN ('full_name', 'mobile'))`;
  const withStored = (columns: string, more: string) =>
    isCandidate === undefined ? '' : `UNION ALL SELECT ${columns} FROM ${stored} ${more}`;
  const storedRow = `NULL, (SELECT code FROM main.cooperatives WHERE id = m.cooperative_id),
    m.identity_card, m.full_name, m.mobile`;
  return `SELECT line, '' FROM (WITH ${candidate},
    phones AS MATERIALIZED (SELECT mobile FROM (SELECT mobile FROM candidate ${withStored('m.mobile', '')})
      GROUP BY mobile HAVING count(*) > 1),
    pool AS MATERIALIZED (SELECT line, code, identity_card, full_name, mobile FROM candidate
      WHERE mobile IN (SELECT mobile FROM phones)
      ${withStored(storedRow, 'AND m.mobile IN (SELECT mobile FROM phones)')}),
    alike AS MATERIALIZED (SELECT * FROM pool WHERE (code, full_name, mobile) IN
      (SELECT code, full_name, mobile FROM pool GROUP BY 1, 2, 3 HAVING count(*) > 1)),
    ${PLACES},
    masked AS MATERIALIZED (SELECT line, identity_card, code, full_name, mobile, ${replaced("'_'")} AS mask
      FROM alike CROSS JOIN places)
    SELECT line FROM masked WHERE line IS NOT NULL AND (code, full_name, mobile, mask) IN
      (SELECT code, full_name, mobile, mask FROM masked GROUP BY 1, 2, 3, 4
       HAVING count(DISTINCT identity_card) > 1))`;
}

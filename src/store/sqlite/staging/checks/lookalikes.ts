/**
 * Members of one cooperative with equal name and phone, whose national IDs differ in exactly one digit: most
 * likely one person with a mistyped number. Looked for among the rows that are new or change name or phone,
 * and between these and what is stored.
 */
import type { Connection } from '../../engine/connection.ts';
import type { FileScope } from '../staged/file-scope.ts';

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
  const from = `staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
    LEFT JOIN main.members t ON t.id = p.id WHERE ${isCandidate} AND ${mobile} IS NOT NULL`;
  const isProbed = candidates * VARIANTS < stored;
  const searched = isProbed || stored === 0 ? undefined : storedMembers(isCandidate);
  findSharedPhones(db, `SELECT ${phoneOf('p', mobile)} AS phone FROM ${from}`, searched);
  // Name and phone as they will be.
  const candidate = `SELECT p.line, p.cooperative_id, r.cooperative_code AS code, r.identity_card,
    coalesce(r.full_name, t.full_name) AS full_name, ${mobile} AS mobile FROM ${from}`;
  const isShared = db.raw.prepare('SELECT 1 FROM staging.shared_phones LIMIT 1').get() !== undefined;
  const parts = [
    ...(isShared ? [pooled(candidate, mobile, searched)] : []),
    ...(isProbed ? [probed(candidate)] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(' UNION ');
}

/** A number for a phone in a cooperative: fast to sort, and rarely that of another phone. */
const phoneOf = (row: string, mobile: string): string =>
  `${row}.cooperative_id * 1000003 + CAST(substr(${mobile}, 2) AS INTEGER)`;

/** The stored members of the cooperatives of these rows, as they stay. */
const storedMembers = (isCandidate: string): string => `main.members m WHERE m.cooperative_id IN
    (SELECT p.cooperative_id FROM staging.resolved_references p WHERE ${isCandidate}) AND m.mobile IS NOT NULL
    AND m.id NOT IN (SELECT row_id FROM staging.changes WHERE "column" IN ('full_name', 'mobile'))`;

/** Few members of a cooperative share a phone: only their names and numbers are looked at afterwards. */
function findSharedPhones(db: Connection, phones: string, searched: string | undefined): void {
  const stored =
    searched === undefined ? '' : `UNION ALL SELECT ${phoneOf('m', 'm.mobile')} FROM ${searched}`;
  db.exec(`DELETE FROM staging.shared_phones;
    INSERT INTO staging.shared_phones SELECT phone FROM (${phones} ${stored})
    GROUP BY 1 HAVING count(*) > 1`);
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
const probed = (candidate: string): string => `SELECT line, '' FROM (WITH ${PLACES}, ${DIGITS}
  SELECT c.line FROM (${candidate}) c CROSS JOIN places CROSS JOIN digits
  CROSS JOIN main.members m ON m.identity_card = ${replaced('d', 'c.')}
    AND m.cooperative_id = c.cooperative_id
  WHERE m.identity_card <> c.identity_card AND m.full_name = c.full_name AND m.mobile = c.mobile)`;

/**
 * Many rows: those that share name and phone, with the stored members of their cooperatives where these are
 * searched too, and of them those that are equal but for one place. Linear, however many share one phone.
 * @param mobile of the rows, as SQL
 * @param searched stored members; undefined when these are not searched
 */
function pooled(candidate: string, mobile: string, searched: string | undefined): string {
  const isShared = (row: string, phone: string) =>
    `${phoneOf(row, phone)} IN (SELECT phone FROM staging.shared_phones)`;
  const stored =
    searched === undefined
      ? ''
      : `UNION ALL SELECT NULL, m.cooperative_id,
           (SELECT code FROM main.cooperatives WHERE id = m.cooperative_id),
           m.identity_card, m.full_name, m.mobile FROM ${searched} AND ${isShared('m', 'm.mobile')}`;
  return `SELECT line, '' FROM (WITH
    pool AS MATERIALIZED (${candidate} AND ${isShared('p', mobile)} ${stored}),
    alike AS MATERIALIZED (SELECT * FROM pool WHERE (code, full_name, mobile) IN
      (SELECT code, full_name, mobile FROM pool GROUP BY 1, 2, 3 HAVING count(*) > 1)),
    ${PLACES},
    masked AS MATERIALIZED (SELECT line, identity_card, code, full_name, mobile, ${replaced("'_'")} AS mask
      FROM alike CROSS JOIN places)
    SELECT line FROM masked WHERE line IS NOT NULL AND (code, full_name, mobile, mask) IN
      (SELECT code, full_name, mobile, mask FROM masked GROUP BY 1, 2, 3, 4
       HAVING count(DISTINCT identity_card) > 1))`;
}

/**
 * Warnings about national IDs.
 *
 * Members with equal name and phone, whose national IDs differ in exactly one digit: most likely one person
 * with a mistyped number. Names are equal whatever their case, accents and order of words. In two
 * cooperatives, members are compared unless their dates of birth are different.
 * Looked for among the rows that are new or change name or phone, and between these and what is stored.
 *
 * National IDs whose digits for the year of birth (2 to 5) or the sex (6: 8 male, 7 female; data/README.md)
 * say something else than their rows. Only a hint: a number may be right and the date of birth a guess.
 */
import type { Connection } from '../../engine/connection.ts';
import { saying } from '../checks/check-statements.ts';
import type { FileScope } from '../staged/file-scope.ts';

const PLACES = `places (k) AS (VALUES ${Array.from({ length: 16 }, (_, i) => `(${i + 1})`).join(', ')})`;
const CHANGED = `SELECT line FROM staging.changes WHERE "column" IN ('full_name', 'mobile')`;

/** @returns undefined when no two members share a phone, one of them new or with another name or phone */
export function lookalikesSql({ db, columns }: FileScope): string | undefined {
  const isChanged = db.has(`(${CHANGED})`);
  if (!columns.has('mobile') && !isChanged) return undefined;
  const isCandidate = isChanged ? `(p.id IS NULL OR p.line IN (${CHANGED}))` : 'p.id IS NULL';
  if (!db.has(`staging.resolved_references p WHERE ${isCandidate}`)) return undefined;
  /** As it will be. */
  const cellOf = (column: string) => (columns.has(column) ? `r.${column}` : `t.${column}`);
  const mobile = cellOf('mobile');
  const from = `staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line
    LEFT JOIN main.members t ON t.id = p.id WHERE ${isCandidate} AND ${mobile} IS NOT NULL`;
  // As they stay.
  const stored = (phones: string) => `main.members m WHERE m.mobile IN (${phones})
    AND m.id NOT IN (SELECT row_id FROM staging.changes WHERE "column" IN ('full_name', 'mobile'))`;
  const given = `SELECT ${phoneOf(mobile)} AS phone, CAST(r.identity_card AS INTEGER) AS card FROM ${from}`;
  const held = `SELECT ${phoneOf('m.mobile')}, CAST(m.identity_card AS INTEGER)
    FROM ${stored(`SELECT ${mobile} FROM ${from}`)}`;
  findSharedPhones(db, db.has('main.members') ? `${given} UNION ALL ${held}` : given);
  if (!db.has('staging.shared_phones')) return undefined;
  return amongPool(`SELECT p.line, r.cooperative_code AS code, r.identity_card,
      name_key(coalesce(r.full_name, t.full_name)) AS name, ${mobile} AS mobile,
      ${cellOf('date_of_birth')} AS born
    FROM ${from} AND ${phoneOf(mobile)} IN (SELECT phone FROM staging.shared_phones)
    UNION ALL SELECT NULL, (SELECT code FROM main.cooperatives WHERE id = m.cooperative_id),
      m.identity_card, name_key(m.full_name), m.mobile, m.date_of_birth
      FROM ${stored("SELECT '+' || phone FROM staging.shared_phones")}`);
}

/** A number is faster to sort than a text. */
const phoneOf = (mobile: string): string => `CAST(substr(${mobile}, 2) AS INTEGER)`;

/** Few people share a phone: only their names and numbers are looked at afterwards. */
const findSharedPhones = (db: Connection, phones: string): void =>
  db.exec(`DELETE FROM staging.shared_phones;
    INSERT INTO staging.shared_phones SELECT phone FROM (${phones}) GROUP BY 1
      HAVING min(card) <> max(card)`);

/**
 * Of those that share name and phone, the rows that are equal to another but for one place of the number: in
 * their cooperative, or with an equal or unknown date of birth. Linear, however many share one phone.
 */
const amongPool = (pool: string): string => `SELECT line, '' FROM (WITH
  pool AS MATERIALIZED (${pool}),
  alike AS MATERIALIZED (SELECT * FROM pool WHERE (name, mobile) IN
    (SELECT name, mobile FROM pool GROUP BY 1, 2 HAVING min(identity_card) <> max(identity_card))),
  ${PLACES},
  masked AS MATERIALIZED (SELECT line, 'in ' || code AS home, coalesce(born, '') AS born,
      identity_card AS card, name || mobile || substr(identity_card, 1, k - 1) || '_'
        || substr(identity_card, k + 1) AS mask
    FROM alike CROSS JOIN places),
  cards (mask, among, low, high) AS MATERIALIZED (
    SELECT mask, home, min(card), max(card) FROM masked GROUP BY 1, 2
    UNION ALL SELECT mask, born, min(card), max(card) FROM masked GROUP BY 1, 2
    UNION ALL SELECT mask, 'all', min(card), max(card) FROM masked GROUP BY 1)
  SELECT m.line FROM masked m CROSS JOIN cards c
    ON c.mask = m.mask AND c.among IN (m.home, '', iif(m.born = '', 'all', m.born))
  WHERE m.line IS NOT NULL AND (c.low <> m.card OR c.high <> m.card))`;

/** Members named in the message. */
const NAMED = 5;
const LONG_DIGITS = `*${'[0-9]'.repeat(6)}*`;

/** How a message names a member: by the line, where the code could be somebody's number. */
const MEMBER = `iif(length(member_code) > 32 OR member_code GLOB '${LONG_DIGITS}', 'line ' || line,
  cooperative_code || '/' || member_code)`;

const YEAR = `substr(identity_card, 2, 4) <> substr(date_of_birth, 1, 4)`;
const GENDER = `substr(identity_card, 6, 1) = CASE gender WHEN 'MALE' THEN '7' WHEN 'FEMALE' THEN '8' END`;

/** @returns undefined for a file without either column */
export function contradictedCardsSql({ columns }: FileScope): string | undefined {
  const selects = [
    ...(columns.has('date_of_birth') ? [selectContradicted(OTHER_YEAR, YEAR)] : []),
    ...(columns.has('gender') ? [selectContradicted(OTHER_GENDER, GENDER)] : []),
  ];
  return selects.length === 0 ? undefined : selects.join(' UNION ALL ');
}

const OTHER_YEAR = '{n|# national ID contradicts|# national IDs contradict} the year of birth: {members}.';
const OTHER_GENDER = '{n|# national ID contradicts|# national IDs contradict} the gender: {members}.';

/** A number that begins with another digit is impossible, and says nothing of the person. */
const selectContradicted = (message: string, condition: string): string => `SELECT line, detail FROM (WITH
  found AS MATERIALIZED (SELECT line, cooperative_code, member_code FROM staging.rows
    WHERE ${condition} AND identity_card >= '1' AND identity_card < '4'),
  named AS MATERIALIZED (SELECT group_concat(member, ', ')
      || iif((SELECT count(*) FROM found) > ${NAMED}, ', …', '') AS members
    FROM (SELECT ${MEMBER} AS member FROM found ORDER BY line LIMIT ${NAMED})),
  detailed AS MATERIALIZED (
    SELECT ${saying(message, { n: '(SELECT count(*) FROM found)', members: 'members' })} AS detail FROM named)
  SELECT line, detail FROM found CROSS JOIN detailed)`;

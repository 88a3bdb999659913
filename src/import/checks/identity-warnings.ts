/** Warnings about national IDs that are probably mistyped or that contradict their row. */

import type { FileScope } from '../staging/staging-tables.ts';
import { ROWS, saying } from './check-statements.ts';
import { CROWD, isMistyped, type MemberOfFile, nameKeyOf } from './compare-people.ts';

// Members with equal names and phones, whose national IDs differ in one digit, are probably one person with a
// mistyped ID. New rows, and rows that change a name or phone, are compared with each other and with stored
// members.

const CHANGED = `SELECT line FROM staging.changes WHERE "column" IN ('full_name', 'mobile')`;

/** @returns SELECT of `line, detail`; undefined if no national ID is probably mistyped */
export function lookalikesSql({ db, columns }: FileScope): string | undefined {
  const isChanged = db.has(`(${CHANGED})`);
  if (!columns.has('mobile') && !isChanged) return undefined;
  const isCandidate = isChanged ? `(p.id IS NULL OR p.line IN (${CHANGED}))` : 'p.id IS NULL';
  if (!db.has(`staging.resolved_references p WHERE ${isCandidate}`)) return undefined;
  /** Value after the import. */
  const cellOf = (column: string) => (columns.has(column) ? `r.${column}` : `t.${column}`);
  const mobile = cellOf('mobile');
  const from = `${ROWS} LEFT JOIN main.members t ON t.id = p.id
    WHERE ${isCandidate} AND ${mobile} IS NOT NULL`;
  // Skips members whose name or phone the file changes.
  const stored = (phones: string) => `main.members m WHERE m.mobile IN (${phones})
    AND m.id NOT IN (SELECT row_id FROM staging.changes WHERE "column" IN ('full_name', 'mobile'))`;
  const newPhones = `SELECT ${phoneOf(mobile)} AS phone, CAST(r.identity_card AS INTEGER) AS card
    FROM ${from}`;
  const storedPhones = `SELECT ${phoneOf('m.mobile')}, CAST(m.identity_card AS INTEGER)
    FROM ${stored(`SELECT ${mobile} FROM ${from}`)}`;
  const phones = db.has('main.members') ? `${newPhones} UNION ALL ${storedPhones}` : newPhones;
  // Only members with a phone that occurs with several national IDs are compared.
  db.exec(`DELETE FROM staging.shared_phones;
    INSERT INTO staging.shared_phones SELECT phone FROM (${phones}) GROUP BY 1
      HAVING min(card) <> max(card)`);
  if (!db.has('staging.shared_phones')) return undefined;
  const pool = db.rows<Pooled>(`SELECT p.line, r.cooperative_code AS cooperativeCode, ${mobile} AS mobile,
      r.identity_card AS identityCard, coalesce(r.full_name, t.full_name) AS fullName,
      ${cellOf('date_of_birth')} AS dateOfBirth
    FROM ${from} AND ${phoneOf(mobile)} IN (SELECT phone FROM staging.shared_phones)
    UNION ALL SELECT NULL, (SELECT code FROM main.cooperatives WHERE id = m.cooperative_id), m.mobile,
      m.identity_card, m.full_name, m.date_of_birth
      FROM ${stored("SELECT '+' || phone FROM staging.shared_phones")}`);
  const lines = findMistyped(pool);
  return lines.length === 0 ? undefined : `SELECT value, '' FROM json_each('${JSON.stringify(lines)}')`;
}

interface Pooled extends MemberOfFile {
  /** Null for a stored member. */
  readonly line: number | null;
  readonly mobile: string;
  readonly fullName: string;
}

function findMistyped(pool: readonly Pooled[]): number[] {
  const alike = Map.groupBy(pool, ({ mobile, fullName }) => `${mobile} ${nameKeyOf(fullName)}`);
  return [...alike.values()].flatMap((group) => {
    const people = [...Map.groupBy(group, ({ identityCard }) => identityCard).values()];
    if (people.length > CROWD) return [];
    return group.flatMap((one) =>
      one.line !== null && group.some((other) => isMistyped(one, other)) ? [one.line] : [],
    );
  });
}

/** SQLite sorts integers faster than texts. */
const phoneOf = (mobile: string): string => `CAST(substr(${mobile}, 2) AS INTEGER)`;

// A national ID may contradict its row. Digits 2 to 5 are the year of birth, and digit 6 is the sex: 8 for
// male, 7 for female (data/README.md). The ID may still be right, because a date of birth may be a guess.

/** Maximum number of members named in a message. */
const NAMED = 5;
const LONG_DIGITS = `*${'[0-9]'.repeat(6)}*`;

/** SQL expression for a member in a message: the code, or the line if the code may be personal data. */
const MEMBER = `iif(length(member_code) > 32 OR member_code GLOB '${LONG_DIGITS}', 'line ' || line,
  cooperative_code || '/' || member_code)`;

const YEAR = `substr(identity_card, 2, 4) <> substr(date_of_birth, 1, 4)`;
const GENDER = `substr(identity_card, 6, 1) = CASE gender WHEN 'MALE' THEN '7' WHEN 'FEMALE' THEN '8' END`;

/** @returns SELECT of `line, detail`; undefined if the file has neither `date_of_birth` nor `gender` */
export function contradictedCardsSql({ columns }: FileScope): string | undefined {
  const selects = [
    ...(columns.has('date_of_birth') ? [selectContradicted(OTHER_YEAR, YEAR)] : []),
    ...(columns.has('gender') ? [selectContradicted(OTHER_GENDER, GENDER)] : []),
  ];
  return selects.length === 0 ? undefined : selects.join(' UNION ALL ');
}

const OTHER_YEAR = '{n|# national ID contradicts|# national IDs contradict} the year of birth: {members}.';
const OTHER_GENDER = '{n|# national ID contradicts|# national IDs contradict} the gender: {members}.';

/** Skips national IDs that do not begin with 1 to 3: they get the warning `impossible_id`. */
const selectContradicted = (message: string, condition: string): string => `SELECT line, detail FROM (WITH
  found AS MATERIALIZED (SELECT line, cooperative_code, member_code FROM staging.rows
    WHERE ${condition} AND identity_card >= '1' AND identity_card < '4'),
  named AS MATERIALIZED (SELECT group_concat(member, ', ')
      || iif((SELECT count(*) FROM found) > ${NAMED}, ', …', '') AS members
    FROM (SELECT ${MEMBER} AS member FROM found ORDER BY line LIMIT ${NAMED})),
  detailed AS MATERIALIZED (
    SELECT ${saying(message, { n: '(SELECT count(*) FROM found)', members: 'members' })} AS detail FROM named)
  SELECT line, detail FROM found CROSS JOIN detailed)`;

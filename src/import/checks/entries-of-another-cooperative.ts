/**
 * Finds new and changed entries for the wrong cooperative (docs/import-reference.md#warnings).
 * Member codes do not reveal the mistake, because most cooperatives number their members 1, 2, 3.
 */

import { OF_SAME_BYTES } from '../../journal/operations.ts';
import { creatorSql } from '../../registry/changes/row-labels.ts';
import { tableOf } from '../../registry/changes/tables.ts';
import {
  AMOUNT,
  areEntries,
  dayOf,
  type FileScope,
  isOnDay,
  type KindOfEntries,
  memberOfRow,
} from '../staging/staging-tables.ts';
import { quoted, ROWS, saying } from './check-statements.ts';

/** Minimum number of people, rows or different amounts for a warning. Fewer may be chance. */
export const FEWEST = 3;
/** Number of rows or names in a sample. A sample selects the cooperatives for a full comparison. */
const SAMPLED = 20;

const OTHER_NAMES =
  '{others} of the {members} members named for {code} have other names there: is this the right code?';
const NAMES_ELSEWHERE =
  '{others} of the {members} members named for {code} have other names there, and these are names of ' +
  '{other}: is this the right code?';
const PEOPLE_ELSEWHERE =
  '{others} of the {people} people in the file for {code} are not its members, but those of {other}: is ' +
  'this the right code?';
const SAME_FILE = 'The same file was imported for {code}, as import {id}: is this the right code?';
const SAME_ENTRIES =
  '{found} of the {rows} rows for {code} are entries of {other} already: is this the right code?';
const SAME_ENTRIES_IMPORTED =
  '{found} of the {rows} rows for {code} are entries of {other} already, from import {id}: is this the ' +
  'right code?';

/** SQL condition: the row `p` is new or changes its stored entry. */
const IS_WRITTEN = '(p.id IS NULL OR p.line IN (SELECT line FROM staging.changes))';

/** Must be called after `stageNames`. @returns SELECT of `line, detail`, or undefined */
export function otherCooperativeSql(scope: FileScope): string | undefined {
  const { db, kind } = scope;
  if (!areEntries(kind) || !db.has(`staging.resolved_references p WHERE ${IS_WRITTEN}`)) return undefined;
  const entries = sameFileSql(scope) ?? sameEntriesSql(scope, kind);
  const selects = [
    ...(scope.columns.has('full_name') ? [otherNamesSql(kind)] : []),
    ...(entries === undefined ? [] : [entries]),
  ];
  return selects.length === 0 ? undefined : selects.join('\nUNION ALL ');
}

/** Stages the names of members in new and changed rows. */
export function stageNames({ db, kind, columns }: FileScope): void {
  db.exec('DELETE FROM staging.names');
  if (!areEntries(kind) || !columns.has('full_name')) return;
  const isName = (text: string) => `have_common_word(${text}, ${text})`;
  db.exec(`INSERT INTO staging.names (cooperative_id, member_id, name, differs)
    SELECT m.cooperative_id, m.id, n.name, NOT have_common_word(n.name, m.full_name) FROM (
      SELECT DISTINCT ${memberOfRow(kind)} AS member_id, r.full_name AS name FROM staging.rows r
      CROSS JOIN staging.resolved_references p ON p.line = r.line
      WHERE ${IS_WRITTEN} AND r.full_name IS NOT NULL) n
    CROSS JOIN main.members m ON m.id = n.member_id
    WHERE ${isName('n.name')} AND ${isName('m.full_name')}`);
}

/** Returns a SELECT of new and changed rows with another name than the stored member. */
const differingNames = (kind: KindOfEntries): string => `SELECT p.line, n.cooperative_id
  FROM staging.resolved_references p
  CROSS JOIN staging.names n ON n.member_id = ${memberOfRow(kind)} AND n.differs
  CROSS JOIN staging.rows r ON r.line = p.line AND r.full_name = n.name WHERE ${IS_WRITTEN}`;

/** SELECT of cooperatives: at least half of their members in the file, and at least 3, have other names. */
const OF_OTHER_NAMES = `SELECT cooperative_id, count(DISTINCT member_id) AS members,
    count(DISTINCT iif(differs, member_id, NULL)) AS others
  FROM staging.names GROUP BY 1 HAVING others >= ${FEWEST} AND 2 * others >= members`;

/** SQL of the code of another cooperative whose members have the same codes and most of the file's names. */
const NAMED_ELSEWHERE = `(WITH x AS MATERIALIZED (SELECT o.member_code, n.name FROM staging.names n
    CROSS JOIN main.members o ON o.id = n.member_id
    WHERE n.cooperative_id = s.cooperative_id AND n.differs LIMIT ${SAMPLED})
  SELECT c.code FROM x CROSS JOIN main.members m ON m.member_code = x.member_code
  CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
  WHERE c.id <> s.cooperative_id AND have_common_word(x.name, m.full_name)
  GROUP BY c.id HAVING 2 * count(*) > (SELECT count(*) FROM x) ORDER BY count(*) DESC LIMIT 1)`;

const NAMES = { others: 'd.others', members: 'd.members', code: 'd.code' };
const otherNamesSql = (kind: KindOfEntries): string => `SELECT * FROM (WITH d AS MATERIALIZED (
    SELECT s.cooperative_id, ${NAMED_ELSEWHERE} AS other, s.others, s.members, c.code
    FROM (${OF_OTHER_NAMES}) s CROSS JOIN main.cooperatives c ON c.id = s.cooperative_id)
  SELECT l.line, iif(d.other IS NULL, ${saying(OTHER_NAMES, NAMES)},
    ${saying(NAMES_ELSEWHERE, { ...NAMES, other: 'd.other' })}) FROM d
  CROSS JOIN (${differingNames(kind)}) l ON l.cooperative_id = d.cooperative_id)`;

/** Skips the cooperatives of `OF_OTHER_NAMES`, which get the warning about the wrong cooperative. */
export const otherNameSql = ({ kind }: FileScope): string | undefined =>
  areEntries(kind)
    ? `SELECT line, '' FROM (${differingNames(kind)})
       WHERE cooperative_id NOT IN (SELECT cooperative_id FROM (${OF_OTHER_NAMES}))`
    : undefined;

/**
 * Stages a warning if at least half of the people in the rows for a cooperative, and at least three, are
 * members of one other cooperative, and not of this one. Must be called before refused rows are removed:
 * the rows of these people have faults.
 */
export function warnOfPeopleElsewhere({ db, kind, columns }: FileScope): void {
  if (!areEntries(kind) || !columns.has('identity_card')) return;
  db.exec(`INSERT INTO staging.warnings (kind, line, detail)
    WITH faulty AS MATERIALIZED (SELECT r.line, r.identity_card, p.cooperative_id
      FROM (SELECT DISTINCT line FROM staging.faults) f CROSS JOIN staging.rows r ON r.line = f.line
      CROSS JOIN staging.resolved_references p ON p.line = r.line
      WHERE r.identity_card IS NOT NULL AND p.cooperative_id IS NOT NULL AND NOT EXISTS (SELECT 1
        FROM main.members h WHERE h.identity_card = r.identity_card AND h.cooperative_id = p.cooperative_id)),
    elsewhere AS MATERIALIZED (SELECT f.*, m.cooperative_id AS other FROM faulty f
      CROSS JOIN main.members m ON m.identity_card = f.identity_card),
    sums AS MATERIALIZED (SELECT cooperative_id, other, count(DISTINCT identity_card) AS others,
        (SELECT count(DISTINCT r.identity_card) FROM staging.resolved_references p
         CROSS JOIN staging.rows r ON r.line = p.line WHERE p.cooperative_id = e.cooperative_id) AS people
      FROM elsewhere e GROUP BY 1, 2 HAVING others >= ${FEWEST} AND 2 * others >= people)
    SELECT 'other_cooperative', e.line,
      ${saying(PEOPLE_ELSEWHERE, { others: 's.others', people: 's.people', code: 'c.code', other: 'o.code' })}
    FROM sums s CROSS JOIN elsewhere e ON e.cooperative_id = s.cooperative_id AND e.other = s.other
    CROSS JOIN main.cooperatives c ON c.id = s.cooperative_id CROSS JOIN main.cooperatives o ON o.id = s.other
    ORDER BY e.line`);
}

/** @returns undefined unless the same bytes were imported for another cooperative */
function sameFileSql({ db, kind, sha256 }: FileScope): string | undefined {
  const earlier = db.row<{ id: number; code: string }>(
    `SELECT o.id, c.code FROM ${OF_SAME_BYTES}
     CROSS JOIN main.created_rows w ON w.operation_id = o.id AND w.entity = @kind
     CROSS JOIN main.${tableOf(kind).table} t ON t.id BETWEEN w.first_row AND w.last_row
     CROSS JOIN main.cooperatives c ON c.id = t.cooperative_id
     WHERE c.id NOT IN (SELECT cooperative_id FROM staging.resolved_references
       WHERE cooperative_id IS NOT NULL) LIMIT 1`,
    { kind, sha256: sha256 ?? '' },
  );
  if (earlier === undefined) return undefined;
  const same = saying(SAME_FILE, { code: quoted(earlier.code), id: `${earlier.id}` });
  return `SELECT line, ${same} FROM staging.resolved_references p WHERE ${IS_WRITTEN}`;
}

/** Compares start dates, not references, because cooperatives number their loans differently. */
const LOAN_OF_DAY = 't.loan_start_date IS r.loan_start_date';

/**
 * Returns a JOIN of entries `t` that equal a row and belong to other cooperatives.
 * @param isOther returns an SQL condition on the id of the other cooperative
 */
function storedElsewhere(
  { columns, zone }: FileScope,
  kind: KindOfEntries,
  isOther: (id: string) => string,
): string {
  const member = `CROSS JOIN main.members o
    ON o.member_code = r.member_code AND ${isOther('o.cooperative_id')}`;
  const at = (instant: string) => isOnDay(`t.${instant}`, dayOf(`r.${instant}`, zone));
  switch (kind) {
    case 'production':
      return `${member} CROSS JOIN main.production_entries t ON t.member_id = o.id
        AND ${at('delivered_at')} AND t.grams = r.kg AND t.product IS r.product`;
    case 'savings':
      return `${member} CROSS JOIN main.savings_accounts a
          ON a.member_id = o.id AND a.account_number = r.account_number
        CROSS JOIN main.savings_transactions t ON t.account_id = a.id AND t.kind = r.kind
          AND t.amount_minor = r.amount AND ${at('transacted_at')}`;
    case 'loans':
      return `${member} CROSS JOIN main.loans t ON t.member_id = o.id AND t.amount_minor = r.amount
        AND ${columns.has('loan_start_date') ? LOAN_OF_DAY : 't.reference = r.reference'}`;
    case 'payments':
      return `CROSS JOIN main.loans o ON o.cooperative_id IN (SELECT id FROM main.cooperatives)
          AND o.reference = r.loan_reference AND ${isOther('o.cooperative_id')}
        CROSS JOIN main.payments t ON t.loan_id = o.id AND t.amount_minor = r.amount AND ${at('paid_at')}`;
  }
}

/** WITH clause: `sample` has lines spread evenly over the file, `sizes` counts the sample by cooperative. */
export const WITH_SAMPLE = `WITH
  ends AS (SELECT min(line) AS first, max(line) AS last FROM staging.resolved_references),
  sample AS MATERIALIZED (SELECT DISTINCT (SELECT line FROM staging.resolved_references
      WHERE line >= first + (last - first) * value / ${SAMPLED} ORDER BY line LIMIT 1) AS line
    FROM ends CROSS JOIN json_each('[${Array.from({ length: SAMPLED + 1 }, (_, i) => i).join()}]')),
  sizes AS (SELECT p.cooperative_id, count(*) AS rows
    FROM sample s CROSS JOIN staging.resolved_references p ON p.line = s.line GROUP BY 1)`;

/** SQL condition on a group: it has at least half of the sampled rows `r` of its cooperative. */
export const IS_HALF_OF_SAMPLE = `2 * count(DISTINCT r.line) >=
  (SELECT rows FROM sizes WHERE cooperative_id = p.cooperative_id)`;

/** Finds pairs of cooperatives: entries of `other` equal at least half of the sampled rows for `own`. */
function findCandidates(scope: FileScope, kind: KindOfEntries) {
  return scope.db.rows<{ own: number; other: number }>(
    `${WITH_SAMPLE} SELECT p.cooperative_id AS own, t.cooperative_id AS other FROM sample s
       CROSS JOIN staging.resolved_references p ON p.line = s.line AND ${IS_WRITTEN}
       CROSS JOIN staging.rows r ON r.line = p.line
       ${storedElsewhere(scope, kind, (id) => `${id} <> p.cooperative_id`)}
       GROUP BY 1, 2 HAVING ${IS_HALF_OF_SAMPLE}`,
  );
}

/** Finds rows that equal entries of another cooperative, if at least 90 % of the file's rows for one do. */
function sameEntriesSql(scope: FileScope, kind: KindOfEntries): string | undefined {
  const { db } = scope;
  const candidates = findCandidates(scope, kind);
  if (candidates.length === 0) return undefined;
  db.exec('DELETE FROM staging.entries_elsewhere');
  for (const { own, other } of candidates) {
    db.exec(`INSERT OR IGNORE INTO staging.entries_elsewhere (line, cooperative_id, entry_id)
      SELECT r.line, ${other}, t.id FROM ${ROWS}
      ${storedElsewhere(scope, kind, (id) => `${id} = ${other}`)}
      WHERE p.cooperative_id = ${own} AND ${IS_WRITTEN}`);
  }
  const places = { found: 's.found', rows: 's.rows', code: 'c.code', other: 'o.code' };
  const id = creatorSql(`'${kind}'`, 's.entry');
  return `SELECT e.line, iif(${id} IS NULL, ${saying(SAME_ENTRIES, places)},
      ${saying(SAME_ENTRIES_IMPORTED, { ...places, id })})
    FROM (SELECT p.cooperative_id AS own, e.cooperative_id AS other, max(e.entry_id) AS entry,
        count(*) AS found, count(DISTINCT r.${AMOUNT[kind]}) AS amounts,
        (SELECT count(*) FROM staging.resolved_references q WHERE q.cooperative_id = p.cooperative_id) AS rows
      FROM staging.entries_elsewhere e CROSS JOIN staging.resolved_references p ON p.line = e.line
      CROSS JOIN staging.rows r ON r.line = e.line GROUP BY 1, 2) s
    CROSS JOIN main.cooperatives c ON c.id = s.own CROSS JOIN main.cooperatives o ON o.id = s.other
    CROSS JOIN staging.entries_elsewhere e ON e.cooperative_id = s.other
    CROSS JOIN staging.resolved_references p ON p.line = e.line AND p.cooperative_id = s.own
    WHERE s.amounts >= ${FEWEST} AND 10 * s.found >= 9 * s.rows`;
}

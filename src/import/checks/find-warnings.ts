/**
 * Finds the warnings about a checked file (docs/import-reference.md#warnings). Warnings that stop a file, and
 * `other_name`, `same_entry` and `same_payment`, are only about new, changed and removed rows. So a file can
 * be imported again without these warnings.
 */

import { OF_SAME_BYTES } from '../../journal/operations.ts';
import { REVERSED_ACTORS } from '../../registry/changes/record-changes.ts';
import { creatorSql } from '../../registry/changes/row-labels.ts';
import { tableOf } from '../../registry/changes/tables.ts';
import { ENDED_COOPERATIVE_STATUSES } from '../../registry/cooperatives.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { MOST_TIMES_PAID } from '../../registry/payments.ts';
import { ENDED } from '../../registry/stored/transfers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS, MEMBER_COUNTS } from '../../sqlite/counts.ts';
import { currentSql } from '../../sqlite/declared-totals.ts';
import { readPages } from '../../sqlite/list-pages.ts';
import { say, type Text, unpack } from '../../values/message.ts';
import { type ImportWarning, WARNINGS, type WarningKind } from '../import-warnings.ts';
import {
  AMOUNT,
  areEntries,
  dayOf,
  type FileScope,
  isOnDay,
  type KindOfEntries,
} from '../staging/staging-tables.ts';
import { listed, ROWS, saying } from './check-statements.ts';
import {
  FEWEST,
  IS_HALF_OF_SAMPLE,
  otherCooperativeSql,
  otherNameSql,
  stageNames,
  WITH_SAMPLE,
} from './entries-of-another-cooperative.ts';
import { contradictedCardsSql, lookalikesSql } from './identity-warnings.ts';
import { removedSql } from './missing-rows.ts';
import { describeNewer, newerVersionSql } from './newer-version-of-a-file.ts';
import { TYPED_WARNINGS } from './typed-warnings.ts';

// Signs that entries were imported before. A file that is imported again has new rows if its members or their
// entries have changed since. If they are imported again in another form, all rows are new.

const SAME_FILE =
  '{rows|# row|# rows} would be new, although the file was imported before, as import {id}: were entries ' +
  'removed since, or does another member have a code or national ID of it now?';
const SAME_ROWS =
  '{found} of the {rows} rows for {code} have the member, day and amount of stored entries: was this ' +
  'ledger imported before, in another form?';
const SAME_ROWS_IMPORTED =
  '{found} of the {rows} rows for {code} have the member, day and amount of stored entries from import ' +
  '{id}: was this ledger imported before, in another form?';

/** Returns a JOIN of stored entries `t` with the member or loan, the day and the amount of a row. */
function entriesAsStored({ columns, zone }: FileScope, kind: KindOfEntries): string | undefined {
  const at = (instant: string) => isOnDay(`t.${instant}`, dayOf(`r.${instant}`, zone));
  const of = (owner: string) => `CROSS JOIN main.${tableOf(kind).table} t ON t.${owner}`;
  switch (kind) {
    case 'production':
      return `${of('member_id')} = p.member_id AND ${at('delivered_at')} AND t.grams = r.kg`;
    case 'savings':
      return `CROSS JOIN main.savings_accounts a ON a.member_id = p.member_id
        ${of('account_id')} = a.id AND t.kind = r.kind AND t.amount_minor = r.amount
          AND ${at('transacted_at')}`;
    case 'loans':
      // Without dates, two loans of the same amount look alike.
      return columns.has('loan_start_date')
        ? `${of('member_id')} = p.member_id AND t.amount_minor = r.amount AND ${at('loan_start_date')}`
        : undefined;
    case 'payments':
      return `${of('loan_id')} = p.loan_id AND t.amount_minor = r.amount AND ${at('paid_at')}`;
  }
}

/**
 * Returns a SELECT of `line, detail` for the new rows of a file whose bytes were imported before. If the
 * earlier import refused at least as many rows as are now new or refused, these may be the same rows, and
 * the result is undefined. A row without a reference is also new if its code or national ID now belongs to
 * another member.
 */
function sameFileSql({ db, kind, sha256, readAs, replaces }: FileScope): string | undefined {
  const before = db.row<{ id: number; refused: number }>(
    `SELECT o.id, f.refused_rows AS refused FROM ${OF_SAME_BYTES}
     WHERE f.map IS @map ORDER BY o.id DESC LIMIT 1`,
    { kind, sha256: sha256 ?? '', map: readAs === undefined ? null : JSON.stringify(readAs) },
  );
  if (before === undefined || replaces !== undefined) return undefined;
  const rows = db.count('staging.resolved_references WHERE id IS NULL');
  const refused = db.count("(SELECT DISTINCT line FROM staging.faults WHERE refuses = 'row')");
  if (rows + refused <= before.refused) return undefined;
  return `SELECT line, ${saying(SAME_FILE, { rows: `${rows}`, id: `${before.id}` })}
    FROM staging.resolved_references WHERE id IS NULL`;
}

/**
 * Returns a SELECT of `line, detail` for new rows that are probably stored already, or undefined. If
 * `sameFileSql` has no result, finds new rows that equal stored entries. At least nine tenths of the rows for
 * a cooperative must be such rows. Entries that other rows match, or that the import removes, do not count.
 */
function alreadyStoredSql(scope: FileScope): string | undefined {
  const { db, kind } = scope;
  if (!areEntries(kind) || !db.has('staging.resolved_references WHERE id IS NULL')) return undefined;
  const again = sameFileSql(scope);
  if (again !== undefined) return again;
  const equal = entriesAsStored(scope, kind);
  if (equal === undefined) return undefined;
  const rows = (lines: string) => `${lines} CROSS JOIN staging.rows r ON r.line = p.line ${equal}`;
  const cooperatives = db.values<number>(
    `${WITH_SAMPLE} SELECT p.cooperative_id
     FROM ${rows('sample s CROSS JOIN staging.resolved_references p ON p.line = s.line AND p.id IS NULL')}
     GROUP BY 1 HAVING ${IS_HALF_OF_SAMPLE}`,
  );
  if (cooperatives.length === 0) return undefined;
  const places = { found: 's.found', rows: 's.rows', code: 'c.code' };
  const id = creatorSql(`'${kind}'`, 's.entry');
  return `SELECT * FROM (WITH again AS MATERIALIZED (
      SELECT r.line, p.cooperative_id, r.${AMOUNT[kind]} AS amount, min(t.id) AS entry
      FROM ${rows('staging.resolved_references p')}
      WHERE p.id IS NULL AND p.cooperative_id IN (${cooperatives})
        AND t.id NOT IN (SELECT id FROM staging.missing)
        AND t.id NOT IN (SELECT id FROM staging.resolved_references WHERE id IS NOT NULL) GROUP BY 1),
    sums AS MATERIALIZED (SELECT cooperative_id, count(*) AS found, max(entry) AS entry,
        (SELECT count(*) FROM staging.resolved_references q WHERE q.cooperative_id = a.cooperative_id) AS rows
      FROM again a GROUP BY 1 HAVING count(DISTINCT amount) >= ${FEWEST} AND 10 * found >= 9 * rows)
    SELECT a.line, iif(${id} IS NULL, ${saying(SAME_ROWS, places)},
      ${saying(SAME_ROWS_IMPORTED, { ...places, id })})
    FROM sums s CROSS JOIN main.cooperatives c ON c.id = s.cooperative_id
    CROSS JOIN again a ON a.cooperative_id = s.cooperative_id)`;
}

interface WarningStatement {
  readonly kind: WarningKind;
  /** Columns without which the statement is skipped. */
  readonly needs: readonly string[];
  /** Returns a SELECT of `line` and a detail for the message; undefined if no row gets the warning. */
  readonly sql: (scope: FileScope) => string | undefined;
  /** @param detail each different detail is a separate warning */
  readonly message: (rows: number, detail: string) => Text;
}

const statement = (
  kind: WarningKind,
  needs: readonly string[],
  sql: string | WarningStatement['sql'],
  message: WarningStatement['message'],
): WarningStatement => ({ kind, needs, sql: typeof sql === 'string' ? () => sql : sql, message });

const unpacked = (_rows: number, detail: string): Text => unpack(detail);

const ENTRY_WARNINGS = [
  statement('other_cooperative', [], otherCooperativeSql, unpacked),
  statement('other_name', ['full_name'], otherNameSql, (n) =>
    say('{n|# row has|# rows have} a name that shares no word with that of the member.', { n }),
  ),
  statement('already_stored', [], alreadyStoredSql, unpacked),
  statement('removed', [], removedSql, unpacked),
];

/** Minimum number of rows, because one or two people may join a second cooperative. */
const FEWEST_OF_OTHER = 3;
const LISTED_ELSEWHERE =
  '{found} of the {rows} members listed for {code} are members of {other}: is this the right code?';
/**
 * SELECT of a cooperative's rows if nearly all people in them are members of one other cooperative, and few
 * are members of the named cooperative (`here`). People whose code, name or national ID the list would change
 * do not count as `here`: they may be members of both cooperatives. Skips a cooperative that most of the
 * people have left: they may have moved.
 */
const MEMBERS_OF_ANOTHER_COOPERATIVE = `WITH
  others AS MATERIALIZED (SELECT r.cooperative_code AS code, m.cooperative_id AS other, count(*) AS rows
    FROM staging.elsewhere e CROSS JOIN staging.rows r ON r.line = e.line
    CROSS JOIN main.members m ON m.id = e.member_id
    GROUP BY 1, 2 HAVING count(*) >= ${FEWEST_OF_OTHER}
      AND 2 * sum(m.status NOT IN (${ENDED})) >= count(*)),
  renamed AS MATERIALIZED (SELECT DISTINCT line FROM staging.changes
    WHERE "column" IN ('identity_card', 'member_code', 'full_name')),
  listed AS (SELECT r.cooperative_code AS code, count(*) AS rows, count(p.id) - count(x.line) AS here
    FROM staging.rows r
    CROSS JOIN staging.resolved_references p ON p.line = r.line
    LEFT JOIN renamed x ON x.line = r.line
    WHERE r.cooperative_code IN (SELECT code FROM others) GROUP BY 1)
  SELECT r.line,
    ${saying(LISTED_ELSEWHERE, { found: 'o.rows', rows: 'l.rows', code: 'o.code', other: 'c.code' })}
  FROM others o CROSS JOIN listed l ON l.code = o.code CROSS JOIN main.cooperatives c ON c.id = o.other
  CROSS JOIN staging.rows r ON r.cooperative_code = o.code
  CROSS JOIN staging.elsewhere e ON e.line = r.line
  CROSS JOIN main.members m ON m.id = e.member_id AND m.cooperative_id = o.other
  WHERE o.rows * 10 >= l.rows * 9 AND l.here * 10 < l.rows`;

/** @param ended SQL list of statuses */
const wouldRevive = (ended: string): string => `SELECT line, '' FROM staging.changes
  WHERE "column" = 'status' AND old IN (${ended}) AND new NOT IN (${ended})`;

/** Minimum for a warning: more than five members, and more than a tenth of a cooperative. */
const MANY = { members: 5, share: 10 } as const;
const MANY_CHANGE =
  '{rows} of the {members} members of {cooperative} would change name, national ID or status.';
const MANY_CHANGES = `WITH
  changed AS MATERIALIZED (SELECT DISTINCT e.line, p.cooperative_id FROM staging.changes e
    CROSS JOIN staging.resolved_references p ON p.line = e.line
    WHERE e."column" IN ('full_name', 'identity_card', 'status')),
  sums AS (SELECT cooperative_id, count(*) AS rows,
      (SELECT sum(rows) FROM (${currentSql(
        MEMBER_COUNTS.ofCooperatives,
        `cooperative_id = changed.cooperative_id AND status <> '${ERASED_STATUS}'`,
      )})) AS members
    FROM changed GROUP BY 1 HAVING count(*) > ${MANY.members})
  SELECT e.line, ${saying(MANY_CHANGE, { rows: 's.rows', members: 's.members', cooperative: 'c.code' })}
  FROM sums s
  CROSS JOIN main.cooperatives c ON c.id = s.cooperative_id
  CROSS JOIN changed e ON e.cooperative_id = s.cooperative_id
  WHERE s.rows * ${MANY.share} > s.members`;

/** SELECT of new rows for people whom a correction has moved to another cooperative. */
const MOVED = `SELECT DISTINCT e.line,
    json_object('cooperative', c.code, 'id', replace(h.actor, 'correction:', ''))
  FROM staging.elsewhere e CROSS JOIN staging.resolved_references p ON p.line = e.line
  CROSS JOIN main.members m ON m.id = e.member_id CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
  CROSS JOIN main.changes h ON h.entity = 'members' AND h.row_id IN (SELECT m.id UNION ALL
      SELECT g.id FROM main.former_members g WHERE g.into_id = m.id)
  WHERE p.id IS NULL AND h.field = 'cooperative_id' AND h.old = p.cooperative_id
    AND h.actor GLOB 'correction:*' AND h.actor NOT IN (${REVERSED_ACTORS})`;

const IDENTITY_COLUMNS = listed(['full_name', 'date_of_birth', 'identity_card']);

/** Compares new rows, and rows that change an identity, with members of other cooperatives. */
const nameDiffersSql = ({ columns }: FileScope): string => {
  const born = columns.has('date_of_birth') ? 'r.date_of_birth' : 't.date_of_birth';
  return `SELECT DISTINCT e.line, '' FROM staging.elsewhere e CROSS JOIN staging.rows r ON r.line = e.line
    CROSS JOIN staging.resolved_references p ON p.line = e.line
    CROSS JOIN main.members m ON m.id = e.member_id LEFT JOIN main.members t ON t.id = p.id
    WHERE (p.id IS NULL
        OR e.line IN (SELECT line FROM staging.changes WHERE "column" IN (${IDENTITY_COLUMNS})))
      AND substr(${born}, 1, 4) <> substr(m.date_of_birth, 1, 4)
      AND NOT have_common_word(coalesce(r.full_name, t.full_name), m.full_name)`;
};

/**
 * Finds entries at least twelve hours after the day of death, which has then ended in every time zone. Skips
 * members whose status was corrected.
 */
const afterDeath = (instant: string): string => `SELECT r.line, ''
  FROM main.members m INDEXED BY members_deceased
  CROSS JOIN staging.resolved_references p ON p.member_id = m.id
  CROSS JOIN staging.rows r ON r.line = p.line
  WHERE m.date_of_death IS NOT NULL AND m.status = 'deceased'
    AND r.${instant} >= unixepoch(m.date_of_death, '+36 hours')`;

const OVERPAID_LOANS = `SELECT p.line, '' FROM staging.resolved_references p
  CROSS JOIN main.loans l ON l.id = p.loan_id LEFT JOIN staging.paid_amounts a ON a.loan_id = l.id
  WHERE l.paid_amount_minor + coalesce(a.delta, 0) > ${MOST_TIMES_PAID} * l.amount_minor`;

/** Minimum plausible interest, in hundredths of a per cent: 0.18 is probably a fraction for 18 %. */
const LEAST_INTEREST = 100;

/** A kind of file has at most one statement of each warning: `listWarnings` finds the message by both. */
export const WARNING_STATEMENTS: { readonly [kind in ImportKind]: readonly WarningStatement[] } = {
  cooperatives: [
    statement('ended_status', ['status'], wouldRevive(listed(ENDED_COOPERATIVE_STATUSES)), (n) =>
      say('{n|# cooperative|# cooperatives} recorded as dissolved would get another status.', { n }),
    ),
  ],
  members: [
    statement('ended_status', ['status'], wouldRevive(ENDED), (n) =>
      say('{n|# member|# members} recorded as withdrawn or deceased would get another status.', { n }),
    ),
    statement('many_changes', [], MANY_CHANGES, unpacked),
    statement('other_cooperative', [], MEMBERS_OF_ANOTHER_COOPERATIVE, unpacked),
    statement('moved', [], MOVED, (n, detail) =>
      say(
        '{n|# member of this list was|# members of this list were} moved to {cooperative} by ' +
          'correction {id}.',
        { n, ...(JSON.parse(detail) as { cooperative: string; id: string }) },
      ),
    ),
    statement('name_differs', [], nameDiffersSql, (n) =>
      say(
        '{n|# national ID is|# national IDs are} held in another cooperative under a different name and ' +
          'with another year of birth.',
        { n },
      ),
    ),
    statement('near_duplicate', [], lookalikesSql, (n) =>
      say(
        '{n|# row has|# rows have} the name and phone of another member, here or in another cooperative, ' +
          'and a national ID that differs in one digit.',
        { n },
      ),
    ),
    statement(
      'changed_id',
      [],
      `SELECT line, '' FROM staging.changes WHERE "column" = 'identity_card'`,
      (n) =>
        say(
          '{n|# member code belongs|# member codes belong} to a member with another national ID, which ' +
            'would be replaced.',
          { n },
        ),
    ),
    statement(
      'impossible_id',
      [],
      `SELECT line, '' FROM staging.rows WHERE identity_card < '1' OR identity_card >= '4'`,
      (n) => say('{n|# national ID begins|# national IDs begin} with neither 1, 2 nor 3.', { n }),
    ),
    statement('contradicted_id', [], contradictedCardsSql, unpacked),
    statement(
      'born_after_registration',
      ['date_of_birth', 'registration_date'],
      // A tolerance of one day covers all time zones.
      `SELECT line, '' FROM staging.rows
       WHERE date_of_birth > date(registration_date + ${24 * 3600}, 'unixepoch')`,
      (n) => say('{n|# member was|# members were} born after the date of registration.', { n }),
    ),
  ],
  production: [
    ...ENTRY_WARNINGS,
    statement('newer_version', [], newerVersionSql, describeNewer('production')),
    ...TYPED_WARNINGS.production,
    statement('after_death', [], afterDeath('delivered_at'), (n) =>
      say('{n|# delivery is|# deliveries are} dated after the death of the member.', { n }),
    ),
  ],
  savings: [
    ...ENTRY_WARNINGS,
    statement('newer_version', [], newerVersionSql, describeNewer('savings')),
    ...TYPED_WARNINGS.savings,
    statement('after_death', [], afterDeath('transacted_at'), (n) =>
      say('{n|# transaction is|# transactions are} dated after the death of the member.', { n }),
    ),
  ],
  payments: [
    ...ENTRY_WARNINGS,
    statement('overpaid', [], OVERPAID_LOANS, (n) =>
      say('{n|# payment is|# payments are} on loans paid beyond three times the amount.', { n }),
    ),
    ...TYPED_WARNINGS.payments,
  ],
  loans: [
    ...ENTRY_WARNINGS,
    statement(
      'overpaid',
      ['paid_amount'],
      `SELECT line, '' FROM staging.rows WHERE paid_amount > ${MOST_TIMES_PAID} * amount`,
      (n) => say('{n|# loan is|# loans are} paid beyond three times the amount.', { n }),
    ),
    statement(
      'end_before_start',
      ['loan_start_date', 'loan_end_date'],
      `SELECT line, '' FROM staging.rows WHERE loan_end_date < loan_start_date`,
      (n) => say('{n|# loan ends|# loans end} before the start.', { n }),
    ),
    statement(
      'low_interest',
      ['interest_rate'],
      `SELECT line, '' FROM staging.rows WHERE interest_rate > 0 AND interest_rate < ${LEAST_INTEREST}`,
      (n) =>
        say('{n|# loan has|# loans have} an interest of less than 1 % a year: is 0.18 meant as 18 %?', { n }),
    ),
  ],
};

const LINES_AT_ONCE = 1_000;

/** Must be called after the rows of the file are compared with stored rows. */
export function findWarnings(scope: FileScope): void {
  const { db, kind, columns } = scope;
  if (kind === 'members') findElsewhere(db);
  stageNames(scope);
  for (const { kind: warningKind, needs, sql } of WARNING_STATEMENTS[kind]) {
    const select = needs.every((column) => columns.has(column)) ? sql(scope) : undefined;
    if (select === undefined) continue;
    db.run(
      `INSERT INTO staging.warnings (kind, line, detail) SELECT DISTINCT ?, line, detail
       FROM (WITH found (line, detail) AS (${select}) SELECT line, detail FROM found) ORDER BY line`,
      [warningKind],
    );
  }
}

const STOPPING = listed(Object.entries(WARNINGS).flatMap(([kind, { stops }]) => (stops ? kind : [])));

/** True if a warning after `lastId` stops the file, and no earlier warning has the same kind and line. */
export const hasNewStops = (db: Connection, lastId: number): boolean =>
  db.has(`staging.warnings n WHERE n.id > ${lastId} AND n.kind IN (${STOPPING}) AND NOT EXISTS
    (SELECT 1 FROM staging.warnings w WHERE w.id <= ${lastId} AND w.kind = n.kind AND w.line = n.line)`);

export const lastWarning = (db: Connection): number =>
  db.value<number>('SELECT coalesce(max(id), 0) FROM staging.warnings');

/** For new rows, and rows that change an identity or code, stages members elsewhere with the national ID. */
function findElsewhere(db: Connection): void {
  db.exec('DELETE FROM staging.elsewhere');
  if (!db.has('main.members')) return;
  db.exec(`INSERT INTO staging.elsewhere (line, member_id)
    SELECT p.line, m.id FROM ${ROWS}
    CROSS JOIN main.members m ON m.identity_card = r.identity_card
    WHERE m.cooperative_id <> p.cooperative_id AND (p.id IS NULL OR p.line IN
      (SELECT line FROM staging.changes WHERE "column" IN (${IDENTITY_COLUMNS}, 'member_code')))`);
}

export function listWarnings({ db, kind, assertCurrent }: FileScope): ImportWarning[] {
  const warnings = db.rows<{ kind: ImportWarning['kind']; detail: string; rows: number }>(
    'SELECT kind, detail, count(*) AS rows FROM staging.warnings GROUP BY 1, 2 ORDER BY min(id)',
  );
  return warnings.map(({ kind: warningKind, detail, rows }) => {
    const statement = WARNING_STATEMENTS[kind].find((each) => each.kind === warningKind);
    if (statement === undefined) throw new Error(`The warning ${warningKind} about ${kind} has no message.`);
    return {
      kind: warningKind,
      stops: WARNINGS[warningKind].stops,
      message: statement.message(rows, detail),
      count: rows,
      lines() {
        assertCurrent();
        return linesOf(db, warningKind, detail);
      },
    };
  });
}

function* linesOf(db: Connection, kind: string, detail: string): Generator<number> {
  const page = db.raw.prepare<[string, string, number], { id: number; line: number }>(
    `SELECT id, line FROM staging.warnings WHERE kind = ? AND detail = ? AND id > ? ORDER BY id
       LIMIT ${LINES_AT_ONCE}`,
  );
  const rows = readPages<{ id: number; line: number }>(LINES_AT_ONCE, (last) =>
    page.all(kind, detail, last?.id ?? 0),
  );
  for (const { line } of rows) yield line;
}

/**
 * The signs that a ledger came before (docs/import-reference.md#warnings). As it is: then the members that
 * it names, or their entries, are others now. In another form: with receipt numbers that it had not, or
 * without a column that it had, all of its rows would be new entries.
 */
import { OF_SAME_BYTES } from '../../journal/operations.ts';
import { creatorOf } from '../../journal/origin.ts';
import { tableOf } from '../../schema/tables.ts';
import { saying } from '../checks/check-statements.ts';
import { AMOUNT, dayOf, isLedger, isOnDay, type LedgerKind, UTC } from '../staged/entry-values.ts';
import type { FileScope } from '../staged/file-scope.ts';
import { FEWEST, SAMPLE } from './ledger-of-another-cooperative.ts';

const SAME_FILE =
  '{rows|# row|# rows} would be new, although the file was imported before, as import {id}: were entries ' +
  'removed since, or does somebody else have a code or national ID of it now?';
const SAME_ROWS =
  '{found} of the {rows} rows for {code} have the member, day and amount of stored entries: did this ' +
  'ledger come before, in another form?';
const SAME_ROWS_IMPORTED =
  '{found} of the {rows} rows for {code} have the member, day and amount of stored entries from import ' +
  '{id}: did this ledger come before, in another form?';

/** JOIN of the entries `t` of a row's own member, or loan, that are of its day and amount. */
function equalEntries({ columns, zone = UTC }: FileScope, kind: LedgerKind): string | undefined {
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
      // Without a date, everybody's second loan looks like the first.
      return columns.has('loan_start_date')
        ? `${of('member_id')} = p.member_id AND t.amount_minor = r.amount AND ${at('loan_start_date')}`
        : undefined;
    case 'payments':
      return `${of('loan_id')} = p.loan_id AND t.amount_minor = r.amount AND ${at('paid_at')}`;
  }
}

/**
 * SELECT of `line, detail`: new rows of bytes that were imported before, unless as many were refused then. A
 * row that was stored by its values keeps no trace of the code or number that it named.
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
 * SELECT of `line, detail`: new rows of a file that came before or, if it did not as it is, those that are
 * nine tenths of a cooperative's in the file, and equal to entries that no row of the file is, of the same
 * members. These are looked for only where half of a few rows are.
 * @returns undefined when there is nothing to look for
 */
export function alreadyStoredSql(scope: FileScope): string | undefined {
  const { db, kind } = scope;
  if (!isLedger(kind) || !db.has('staging.resolved_references WHERE id IS NULL')) return undefined;
  const again = sameFileSql(scope);
  if (again !== undefined) return again;
  const equal = equalEntries(scope, kind);
  if (equal === undefined) return undefined;
  const rows = (lines: string) => `${lines} CROSS JOIN staging.rows r ON r.line = p.line ${equal}`;
  const cooperatives = db.values<number>(
    `WITH sample AS MATERIALIZED (${SAMPLE}), sizes AS (SELECT p.cooperative_id, count(*) AS rows
         FROM sample s CROSS JOIN staging.resolved_references p ON p.line = s.line GROUP BY 1)
     SELECT p.cooperative_id
     FROM ${rows('sample s CROSS JOIN staging.resolved_references p ON p.line = s.line AND p.id IS NULL')}
     GROUP BY 1 HAVING 2 * count(DISTINCT r.line) >=
       (SELECT rows FROM sizes WHERE cooperative_id = p.cooperative_id)`,
  );
  if (cooperatives.length === 0) return undefined;
  const places = { found: 's.found', rows: 's.rows', code: 'c.code' };
  const id = creatorOf(kind, 's.entry');
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

/**
 * Finds and removes missing rows: rows that a replaced import created and that the newer version of its file
 * lacks (docs/import-reference.md#a-newer-version-of-a-file).
 */

import {
  type Author,
  insertRemovedRows,
  keepRemovedId,
  removedIds,
  stageRemoved,
} from '../../journal/change-sets.ts';
import { findOperation, isImport, type Operation } from '../../journal/operations.ts';
import { findBlockers, type UndoBlocker } from '../../journal/undo-blockers.ts';
import { type ChangedEntity, memberSql, tableOf } from '../../registry/changes/tables.ts';
import { FILE_COLUMNS, type ImportKind } from '../../registry/file-columns.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS } from '../../sqlite/counts.ts';
import { readPages } from '../../sqlite/list-pages.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { mayEchoCell } from '../../values/errors.ts';
import { areEntries, type FileScope } from '../staging/staging-tables.ts';
import { saying } from './check-statements.ts';

const ROWS_AT_ONCE = 1_000;
const REMOVED =
  '{removed} of the {rows} rows of import {id} {removed|is|are} not in this file and would be removed: ' +
  'is it the newer version?';
/** Maximum number of rows named in a message. */
const LISTED = 3;

/** Returns a SELECT of the ids of rows created by an import, or by an earlier import that it replaced. */
const rowsOf = (id: number, entity: ChangedEntity): string => `WITH RECURSIVE versions (id) AS (SELECT ${id}
    UNION SELECT f.replaces FROM versions v CROSS JOIN main.imported_files f ON f.operation_id = v.id
    WHERE f.replaces IS NOT NULL)
  SELECT t.id FROM versions v
  CROSS JOIN main.created_rows w ON w.operation_id = v.id AND w.entity = '${entity}'
  CROSS JOIN main.${tableOf(entity).table} t ON t.id BETWEEN w.first_row AND w.last_row`;

const ofFile = (cooperative: string): string => `${cooperative} IN
  (SELECT cooperative_id FROM staging.resolved_references WHERE cooperative_id IS NOT NULL)`;

/**
 * Stages the missing rows, or a fault if the file cannot replace the import. Skips rows of erased persons,
 * and rows of cooperatives that the file lacks. Must be called after rows are matched with stored rows.
 */
export function findMissing({ db, kind, replaces }: FileScope): void {
  if (replaces === undefined) return;
  db.exec('DELETE FROM staging.missing');
  const refusal = refuseReplacement(db, kind, replaces) ?? stageMissing(db, kind, replaces);
  if (refusal === undefined) return;
  db.run(`INSERT INTO staging.faults (line, "column", message, refuses) VALUES (1, '', ?, 'file')`, [
    refusal,
  ]);
}

function refuseReplacement(db: Connection, kind: ImportKind, id: number): string | undefined {
  const operation = findOperation(db, id);
  if (operation === undefined || !isImport(operation)) return `There is no import ${id} to replace.`;
  const { kind: other, undoneAt, replacedBy } = operation;
  if (other !== kind)
    return `Import ${id} is of ${other}, not of ${kind}, and cannot be replaced by this file.`;
  if (undoneAt !== null) return `Import ${id} was undone and cannot be replaced.`;
  if (replacedBy !== null) return `Import ${id} was replaced by import ${replacedBy}. Replace that one.`;
  return undefined;
}

/** Rows of erased persons stay for statistics. */
const isOfErased = (kind: ImportKind): string => `EXISTS (SELECT 1 FROM main.members m
  WHERE m.id = ${areEntries(kind) ? memberSql(kind, 't') : 't.id'} AND m.status = '${ERASED_STATUS}')`;

function stageMissing(db: Connection, kind: ImportKind, id: number): string | undefined {
  const { table } = tableOf(kind);
  const rows = rowsOf(id, kind);
  if (kind !== 'cooperatives') {
    const cooperative = db.row<{ code: string; isOfFile: number }>(
      `SELECT c.code, ${ofFile('c.id')} AS isOfFile FROM (${rows}) o
       CROSS JOIN main.${table} t ON t.id = o.id
       CROSS JOIN main.cooperatives c ON c.id = t.cooperative_id ORDER BY 2 DESC LIMIT 1`,
    );
    if (cooperative?.isOfFile === 0)
      return `Import ${id} is of ${cooperative.code}, of which this file has no rows.`;
  }
  // Faulty rows may match no stored row, so too many rows would count as missing. The file is refused anyway.
  if (db.has("staging.faults WHERE refuses = 'row'")) return undefined;
  const isMeant =
    kind === 'cooperatives' ? 'true' : `${ofFile('t.cooperative_id')} AND NOT ${isOfErased(kind)}`;
  db.exec(`INSERT INTO staging.missing (id)
    SELECT t.id FROM (${rows}) o CROSS JOIN main.${table} t ON t.id = o.id
    WHERE t.id NOT IN (SELECT id FROM staging.resolved_references WHERE id IS NOT NULL) AND ${isMeant}`);
  if (!areEntries(kind)) return undefined;
  const operation = findOperation(db, id) as Operation;
  const going = { table: tableOf(kind), created: 'IN (SELECT id FROM staging.missing)', fields: [] };
  const { count, blockers } = findBlockers(db, operation, [going], LISTED);
  return count === 0 ? undefined : describeBlockers(id, count, blockers);
}

function describeBlockers(id: number, count: number, blockers: readonly UndoBlocker[]): string {
  const rest = count - blockers.length;
  const listed = blockers.map(({ row, reason, actor }) => {
    const name = mayEchoCell(row) && row !== '' ? row : 'one';
    const by = actor?.replace(':', ' ') ?? 'somebody';
    return reason === 'refers'
      ? `payment ${name} belongs to one of these rows`
      : `${name} was changed since, by ${by}`;
  });
  return (
    `Rows of import ${id} are not in this file, but cannot be removed: ` +
    `${[...listed, ...(rest > 0 ? [`${rest} more`] : [])].join('; ')}.`
  );
}

/**
 * Makes a row a new entry if the replaced import gave the row's reference to an entry of another member or
 * loan. The old entry then counts as missing and is removed. Skips entries of erased persons.
 */
export function separateOwners({ db, kind, replaces }: FileScope): void {
  if (replaces === undefined || !areEntries(kind)) return;
  const [stored, meant] =
    kind === 'payments' ? ['t.loan_id', 'p.loan_id'] : [memberSql(kind, 't'), 'p.member_id'];
  db.exec(`UPDATE staging.resolved_references AS p SET id = NULL
    WHERE id IN (SELECT t.id FROM main.${tableOf(kind).table} t
      WHERE t.id = p.id AND ${stored} <> ${meant} AND NOT ${isOfErased(kind)}
        AND t.id IN (${rowsOf(replaces, kind)}))`);
}

/** Must be called in the transaction of the import, before its rows are written. */
export function removeMissing({ db, kind, replaces }: FileScope, by: Author): void {
  if (replaces !== undefined && areEntries(kind)) remove(db, kind, 'SELECT id FROM staging.missing', by);
}

/** Removes empty accounts that the replaced import opened. Must be called after the writes. */
export function removeEmptied({ db, kind, replaces }: FileScope, by: Author): void {
  if (replaces === undefined || kind !== 'savings') return;
  const emptied = `SELECT a.id FROM (${rowsOf(replaces, 'accounts')}) a
    WHERE NOT EXISTS (SELECT 1 FROM main.savings_transactions t WHERE t.account_id = a.id)`;
  remove(db, 'accounts', emptied, by);
}

function remove(db: Connection, entity: ChangedEntity, ids: string, by: Author): void {
  const { table } = tableOf(entity);
  if (stageRemoved(db, entity, `main.${table}`, `r.id IN (${ids})`) === 0) return;
  insertRemovedRows(db, entity, `main.${table}`, by);
  const removed = removedIds(entity);
  const last = db.value<number>(`SELECT max(row_id) FROM (${removed})`);
  db.exec(`DELETE FROM main.${table} WHERE id IN (${removed})`);
  keepRemovedId(db, table, last);
}

export function addMembersOfMissing({ db, kind }: FileScope): void {
  if (!areEntries(kind)) return;
  db.exec(`INSERT OR IGNORE INTO staging.touched_members (id)
    SELECT ${memberSql(kind, 't')} FROM staging.missing x
    CROSS JOIN main.${tableOf(kind).table} t ON t.id = x.id`);
}

/** @returns SELECT of `line, detail`, or undefined */
export function removedSql({ kind, replaces }: FileScope): string | undefined {
  if (replaces === undefined) return undefined;
  const detail = saying(REMOVED, { removed: 'removed', rows: 'rows', id: `${replaces}` });
  return `SELECT min(line), ${detail} FROM (SELECT
      (SELECT count(*) FROM staging.missing) AS removed,
      (SELECT count(*) FROM (${rowsOf(replaces, kind)})) AS rows)
    CROSS JOIN staging.rows WHERE removed > 0 GROUP BY 2`;
}

/** @returns undefined without a replaced import */
export function openMissing(scope: FileScope) {
  const { db, kind, replaces, assertCurrent } = scope;
  if (replaces === undefined) return undefined;
  return {
    count: db.count('staging.missing'),
    /** True if the import removes the missing rows. It never removes members or cooperatives. */
    areRemoved: areEntries(kind),
    /** Lists the rows by id, with values in the order of `FILE_COLUMNS`. Must be called before the import. */
    list(): Iterable<readonly StagedValue[]> {
      assertCurrent();
      return listMissing(db, kind);
    },
  };
}

function* listMissing(db: Connection, kind: ImportKind): Generator<readonly StagedValue[]> {
  const page = db.raw.prepare<[number], StagedValue[]>(missingSql(kind)).raw();
  const rows = readPages<StagedValue[]>(ROWS_AT_ONCE, (last) => page.all((last?.[0] as number) ?? 0));
  for (const [, ...values] of rows) yield values;
}

function missingSql(kind: ImportKind): string {
  const { table } = tableOf(kind);
  const owners: { readonly [column: string]: string } = {
    cooperative_code: '(SELECT code FROM main.cooperatives WHERE id = t.cooperative_id)',
    loan_reference: '(SELECT reference FROM main.loans WHERE id = t.loan_id)',
    account_number: '(SELECT account_number FROM main.savings_accounts WHERE id = t.account_id)',
  };
  const ofMember = (column: string) =>
    areEntries(kind)
      ? `(SELECT ${column} FROM main.members WHERE id = ${memberSql(kind, 't')})`
      : `t.${column}`;
  const values = FILE_COLUMNS[kind].map(({ name, role, field }) =>
    role === 'owner' || role === 'compared' ? (owners[name] ?? ofMember(field.column)) : `t.${field.column}`,
  );
  return `SELECT t.id, ${values.join(', ')} FROM staging.missing x CROSS JOIN main.${table} t ON t.id = x.id
    WHERE x.id > ? ORDER BY x.id LIMIT ${ROWS_AT_ONCE}`;
}

/** Writes a staged and checked file into the registry, set by set, inside the caller's transaction. */
import type { ImportKind } from '../../contract/import/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import type { IdRange } from '../journal/operations.ts';
import { nextIdOf } from '../journal/record-changes.ts';
import { tableOf } from '../schema/tables.ts';
import { TARGETS, type Target, type TargetColumn } from '../schema/targets.ts';
import { type Assignment, assignmentsOf, countByColumn } from './staged/changes.ts';
import type { FileScope } from './staged/file-scope.ts';
import { groupOf, IS_ON_INSERT, type TriggerGroup } from './trigger-twins.ts';

/**
 * A condition on members: the file brings new rows of theirs. Where they were found before the lock, it also
 * holds for members of changed rows, who are stale already.
 */
const ofNewRows = (kind: ImportKind): string =>
  isPartOfMember(kind)
    ? 'id IN (SELECT id FROM staging.touched_members)'
    : 'id IN (SELECT member_id FROM staging.resolved_references WHERE id IS NULL)';

/** Whether rows of this kind are announced as changes of their member. */
export const isPartOfMember = (kind: ImportKind): boolean => 'memberField' in tableOf(kind).announced;

const STAGED = 'staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line';

/** The accounts that a savings file opens, before its changes are recorded and applied. */
export function openNewAccounts(scope: FileScope): IdRange | undefined {
  return scope.kind === 'savings' ? openAccounts(scope.db, assignmentsOf(scope)) : undefined;
}

/** Writes the new rows and the staged changes of stored ones. @returns the ids of new rows */
export function applyStaged(scope: FileScope, nowSeconds: number): IdRange {
  const { db, kind } = scope;
  const columns = countByColumn(scope);
  const changed = assignmentsOf(scope).filter(({ column }) => columns.has(column));
  update(db, TARGETS[kind], changed, nowSeconds);
  return insert(db, kind, nowSeconds);
}

function insert(db: Connection, kind: ImportKind, nowSeconds: number): IdRange {
  const target = TARGETS[kind];
  const keys = target.keys.filter((key) => key.to !== undefined);
  const first = nextIdOf(db, target.table);
  const names = [
    ...(first.isUsual ? [] : ['id']),
    ...target.resolved,
    ...keys.map((key) => key.to),
    ...target.columns.flatMap(({ to, addsTo }) => (addsTo === undefined ? [to] : [to, addsTo])),
    ...(target.hasTimestamps ? ['created_at', 'updated_at'] : []),
  ];
  const values = [
    ...(first.isUsual ? [] : [`${first.id - 1} + row_number() OVER (ORDER BY p.line)`]),
    ...target.resolved.map((id) => `p.${id}`),
    ...keys.map((key) => `r.${key.name}`),
    ...target.columns.flatMap((column) =>
      column.addsTo === undefined ? [initialOf(column)] : [initialOf(column), initialOf(column)],
    ),
    ...(target.hasTimestamps ? ['@now', '@now'] : []),
  ];
  // In order of line: ids follow the order of the file.
  const sql = `INSERT INTO main.${target.table} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM ${STAGED} WHERE p.id IS NULL ORDER BY p.line`;
  const count = db.count('staging.resolved_references WHERE id IS NULL');
  const dropped = count >= LARGE ? dropForInsert(db, target, count) : [];
  const added = runWithNow(db, sql, nowSeconds);
  const rows = { table: target.table, members: ofNewRows(kind) };
  for (const group of new Set(dropped.map((each) => each.group))) group?.twin(db, rows);
  for (const each of dropped) db.exec(each.sql);
  return { first: first.id, last: first.id + added - 1 };
}

/** SQL of the value that a new row gets. */
function initialOf({ from, initial, decided }: TargetColumn): string {
  if (decided !== undefined) return decided.created;
  return initial === undefined ? `r.${from}` : `coalesce(r.${from}, ${initial})`;
}

/** With fewer new rows than this, neither rebuilding indexes gains anything nor indexing names afterwards. */
const LARGE = 10_000;

/**
 * With at most so many stored rows for each new one, building all indexes again takes less time than adding
 * the new rows: in an index that is larger than the cache, nearly each of them is on another page.
 */
const MOST_STORED_PER_NEW = 3;

interface Dropped {
  readonly sql: string;
  /** Of a trigger. */
  readonly group: TriggerGroup | undefined;
}

/**
 * Drops the triggers on new rows of a table for the time of an insert, as their work is done faster for many
 * rows, and when a quarter of the table or more will be new its indexes as well. Sorting the entries once
 * keeps the lock linear in the rows, where adding them one by one to indexes larger than the cache does not.
 * Other connections see the old schema until the commit, and keep it when that fails.
 * @returns what was dropped, to be created again
 * @throws as `groupOf`
 */
function dropForInsert(db: Connection, { table }: Target, newRows: number): readonly Dropped[] {
  const lastId = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  const rebuilds = newRows * MOST_STORED_PER_NEW >= lastId;
  const found = db
    .rows<{ name: string; type: string; sql: string }>(
      `SELECT name, type, sql FROM main.sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL
         AND (type = 'index' OR type = 'trigger' AND ${IS_ON_INSERT})`,
      [table],
    )
    .map((each) => ({ ...each, group: each.type === 'trigger' ? groupOf(each.name, table) : undefined }))
    .filter(({ type }) => rebuilds || type === 'trigger');
  for (const { name, type } of found) db.exec(`DROP ${type} main.${name}`);
  return found;
}

/**
 * Writes the staged changes, and no other row: an equal one keeps its `updated_at`.
 * @param changed those of which a value changes; an index is touched only for these
 */
function update(db: Connection, target: Target, changed: readonly Assignment[], nowSeconds: number): void {
  if (changed.length === 0) return;
  const sets = changed.flatMap(({ to, value, addsTo, bit }) => {
    const set = (column: string, next: string) =>
      `${column} = CASE WHEN c.cells & ${bit} THEN ${next} ELSE t.${column} END`;
    // On the right of each is the row as it was.
    return addsTo === undefined
      ? [set(to, value)]
      : [set(to, value), set(addsTo, `t.${addsTo} - t.${to} + ${value}`)];
  });
  if (target.hasTimestamps) sets.push('updated_at = @now');
  const sql = `UPDATE main.${target.table} AS t SET ${sets.join(', ')}
    FROM staging.changed_rows c CROSS JOIN staging.rows r ON r.line = c.line
    CROSS JOIN staging.resolved_references p ON p.line = c.line WHERE t.id = c.id`;
  runWithNow(db, sql, nowSeconds);
}

/** Opens the accounts that the file names and the registry does not know, and resolves them. */
function openAccounts(db: Connection, changed: readonly Assignment[]): IdRange {
  const moves = changed.find(({ to }) => to === 'account_id')?.bit ?? 0;
  const isMoved = `p.line IN (SELECT line FROM staging.changed_rows WHERE cells & ${moves})`;
  const { id: first } = nextIdOf(db, 'savings_accounts');
  const opened = db.run(`INSERT INTO main.savings_accounts (id, cooperative_id, member_id, account_number)
     SELECT ${first - 1} + row_number() OVER (ORDER BY min(p.line)),
       p.cooperative_id, p.member_id, r.account_number FROM ${STAGED}
     WHERE p.account_id IS NULL AND (p.id IS NULL OR ${isMoved})
     GROUP BY p.cooperative_id, r.account_number ORDER BY 1`).changes;
  db.exec(`UPDATE staging.resolved_references AS p SET account_id = (
      SELECT a.id FROM staging.rows r CROSS JOIN main.savings_accounts a
        ON a.cooperative_id = p.cooperative_id AND a.account_number = r.account_number
      WHERE r.line = p.line)
    WHERE account_id IS NULL`);
  return { first, last: first + opened - 1 };
}

function runWithNow(db: Connection, sql: string, nowSeconds: number): number {
  const statement = db.raw.prepare(sql);
  return sql.includes('@now') ? statement.run({ now: nowSeconds }).changes : statement.run().changes;
}

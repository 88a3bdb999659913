/** Writes a staged and checked file into the registry, set by set, inside the caller's transaction. */
import type { Connection } from '../connection/connection.ts';
import { countChangesSql } from '../lists/count-index.ts';
import { MEMBER_COUNTS } from '../lists/counts.ts';
import { addToRowCount, isRowCounted } from '../lists/row-counts.ts';
import { markStaleSql } from '../read-model/stale-flag.ts';
import type { FileScope } from './file-scope.ts';
import { TARGETS, type Target, type TargetColumn } from './targets.ts';

/** A condition on members: the file brings new rows of theirs. */
const OF_NEW_ROWS = 'id IN (SELECT member_id FROM staging.resolved_references WHERE id IS NULL)';

const STAGED = 'staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line';
/** Staged rows whose natural key is stored. */
const EXISTING = `(SELECT p.id AS row_id, p.account_id, r.* FROM ${STAGED} WHERE p.id IS NOT NULL) AS s`;

/** How many rows are new, and how many differ from what is stored. */
interface StagedChanges {
  readonly created: number;
  readonly changed: number;
}

export function applyStaged({ db, kind, columns }: FileScope, nowSeconds: number): StagedChanges {
  const target = TARGETS[kind];
  if (kind === 'savings') openAccounts(db);
  const changed =
    kind === 'members'
      ? updateMembers(db, target, columns, nowSeconds)
      : update(db, target, columns, nowSeconds);
  const created = kind === 'members' ? insertMembers(db, target, nowSeconds) : insert(db, target, nowSeconds);
  return { created, changed };
}

/** What `applyStaged` would find. */
export function countStagedChanges({ db, kind, columns }: FileScope): StagedChanges {
  const target = TARGETS[kind];
  const given = givenColumns(target, columns);
  const created = db.raw
    .prepare('SELECT count(*) FROM staging.resolved_references WHERE id IS NULL')
    .pluck()
    .get() as number;
  if (given.length === 0) return { created, changed: 0 };
  const changed = db.raw
    .prepare(`SELECT count(*) FROM ${EXISTING} CROSS JOIN main.${target.table} t ON t.id = s.row_id
    WHERE ${isDifferent(given)}`)
    .pluck()
    .get() as number;
  return { created, changed };
}

function insert(db: Connection, target: Target, nowSeconds: number): number {
  const keys = target.keys.filter((key) => key.to !== undefined);
  const names = [
    ...target.resolved,
    ...keys.map((key) => key.to),
    ...target.columns.map((column) => column.to),
    ...(target.hasTimestamps ? ['created_at', 'updated_at'] : []),
  ];
  const values = [
    ...target.resolved.map((id) => `p.${id}`),
    ...keys.map((key) => `r.${key.name}`),
    ...target.columns.map((column) =>
      column.initial === undefined ? `r.${column.from}` : `coalesce(r.${column.from}, ${column.initial})`,
    ),
    ...(target.hasTimestamps ? ['@now', '@now'] : []),
  ];
  // In order of line: ids follow the order of the file.
  const sql = `INSERT INTO main.${target.table} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM ${STAGED} WHERE p.id IS NULL ORDER BY p.line`;
  const dropped = dropForInsert(db, target);
  const added = runWithNow(db, sql, nowSeconds);
  // What the dropped triggers would have done row by row.
  const { readModelColumn } = target;
  if (dropped.length > 0) {
    if (readModelColumn !== undefined) db.exec(markStaleSql(readModelColumn, OF_NEW_ROWS));
    if (isRowCounted(target.table)) addToRowCount(db, target.table, added);
  }
  for (const each of dropped) db.exec(each.sql);
  return added;
}

/** With fewer new rows than this, rebuilding gains nothing. */
const FEWEST_FOR_REBUILD = 10_000;

/**
 * Drops the indexes and triggers of a table for the time of an insert: all of them when most of the table
 * will be new, else none. Sorting the entries once keeps the lock linear in the rows, where adding them one
 * by one to indexes larger than the cache does not. Other connections see the old schema until the commit,
 * and keep it when that fails.
 * @returns what was dropped, to be created again
 */
function dropForInsert(db: Connection, { table }: Target): { name: string; type: string; sql: string }[] {
  const lastId = db.raw.prepare(`SELECT coalesce(max(id), 0) FROM main.${table}`).pluck().get() as number;
  const added = db.raw
    .prepare('SELECT count(*) FROM staging.resolved_references WHERE id IS NULL')
    .pluck()
    .get() as number;
  if (added < Math.max(lastId, FEWEST_FOR_REBUILD)) return [];
  const found = db.raw
    .prepare(
      `SELECT name, type, sql FROM main.sqlite_schema
       WHERE type IN ('index', 'trigger') AND tbl_name = ? AND sql IS NOT NULL`,
    )
    .all(table) as { name: string; type: string; sql: string }[];
  for (const { name, type } of found) db.exec(`DROP ${type} main.${name}`);
  return found;
}

/** Updates the rows that differ from what is stored, and no other: an equal row keeps its `updated_at`. */
function update(db: Connection, target: Target, columns: ReadonlySet<string>, nowSeconds: number): number {
  const given = givenColumns(target, columns);
  if (given.length === 0) return 0;
  const sets = given.map(({ to, value }) => `${to} = ${value}`);
  if (target.hasTimestamps) sets.push('updated_at = @now');
  const sql = `UPDATE main.${target.table} AS t SET ${sets.join(', ')}
    FROM ${EXISTING} WHERE t.id = s.row_id AND (${isDifferent(given)})`;
  return runWithNow(db, sql, nowSeconds);
}

interface Assignment {
  /** Column of the table. */
  readonly to: string;
  /** SQL of its new value, from the staged row `s` and the stored row `t`. */
  readonly value: string;
}

/**
 * What the file assigns to a stored row.
 * @param columns those the file has; a missing one keeps what is stored
 */
function givenColumns(target: Target, columns: ReadonlySet<string>): Assignment[] {
  const given = target.columns.filter((column) => columns.has(column.from)).map(toAssignment);
  return target.resolved.includes('account_id')
    ? [...given, { to: 'account_id', value: 's.account_id' }]
    : given;
}

const isDifferent = (given: readonly Assignment[]): string =>
  given.map(({ to, value }) => `t.${to} IS NOT ${value}`).join(' OR ');

const toAssignment = ({ from, to, whenEmpty }: TargetColumn): Assignment => ({
  to,
  value: whenEmpty === 'clear' ? `s.${from}` : `coalesce(s.${from}, t.${to})`,
});

function insertMembers(db: Connection, target: Target, nowSeconds: number): number {
  const lastId = db.raw.prepare('SELECT coalesce(max(id), 0) FROM main.members').pluck().get() as number;
  const created = insert(db, target, nowSeconds);
  if (created > 0)
    count(db, `SELECT id, cooperative_id, status, 1 AS delta FROM main.members WHERE id > ${lastId}`, true);
  return created;
}

function updateMembers(
  db: Connection,
  target: Target,
  columns: ReadonlySet<string>,
  nowSeconds: number,
): number {
  // What counted before a change of status no longer does, and the new status does.
  db.exec(`DELETE FROM staging.status_changes;
    INSERT INTO staging.status_changes
    SELECT m.id, m.cooperative_id, m.status, r.status FROM ${STAGED} CROSS JOIN main.members m ON m.id = p.id
    WHERE r.status <> m.status`);
  const changed = update(db, target, columns, nowSeconds);
  count(
    db,
    `SELECT id, cooperative_id, old_status AS status, -1 AS delta FROM staging.status_changes
     UNION ALL SELECT id, cooperative_id, new_status, 1 FROM staging.status_changes`,
    false,
  );
  return changed;
}

function count(db: Connection, changes: string, isNew: boolean): void {
  for (const sql of countChangesSql(MEMBER_COUNTS, changes, isNew)) db.exec(sql);
}

/** Opens the accounts that the file names and the registry does not know, and resolves them. */
function openAccounts(db: Connection): void {
  db.exec(`INSERT INTO main.savings_accounts (cooperative_id, member_id, account_number)
    SELECT p.cooperative_id, p.member_id, r.account_number FROM ${STAGED} WHERE p.account_id IS NULL
    GROUP BY p.cooperative_id, r.account_number ORDER BY min(p.line);
    UPDATE staging.resolved_references AS p SET account_id = (
      SELECT a.id FROM staging.rows r CROSS JOIN main.savings_accounts a
        ON a.cooperative_id = p.cooperative_id AND a.account_number = r.account_number
      WHERE r.line = p.line)
    WHERE account_id IS NULL`);
}

function runWithNow(db: Connection, sql: string, nowSeconds: number): number {
  const statement = db.raw.prepare(sql);
  return sql.includes('@now') ? statement.run({ now: nowSeconds }).changes : statement.run().changes;
}

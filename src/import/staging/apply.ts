/** Writes a staged, checked file into the registry with set-based SQL, in the caller's transaction. */

import { nextIdOf } from '../../journal/change-sets.ts';
import type { IdRange } from '../../journal/operations.ts';
import { markStaleSql, type ReadModelColumn, tableOf } from '../../registry/changes/tables.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { leaveUnindexed } from '../../registry/stores/name-index.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { addNewRows } from '../../sqlite/counts.ts';
import { type Assignment, assignmentsOf, countByColumn } from './staged-changes.ts';
import type { FileScope } from './staging-tables.ts';
import { TARGETS, type Target } from './targets.ts';

// A large import drops the insert triggers of a table, and afterwards does their work for all new rows at
// once. So every insert trigger on an imported table must belong to one of these groups.

interface TriggerGroup {
  readonly has: (trigger: string, table: string) => boolean;
  /**
   * Does the work of the dropped triggers.
   * @param members SQL condition on `members` that is true for the owners of the new rows
   */
  readonly twin: (db: Connection, table: string, members: string) => void;
}

const STALE: { readonly [table: string]: ReadModelColumn } = {
  production_entries: 'production',
  loans: 'loans',
  savings_transactions: 'savings',
};

export const TRIGGER_GROUPS: readonly TriggerGroup[] = [
  {
    has: (trigger, table) => trigger === `${table}_batched`,
    twin(db, table) {
      if (table === 'members') leaveUnindexed(db);
      addNewRows(db, table);
    },
  },
  {
    has: (trigger) => trigger === 'cooperative_names_added',
    twin: (db) => db.exec("INSERT INTO main.cooperative_names (cooperative_names) VALUES ('rebuild')"),
  },
  {
    has: (trigger, table) => table in STALE && trigger === `${table}_insert`,
    twin: (db, table, members) => db.exec(markStaleSql(STALE[table] as ReadModelColumn, members)),
  },
];

/** SQL condition, for a trigger's row of `sqlite_schema`, that the trigger runs on insert. */
export const IS_ON_INSERT = "sql GLOB '* INSERT ON *'";

/** @throws Error for a trigger in no group, because a large import would skip its work */
export function groupOf(trigger: string, table: string): TriggerGroup {
  const group = TRIGGER_GROUPS.find(({ has }) => has(trigger, table));
  if (group !== undefined) return group;
  throw new Error(`The trigger ${trigger} on ${table} has no set-based twin. Declare one in TRIGGER_GROUPS.`);
}

/** True if events announce rows of this kind as changes of their member. */
export const isPartOfMember = (kind: ImportKind): boolean => 'memberField' in tableOf(kind).announced;

const STAGED = 'staging.resolved_references p CROSS JOIN staging.rows r ON r.line = p.line';

/** Writes the new rows and the staged changes of stored rows. @returns the ids of the new rows */
export function applyStaged(scope: FileScope, nowSeconds: number): IdRange {
  const { db, kind } = scope;
  const columns = countByColumn(scope);
  const changed = assignmentsOf(scope).filter(({ from }) => columns.has(from));
  update(db, TARGETS[kind], changed, nowSeconds);
  return insert(db, kind, nowSeconds);
}

function insert(db: Connection, kind: ImportKind, nowSeconds: number): IdRange {
  const target = TARGETS[kind];
  const { id: first, isUsual } = nextIdOf(db, target.table);
  const values = new Map<string, string>();
  if (!isUsual) values.set('id', `${first - 1} + row_number() OVER (ORDER BY p.line)`);
  for (const id of target.resolved) values.set(id, `p.${id}`);
  for (const { name, to } of target.keys) if (to !== undefined) values.set(to, `r.${name}`);
  for (const { to, created, addsTo } of target.columns) {
    values.set(to, created);
    if (addsTo !== undefined) values.set(addsTo, created);
  }
  if (target.hasTimestamps) values.set('created_at', '@now').set('updated_at', '@now');
  // Ids follow the order of the file.
  const sql = `INSERT INTO main.${target.table} (${[...values.keys()].join(', ')})
    SELECT ${[...values.values()].join(', ')} FROM ${STAGED} WHERE p.id IS NULL ORDER BY p.line`;
  const count = db.count('staging.resolved_references WHERE id IS NULL');
  const dropped = count >= LARGE ? dropForInsert(db, target, count) : [];
  const added = db.run(sql, { now: nowSeconds }).changes;
  // The members of changed rows may be included. That is harmless, because their read model is stale already.
  const members = isPartOfMember(kind)
    ? 'id IN (SELECT id FROM staging.touched_members)'
    : 'id IN (SELECT member_id FROM staging.resolved_references WHERE id IS NULL)';
  for (const group of new Set(dropped.map(({ group }) => group))) group?.twin(db, target.table, members);
  for (const { sql } of dropped) db.exec(sql);
  return { first, last: first + added - 1 };
}

/** Minimum number of new rows for which dropping triggers and indexes saves time. */
const LARGE = 10_000;

/**
 * Maximum number of stored rows per new row for which rebuilding the indexes is faster than adding to them:
 * in an index larger than the cache, nearly every added entry is on another page.
 */
const MOST_STORED_PER_NEW = 3;

/**
 * Drops the insert triggers of a table before a large insert, because their work is faster in bulk. If at
 * least a quarter of the table will be new, also drops the indexes: building an index by one sort keeps the
 * locked time proportional to the number of rows. Other connections see the old schema until the commit.
 * @returns the dropped triggers and indexes, to be created again; an index has no group
 * @throws Error as `groupOf`
 */
function dropForInsert(db: Connection, { table }: Target, newRows: number) {
  const lastId = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  const rebuilds = newRows * MOST_STORED_PER_NEW >= lastId;
  const dropped = db
    .rows<{ name: string; type: string; sql: string }>(
      `SELECT name, type, sql FROM main.sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL
         AND (type = 'index' AND ${rebuilds} OR type = 'trigger' AND ${IS_ON_INSERT})`,
      [table],
    )
    .map(({ name, type, sql }) => {
      return { name, type, sql, group: type === 'trigger' ? groupOf(name, table) : undefined };
    });
  for (const { name, type } of dropped) db.exec(`DROP ${type} main.${name}`);
  return dropped;
}

/**
 * Writes the staged changes. Unchanged rows keep their `updated_at`.
 * @param assignments columns in which a value changes; SQLite updates only indexes on these columns
 */
function update(
  db: Connection,
  target: Target,
  assignments: readonly Assignment[],
  nowSeconds: number,
): void {
  if (assignments.length === 0) return;
  const sets = assignments.flatMap(({ to, changed, addsTo, bit }) => {
    const set = (column: string, next: string) =>
      `${column} = CASE WHEN c.cells & ${bit} THEN ${next} ELSE t.${column} END`;
    // Expressions on the right-hand side use the values from before the update.
    return addsTo === undefined
      ? [set(to, changed)]
      : [set(to, changed), set(addsTo, `t.${addsTo} - t.${to} + ${changed}`)];
  });
  if (target.hasTimestamps) sets.push('updated_at = @now');
  const sql = `UPDATE main.${target.table} AS t SET ${sets.join(', ')}
    FROM staging.changed_rows c CROSS JOIN staging.rows r ON r.line = c.line
    CROSS JOIN staging.resolved_references p ON p.line = c.line WHERE t.id = c.id`;
  db.run(sql, { now: nowSeconds });
}

/**
 * Creates the accounts that a savings file names and the registry lacks, and resolves the references to them.
 * Must run before the file's changes are recorded and applied.
 * @returns the ids of the new accounts; undefined for other kinds of files
 */
export function openNewAccounts(scope: FileScope): IdRange | undefined {
  const { db, kind } = scope;
  if (kind !== 'savings') return undefined;
  const moves = assignmentsOf(scope).find(({ to }) => to === 'account_id')?.bit ?? 0;
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

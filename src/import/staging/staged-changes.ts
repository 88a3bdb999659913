/**
 * Staged changes: the cells of stored rows that a file would change. They are found before the write lock is
 * taken. An apply writes exactly these cells; a cell removed from the list keeps its stored value.
 */

import type { ImportChanges, StagedChange } from '../../journal/operations.ts';
import { fieldOfColumn, tableOf } from '../../registry/changes/tables.ts';
import { readPages } from '../../sqlite/list-pages.ts';
import type { FileScope } from './staging-tables.ts';
import { TARGETS, type Target, type TargetColumn } from './targets.ts';

/** Column of stored rows that the file may change. */
export interface Assignment {
  /** Column name in the file. */
  readonly column: string;
  /** Column of the table. The history uses its field name (`fieldOfColumn`). */
  readonly to: string;
  /** SQL expression for the value to store, from the rows `r` (staged), `p` (resolved) and `t` (stored). */
  readonly value: string;
  /** SQL expressions for the old and new value in lists of changes. */
  readonly listed: { readonly old: string; readonly new: string };
  /** Another column of the table, to which the difference between new and old value is added. */
  readonly addsTo?: string | undefined;
  /** Bit of this column in `changed_rows.cells`. */
  readonly bit: number;
}

const CHANGES_AT_ONCE = 1_000;
/** Index higher than that of any column. `changed_rows.cells` has one bit for each column. */
export const LAST_PLACE = 63;

/**
 * Returns an SQL expression for the id of a change. Ids are ordered by line, then by column.
 * @param place index of the column, up to `LAST_PLACE`
 */
export const changeId = (line: string, place: string | number): string =>
  `${line} * ${LAST_PLACE + 1} + ${place}`;

/** Returns a FROM clause with the changed rows, their staged rows, resolved references and stored rows. */
const CHANGED = (target: Target): string => `staging.changed_rows c
  CROSS JOIN staging.rows r ON r.line = c.line
  CROSS JOIN staging.resolved_references p ON p.line = c.line
  CROSS JOIN main.${target.table} t ON t.id = c.id`;

/** Returns the columns that the file may change. Columns that the file lacks keep their stored values. */
export function assignmentsOf({ kind, columns }: FileScope): Assignment[] {
  const target = TARGETS[kind];
  const assignments = target.columns.filter(({ from }) => columns.has(from)).map(toAssignment);
  if (target.resolved.includes('account_id')) assignments.push(ACCOUNT);
  if (kind === 'members') assignments.push(IDENTITY_CARD);
  return assignments.map((assignment, i) => ({ ...assignment, bit: 2 ** i }));
}

/** Assignment of a new national ID to a member found by member code (constraint-checks.ts). */
const IDENTITY_CARD: Omit<Assignment, 'bit'> = {
  column: 'identity_card',
  to: 'identity_card',
  value: 'r.identity_card',
  listed: { old: 't.identity_card', new: 'r.identity_card' },
};

function toAssignment({ from, to, whenEmpty, decided, addsTo }: TargetColumn): Omit<Assignment, 'bit'> {
  const value = decided?.changed ?? (whenEmpty === 'clear' ? `r.${from}` : `coalesce(r.${from}, t.${to})`);
  return { column: from, to, value, addsTo, listed: { old: `t.${to}`, new: value } };
}

/** Assignment of another account, listed by number because a new account has no id until the apply. */
const ACCOUNT: Omit<Assignment, 'bit'> = {
  column: 'account_number',
  to: 'account_id',
  value: 'p.account_id',
  listed: {
    old: '(SELECT account_number FROM main.savings_accounts WHERE id = t.account_id)',
    new: 'r.account_number',
  },
};

/**
 * Returns a SELECT of the staged changes for the history, with ids of accounts instead of numbers. Must run
 * after new accounts are opened and before rows are updated.
 */
export function recordedChanges({ kind }: FileScope): string {
  if (kind !== 'savings') return 'SELECT * FROM staging.changes ORDER BY id';
  const account = (listed: string, id: string) =>
    `iif(e.field = 'account_id', ${id}, e.${listed}) AS ${listed}`;
  return `SELECT e.line, e.row_id, e.field,
      ${account('old', 't.account_id')}, ${account('new', 'p.account_id')}
    FROM staging.changes e CROSS JOIN staging.resolved_references p ON p.line = e.line
    CROSS JOIN main.savings_transactions t ON t.id = e.row_id ORDER BY e.id`;
}

/** Fills `changed_rows` and `changes` by comparing the staged rows with the stored rows. */
export function stageChanges(scope: FileScope): void {
  const { db, kind } = scope;
  const target = TARGETS[kind];
  const assignments = assignmentsOf(scope);
  db.exec('DELETE FROM staging.changed_rows; DELETE FROM staging.changes; DELETE FROM staging.kept');
  if (assignments.length === 0) return;
  const differs = assignments.map(({ to, value }) => `t.${to} IS NOT ${value}`);
  const cells = assignments.map(({ bit }, i) => `(${differs[i]}) * ${bit}`);
  // Most rows of a repeated import are equal, so cells are compared one by one only for the others.
  db.exec(`INSERT INTO staging.changed_rows (line, id, cells)
    SELECT p.line, t.id, ${cells.join(' + ')} FROM staging.resolved_references p
    CROSS JOIN staging.rows r ON r.line = p.line CROSS JOIN main.${target.table} t ON t.id = p.id
    WHERE ${differs.join(' OR ')}`);
  const pick = (side: 'old' | 'new') =>
    `CASE a.bit ${assignments.map(({ bit, listed }) => `WHEN ${bit} THEN ${listed[side]}`).join(' ')} END`;
  const columns = assignments.map(
    ({ bit, column, to }, place) => `(${bit}, ${place}, '${column}', '${fieldOfColumn(to)}')`,
  );
  db.exec(`WITH a (bit, place, name, field) AS (VALUES ${columns.join(', ')})
    INSERT INTO staging.changes (id, line, row_id, "column", field, old, new)
    SELECT ${changeId('c.line', 'a.place')},
      c.line, c.id, a.name, a.field, ${pick('old')}, ${pick('new')} FROM ${CHANGED(target)}
    CROSS JOIN a WHERE c.cells & a.bit`);
}

/**
 * Keeps the stored values of some cells that the file would change: lists them as kept instead of writing
 * them.
 * @param cells SELECT of ids in `staging.changes`
 */
export function leaveStored(scope: FileScope, cells: string): void {
  const { db } = scope;
  db.exec(`INSERT INTO staging.kept SELECT * FROM staging.changes WHERE id IN (${cells})`);
  db.exec('DELETE FROM staging.changes WHERE id IN (SELECT id FROM staging.kept)');
  for (const { column, bit } of assignmentsOf(scope)) {
    db.exec(`UPDATE staging.changed_rows SET cells = cells & ~${bit}
      WHERE line IN (SELECT line FROM staging.kept WHERE "column" = '${column}')`);
  }
  db.exec('DELETE FROM staging.changed_rows WHERE cells = 0');
}

/**
 * Counts the changes that an apply would make to the accepted rows.
 * @param created number of new rows, if known, because counting a million takes 0.15 s
 */
export function countChanges(
  { db, kind }: FileScope,
  created = db.count('staging.resolved_references WHERE id IS NULL'),
): ImportChanges {
  const changed = db.count('staging.changed_rows');
  const unchanged = db.count('staging.rows') - created - changed;
  const removed = tableOf(kind).owner === undefined ? 0 : db.count('staging.missing');
  return { created, changed, unchanged, kept: db.count('staging.kept'), removed };
}

/** Counts the stored values that the file changes, by column. Columns without a change are missing. */
export function countByColumn(scope: FileScope): ReadonlyMap<string, number> {
  const rows = scope.db.raw.prepare('SELECT "column", count(*) FROM staging.changes GROUP BY 1').raw().all();
  const counts = new Map(rows as [string, number][]);
  const columns = assignmentsOf(scope).filter(({ column }) => counts.has(column));
  return new Map(columns.map(({ column }) => [column, counts.get(column) as number]));
}

type ListedChange = StagedChange & { readonly id: number };

/** Lists changes by line and column, page by page. @param table `kept` for values not written */
export function* listChanges(
  { db, kind }: FileScope,
  table: 'changes' | 'kept' = 'changes',
): Generator<StagedChange> {
  const { table: stored, label } = TARGETS[kind];
  const page = db.raw.prepare<[number], ListedChange>(
    `SELECT e.id, e.line, t.${label} AS row, e."column", e.old, e.new FROM staging.${table} e
     CROSS JOIN main.${stored} t ON t.id = e.row_id WHERE e.id > ? ORDER BY e.id LIMIT ${CHANGES_AT_ONCE}`,
  );
  const changes = readPages<ListedChange>(CHANGES_AT_ONCE, (last) => page.all(last?.id ?? 0));
  for (const { id: _id, ...change } of changes) yield change satisfies StagedChange;
}

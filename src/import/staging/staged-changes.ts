/**
 * Staged changes: the values of stored rows that an import will change. They are listed before the write lock
 * is taken. The import then writes exactly the listed values.
 */

import type { ImportChanges, StagedChange } from '../../journal/operations.ts';
import { REVERSED_ACTORS } from '../../registry/changes/record-changes.ts';
import { fieldOfColumn } from '../../registry/changes/tables.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { readPages } from '../../sqlite/list-pages.ts';
import { ROWS } from '../checks/check-statements.ts';
import { areEntries, type FileScope, TARGETS, type TargetColumn } from './staging-tables.ts';

/** Column of stored rows that the file may change. */
export interface Assignment extends Omit<TargetColumn, 'created'> {
  /** SQL expressions for the values in lists of changes; undefined to list the stored values. */
  readonly listed?: { readonly old: string; readonly new: string };
  /** Bit in `changed_rows.cells`. */
  readonly bit: number;
}

const CHANGES_AT_ONCE = 1_000;
/** Index higher than that of any column. */
export const LAST_PLACE = 63;

/** Returns SQL for the id of a change. Ids are ordered by line and column. @param place up to `LAST_PLACE` */
export const changeId = (line: string, place: string | number): string =>
  `${line} * ${LAST_PLACE + 1} + ${place}`;

export function assignmentsOf({ kind, columns }: FileScope): Assignment[] {
  const assignments: Omit<Assignment, 'bit'>[] = TARGETS[kind].columns.filter(({ from }) =>
    columns.has(from),
  );
  if (kind === 'savings') assignments.push(ACCOUNT);
  if (kind === 'members') assignments.push(IDENTITY_CARD);
  return assignments.map((assignment, i) => ({ ...assignment, bit: 2 ** i }));
}

/** New national ID of a member who was found by member code (run-checks.ts). */
const IDENTITY_CARD: Omit<Assignment, 'bit'> = {
  from: 'identity_card',
  to: 'identity_card',
  changed: 'r.identity_card',
};

/** Lists show account numbers, because a new account has no id before the import. */
const ACCOUNT: Omit<Assignment, 'bit'> = {
  from: 'account_number',
  to: 'account_id',
  changed: 'p.account_id',
  listed: {
    old: '(SELECT account_number FROM main.savings_accounts WHERE id = t.account_id)',
    new: 'r.account_number',
  },
};

/**
 * Returns a SELECT of the staged changes for the history, with ids of accounts instead of account numbers.
 * Must run after new accounts are opened and before rows are updated.
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

/** Compares the staged rows with the stored rows, and fills `changed_rows` and `changes`. */
export function stageChanges(scope: FileScope): void {
  const { db, kind } = scope;
  const target = TARGETS[kind];
  const assignments = assignmentsOf(scope);
  db.exec('DELETE FROM staging.changed_rows; DELETE FROM staging.changes; DELETE FROM staging.kept');
  if (assignments.length === 0) return;
  const differs = assignments.map(({ to, changed }) => `t.${to} IS NOT ${changed}`);
  const cells = assignments.map(({ bit }, i) => `(${differs[i]}) * ${bit}`);
  // Most rows of a repeated import are unchanged. Only the changed rows are then compared value by value.
  db.exec(`INSERT INTO staging.changed_rows (line, id, cells)
    SELECT p.line, t.id, ${cells.join(' + ')} FROM ${ROWS}
    CROSS JOIN main.${target.table} t ON t.id = p.id
    WHERE ${differs.join(' OR ')}`);
  const pick = (side: (assignment: Assignment) => string) =>
    `CASE a.bit ${assignments.map((each) => `WHEN ${each.bit} THEN ${side(each)}`).join(' ')} END`;
  const columns = assignments.map(
    ({ bit, from, to }, place) => `(${bit}, ${place}, '${from}', '${fieldOfColumn(to)}')`,
  );
  db.exec(`WITH a (bit, place, name, field) AS (VALUES ${columns.join(', ')})
    INSERT INTO staging.changes (id, line, row_id, "column", field, old, new)
    SELECT ${changeId('c.line', 'a.place')}, c.line, c.id, a.name, a.field,
      ${pick(({ listed, to }) => listed?.old ?? `t.${to}`)},
      ${pick(({ listed, changed }) => listed?.new ?? changed)}
    FROM staging.changed_rows c CROSS JOIN staging.rows r ON r.line = c.line
    CROSS JOIN main.${target.table} t ON t.id = c.id CROSS JOIN a WHERE c.cells & a.bit`);
}

/** Moves staged changes to `staging.kept`. The stored values then stay. @param cells SELECT of change ids */
export function leaveStored(scope: FileScope, cells: string): void {
  const { db } = scope;
  db.exec(`INSERT INTO staging.kept SELECT * FROM staging.changes WHERE id IN (${cells})`);
  db.exec('DELETE FROM staging.changes WHERE id IN (SELECT id FROM staging.kept)');
  for (const { from, bit } of assignmentsOf(scope))
    db.exec(`UPDATE staging.changed_rows SET cells = cells & ~${bit}
      WHERE line IN (SELECT line FROM staging.kept WHERE "column" = '${from}')`);
  db.exec('DELETE FROM staging.changed_rows WHERE cells = 0');
}

// Values changed by hand: if a value was last changed over HTTP or by a correction, and the file still has
// the earlier value, the import keeps the stored value (docs/import-reference.md#values-changed-by-hand)

/**
 * Returns an SQL condition: `h` is a recorded change of the value in the staged change `e`. For the opening
 * balance of a loan (column `paid_amount`), changes of the total paid amount (field `paid_amount`) count too.
 */
const ofField = (kind: ImportKind, h: string): string =>
  `${h}.entity = '${kind}' AND ${h}.row_id = e.row_id AND ${h}.field IN (e.field, e."column")`;
/** SQL condition: neither an undone operation nor its undo made the change `h`. */
const isInForce = (h: string): string => `${h}.actor NOT IN (${REVERSED_ACTORS})`;
const isByHand = (h: string): string => `(${h}.actor GLOB 'key:*' OR ${h}.actor GLOB 'correction:*')`;

export function leaveCorrected(scope: FileScope): void {
  const { db, kind } = scope;
  if (!db.has('staging.changes')) return;
  // `f` is the first change after the last import. Its `old` is the imported value, or the value at creation.
  const corrected = `SELECT e.id FROM staging.changes e CROSS JOIN main.changes l
    ON l.id = (SELECT max(h.id) FROM main.changes h WHERE ${ofField(kind, 'h')} AND ${isInForce('h')})
      AND ${isByHand('l')}
    WHERE e.new IS (SELECT f.old FROM main.changes f WHERE ${ofField(kind, 'f')} AND f.id >
      coalesce((SELECT max(g.id) FROM main.changes g
        WHERE ${ofField(kind, 'g')} AND ${isInForce('g')} AND NOT ${isByHand('g')}), 0)
      ORDER BY f.id LIMIT 1)`;
  leaveStored(scope, corrected);
}

/** SELECTs of changes not to make: void payments stay void; kept opening balances keep `paid_until`. */
const RELATED: { readonly [kind in ImportKind]?: string } = {
  payments: `SELECT e.id FROM staging.changes e CROSS JOIN main.payments t ON t.id = e.row_id
    WHERE e."column" = 'status' AND t.status = 'void'`,
  loans: `SELECT e.id FROM staging.changes e WHERE e."column" = 'paid_until'
    AND e.line IN (SELECT line FROM staging.kept WHERE "column" = 'paid_amount')`,
};

/** Must run after `leaveCorrected`. */
export function leaveRelated(scope: FileScope): void {
  const related = RELATED[scope.kind];
  if (related !== undefined) leaveStored(scope, related);
}

/** @param created number of new rows, if known, because counting a million takes 0.15 s */
export function countChanges(
  { db, kind }: FileScope,
  created = db.count('staging.resolved_references WHERE id IS NULL'),
): ImportChanges {
  const changed = db.count('staging.changed_rows');
  const unchanged = db.count('staging.rows') - created - changed;
  const removed = areEntries(kind) ? db.count('staging.missing') : 0;
  return { created, changed, unchanged, kept: db.count('staging.kept'), removed };
}

/** Omits columns without a changed value. */
export function countByColumn(scope: FileScope): ReadonlyMap<string, number> {
  const rows = scope.db.raw.prepare('SELECT "column", count(*) FROM staging.changes GROUP BY 1').raw().all();
  const counts = new Map(rows as [string, number][]);
  const columns = assignmentsOf(scope).filter(({ from }) => counts.has(from));
  return new Map(columns.map(({ from }) => [from, counts.get(from) as number]));
}

type ListedChange = StagedChange & { readonly id: number };

/** Lists changes by line and column. @param table `kept` for changes that are not made */
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

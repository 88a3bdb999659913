/** Undoes an import, set by set, inside the caller's transaction: nothing builds on its rows. */
import type { Connection } from '../connection/connection.ts';
import { appendUndoEvents } from '../events/undo-events.ts';
import { assignmentColumns } from '../import/changes.ts';
import { TARGETS } from '../import/targets.ts';
import { countChangesSql } from '../lists/count-index.ts';
import { MEMBER_COUNTS } from '../lists/counts.ts';
import { keepRemovedId } from '../removed-ids.ts';
import type { ImportRow } from './rows.ts';

/** Its new rows, its accounts, and what it changed. */
const OWN_ROWS = 'id BETWEEN @first_row AND @last_row';
const OWN_ACCOUNTS = 'id BETWEEN @first_account AND @last_account';
const OWN_CHANGES = 'c.id BETWEEN @first_change AND @last_change';

interface Undone {
  readonly removed: number;
  readonly restored: number;
}

export function undoRows(db: Connection, row: ImportRow, nowSeconds: number): Undone {
  const { kind, id } = row;
  const target = TARGETS[kind];
  const run = (sql: string): number => db.raw.prepare(sql).run({ ...row, now: nowSeconds }).changes;

  appendUndoEvents(db, row, nowSeconds);
  if (kind === 'members') uncountMembers(db, row);
  if (kind === 'cooperatives')
    run('DELETE FROM main.member_counts WHERE cooperative_id BETWEEN @first_row AND @last_row');
  // Before anything is put back: a new row may have what a stored one had before.
  const removed = run(`DELETE FROM main.${target.table} WHERE ${OWN_ROWS}`);
  if (removed > 0) keepRemovedId(db, target.table, row.last_row);
  const restored = restore(db, row, nowSeconds);
  // The transactions that were moved to them are back in theirs.
  const closed = run(`DELETE FROM main.savings_accounts WHERE ${OWN_ACCOUNTS}`);
  if (closed > 0) keepRemovedId(db, 'savings_accounts', row.last_account);
  run(`INSERT INTO main.changes (entity, row_id, field, old, new, at, actor)
    SELECT c.entity, c.row_id, c.field, c.new, c.old, @now, 'undo:${id}' FROM main.changes c
    WHERE ${OWN_CHANGES} ORDER BY c.id`);
  run('UPDATE main.imports SET undone_at = @now WHERE id = @id');
  return { removed, restored };
}

/** @returns how many rows got their former values back */
function restore(db: Connection, row: ImportRow, nowSeconds: number): number {
  const { table, hasTimestamps } = TARGETS[row.kind];
  const own = { first_change: row.first_change, last_change: row.last_change };
  const fields = db.raw
    .prepare(`SELECT DISTINCT field FROM main.changes c WHERE ${OWN_CHANGES}`)
    .pluck()
    .all(own) as string[];
  if (row.kind === 'members' && fields.includes('status')) recountStatuses(db, own);
  const touch = hasTimestamps ? ', updated_at = @now' : '';
  const columns = assignmentColumns(row.kind);
  for (const field of fields) {
    const old = field === 'account_number' ? OLD_ACCOUNT : 'c.old';
    db.raw
      .prepare(
        `UPDATE main.${table} AS t SET ${columns.get(field)} = ${old}${touch}
         FROM main.changes c WHERE ${OWN_CHANGES} AND c.field = @field AND t.id = c.row_id`,
      )
      .run({ ...own, field, ...(hasTimestamps ? { now: nowSeconds } : {}) });
  }
  const count = db.raw.prepare(`SELECT count(DISTINCT row_id) FROM main.changes c WHERE ${OWN_CHANGES}`);
  return count.pluck().get(own) as number;
}

const OLD_ACCOUNT = `(SELECT a.id FROM main.savings_accounts a
  WHERE a.cooperative_id = t.cooperative_id AND a.account_number = c.old)`;

function uncountMembers(db: Connection, { first_row, last_row }: ImportRow): void {
  const rows = `SELECT id, cooperative_id, status, -1 AS delta FROM main.members
    WHERE id BETWEEN ${first_row} AND ${last_row}`;
  for (const sql of countChangesSql(MEMBER_COUNTS, rows, true)) db.exec(sql);
}

function recountStatuses(db: Connection, own: { first_change: number; last_change: number }): void {
  const changed = `FROM main.changes c CROSS JOIN main.members m ON m.id = c.row_id
    WHERE c.id BETWEEN ${own.first_change} AND ${own.last_change} AND c.field = 'status'`;
  const changes = `SELECT m.id, m.cooperative_id, c.new AS status, -1 AS delta ${changed}
    UNION ALL SELECT m.id, m.cooperative_id, c.old, 1 ${changed}`;
  for (const sql of countChangesSql(MEMBER_COUNTS, changes, false)) db.exec(sql);
}

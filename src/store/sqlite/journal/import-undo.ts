/** Undoes an import, set by set, inside the caller's transaction: nothing builds on its rows. */
import type { Connection } from '../engine/connection.ts';
import { type CountDeclaration, countChangesSql } from '../lists/count-index.ts';
import { COUNTED_ENTITIES, countsOf } from '../lists/counted-tables.ts';
import { TARGETS } from '../schema/targets.ts';
import { type AssignedColumns, assignmentColumns } from '../staging/changes.ts';
import { keepRemovedId } from './removed-ids.ts';
import type { ImportRow } from './rows.ts';
import { appendUndoEvents } from './undo-events.ts';
import { closePaidAmounts, openPaidAmounts } from './undo-paid-amounts.ts';

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
  for (const counts of countsOf(target.table)) uncount(db, counts, row);
  if (kind === 'cooperatives') {
    // All of them are 0, and refer to the cooperatives.
    for (const { group, groupTable, groupBlockTable } of COUNTED_ENTITIES)
      for (const table of [groupTable, groupBlockTable])
        if (table !== undefined)
          run(`DELETE FROM main.${table} WHERE ${group} BETWEEN @first_row AND @last_row`);
  }
  if (kind === 'payments') openPaidAmounts(db, row);
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
  if (kind === 'payments') closePaidAmounts(db, row, nowSeconds);
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
  for (const counts of countsOf(table)) if (fields.includes(counts.dimension)) recount(db, counts, own);
  const touch = hasTimestamps ? ', updated_at = @now' : '';
  const columns = assignmentColumns(row.kind);
  for (const field of fields) {
    const { to, addsTo } = columns.get(field) as AssignedColumns;
    const old = field === 'account_number' ? OLD_ACCOUNT : 'c.old';
    const sum = addsTo === undefined ? '' : `, ${addsTo} = t.${addsTo} - t.${to} + ${old}`;
    db.raw
      .prepare(
        `UPDATE main.${table} AS t SET ${to} = ${old}${sum}${touch}
         FROM main.changes c WHERE ${OWN_CHANGES} AND c.field = @field AND t.id = c.row_id`,
      )
      .run({ ...own, field, ...(hasTimestamps ? { now: nowSeconds } : {}) });
  }
  const count = db.raw.prepare(`SELECT count(DISTINCT row_id) FROM main.changes c WHERE ${OWN_CHANGES}`);
  return count.pluck().get(own) as number;
}

/**
 * The history names an account by its number. Nothing renames accounts; after a correction that does, this
 * would find no account, or another one: blockers.ts refuses the former, and the correction has to prevent
 * the latter.
 */
const OLD_ACCOUNT = `(SELECT a.id FROM main.savings_accounts a
  WHERE a.cooperative_id = t.cooperative_id AND a.account_number = c.old)`;

function uncount(db: Connection, counts: CountDeclaration, { first_row, last_row }: ImportRow): void {
  const { table, group, dimension } = counts;
  const rows = `SELECT id, ${group}, ${dimension}, -1 AS delta FROM main.${table}
    WHERE id BETWEEN ${first_row} AND ${last_row}`;
  for (const sql of countChangesSql(counts, rows, true)) db.exec(sql);
}

function recount(
  db: Connection,
  counts: CountDeclaration,
  own: { first_change: number; last_change: number },
): void {
  const { table, group, dimension } = counts;
  const changed = `FROM main.changes c CROSS JOIN main.${table} t ON t.id = c.row_id
    WHERE c.id BETWEEN ${own.first_change} AND ${own.last_change} AND c.field = '${dimension}'`;
  const changes = `SELECT t.id, t.${group}, c.new AS ${dimension}, -1 AS delta ${changed}
    UNION ALL SELECT t.id, t.${group}, c.old, 1 ${changed}`;
  for (const sql of countChangesSql(counts, changes, false)) db.exec(sql);
}

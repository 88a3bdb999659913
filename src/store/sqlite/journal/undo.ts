/**
 * Undoes an operation, set by set, inside the caller's transaction: nothing builds on its rows. Whether that
 * is so, undo-blockers.ts says; journal.ts calls both.
 */
import type { CorrectionOptions } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { undoRedirects } from '../identity/former-keys.ts';
import { recordedColumns } from '../schema/tables.ts';
import type { IdRange, Operation } from './operations.ts';
import { isWithin, type OwnRows, ownChanges, removedRows } from './own-rows.ts';
import { addPaidAmounts, stagePaidByOwn } from './paid-amounts.ts';
import {
  announce,
  type ChangeSet,
  insertChanges,
  keepRemovedId,
  noteRemoved,
  REMOVED,
  RESTORED,
  type Recording,
} from './record-changes.ts';

export interface Undone {
  /** Rows that the operation had created, but for accounts, which come and go with their transactions. */
  readonly removed: number;
  /** Rows that have their former values again, or are there again. */
  readonly restored: number;
}

/** Who undoes, and when. */
export type UndoAuthor = Pick<CorrectionOptions, 'systemUser' | 'nowSeconds'>;

/** @param own what the operation has touched */
export function undoOperation(
  db: Connection,
  operation: Operation,
  own: readonly OwnRows[],
  { systemUser, nowSeconds }: UndoAuthor,
): Undone {
  const by: Recording = { actor: `undo:${operation.id}`, nowSeconds };
  const sets = own.map((each) => toChangeSet(operation, each));
  for (const { entity, values } of sets) if (values !== undefined) insertChanges(db, entity, values, by);
  for (const { table, created } of own)
    if (created !== undefined)
      noteRemoved(db, table.entity, `main.${table.table}`, `r.id ${isWithin(created)}`);
  const isOfPayments = own.some(({ table }) => table.entity === 'payments');
  if (isOfPayments) stagePaidByOwn(db, operation, '-');
  // Rows and what they refer to go and come back together.
  db.raw.pragma('defer_foreign_keys = ON');
  // Before anything is put back: a new row may have what a stored one had before.
  const removed = own.toReversed().reduce((sum, each) => sum + removeCreated(db, operation, each, by), 0);
  for (const each of own) putBackRemoved(db, operation, each, by);
  for (const each of own) putBackValues(db, operation, each, nowSeconds);
  undoRedirects(db, operation.id);
  announce(db, sets, by);
  if (isOfPayments) {
    stagePaidByOwn(db, operation, '+');
    addPaidAmounts(db, 'temp.paid_amounts', by);
    db.exec('DROP TABLE temp.paid_amounts');
  }
  const undone = [nowSeconds, systemUser, operation.id];
  db.run('UPDATE main.operations SET undone_at = ?, undone_by = ? WHERE id = ?', undone);
  return { removed, restored: countChanged(db, operation) };
}

/** Its changes the other way round. */
function toChangeSet(operation: Operation, { table, fields }: OwnRows): ChangeSet {
  const { entity } = table;
  const restored = fields.includes(REMOVED) ? removedRows(operation, entity) : undefined;
  const values = `SELECT NULL AS line, c.row_id, c.field, c.new AS old, c.old AS new FROM main.changes c
    WHERE ${ownChanges(operation)} AND c.entity = '${entity}' AND c.field <> '${REMOVED}'
      ${restored === undefined ? '' : `AND c.row_id NOT IN (${restored})`} ORDER BY c.id`;
  return {
    entity,
    ...(restored === undefined ? {} : { created: `r.id IN (${restored})` }),
    ...(fields.length === 0 ? {} : { values }),
  };
}

function removeCreated(
  db: Connection,
  operation: Operation,
  { table, created }: OwnRows,
  by: Recording,
): number {
  if (created === undefined) return 0;
  const { entity } = table;
  if (entity === 'accounts') keepNumbers(db, operation, created, by);
  const { changes } = db.run(`DELETE FROM main.${table.table} WHERE id ${isWithin(created)}`);
  if (changes > 0) keepRemovedId(db, table.table, created.last);
  forgetValues(db, entity, created);
  return entity === 'accounts' ? 0 : changes;
}

/** Their rows never come back, and so nobody would find the values of a person there who is to be erased. */
function forgetValues(db: Connection, entity: string, created: IdRange): void {
  if (entity === 'accounts') return;
  db.exec(`UPDATE main.changes SET old = NULL, new = NULL
    WHERE entity = '${entity}' AND row_id ${isWithin(created)} AND (old IS NOT NULL OR new IS NOT NULL)`);
}

/** The numbers of accounts that transactions were moved to, for the list of what the import has changed. */
function keepNumbers(db: Connection, operation: Operation, created: IdRange, by: Recording): void {
  insertChanges(
    db,
    'accounts',
    `SELECT NULL AS line, a.id AS row_id, 'account_number' AS field, a.account_number AS old, NULL AS new
     FROM main.savings_accounts a WHERE a.id ${isWithin(created)} AND a.id IN (
       SELECT c.new FROM main.changes c WHERE ${ownChanges(operation)} AND c.field = 'account_id')`,
    by,
  );
}

function putBackRemoved(
  db: Connection,
  operation: Operation,
  { table, fields }: OwnRows,
  by: Recording,
): void {
  if (!fields.includes(REMOVED)) return;
  const { entity, hasTimestamps } = table;
  const columns = recordedColumns(db, table);
  // One value of each field: the largest is that one.
  const values = columns.map(({ field }) => `max(c.old) FILTER (WHERE c.field = '${field}')`);
  const names = ['id', ...columns.map(({ column }) => column), ...(hasTimestamps ? ['updated_at'] : [])];
  const rows = removedRows(operation, entity);
  db.exec(`INSERT INTO main.${table.table} (${names.join(', ')})
    SELECT c.row_id, ${values.join(', ')}${hasTimestamps ? `, ${by.nowSeconds}` : ''} FROM main.changes c
    WHERE ${ownChanges(operation)} AND c.entity = '${entity}' AND c.row_id IN (${rows}) GROUP BY c.row_id`);
  insertChanges(
    db,
    entity,
    `SELECT NULL AS line, row_id, '${RESTORED}' AS field, NULL AS old, NULL AS new FROM (${rows})`,
    by,
  );
}

function putBackValues(
  db: Connection,
  operation: Operation,
  { table, fields }: OwnRows,
  nowSeconds: number,
): void {
  const { entity, hasTimestamps } = table;
  const notRemoved = fields.includes(REMOVED)
    ? `AND c.row_id NOT IN (${removedRows(operation, entity)})`
    : '';
  for (const { column, field } of recordedColumns(db, table)) {
    if (!fields.includes(field)) continue;
    const sets = [
      `${column} = c.old`,
      // A sum with the opening balance: it changes by as much.
      ...(field === 'opening_balance' && !fields.includes('paid_amount')
        ? [`paid_amount_minor = t.paid_amount_minor - t.${column} + c.old`]
        : []),
      ...(hasTimestamps ? [`updated_at = ${nowSeconds}`] : []),
    ];
    db.exec(`UPDATE main.${table.table} AS t SET ${sets.join(', ')} FROM main.changes c
      WHERE ${ownChanges(operation)} AND c.entity = '${entity}' AND c.field = '${field}' AND t.id = c.row_id
        ${notRemoved}`);
  }
}

const countChanged = (db: Connection, operation: Operation): number =>
  db.value<number>(`SELECT count(*) FROM
       (SELECT DISTINCT entity, row_id FROM main.changes c WHERE ${ownChanges(operation)})`);

/** Opens the journal of operations for commands, on a separate connection, and undoes operations. */

import { labelSql, SHOWN_CHANGE } from '../registry/changes/row-labels.ts';
import { CHANGED_ENTITIES, recordedColumns } from '../registry/changes/tables.ts';
import { undoRedirects } from '../registry/stored/former-ids.ts';
import type { Connection } from '../sqlite/connection.ts';
import { readPages } from '../sqlite/list-pages.ts';
import type { Storage } from '../sqlite/storage.ts';
import {
  type Author,
  addPaidAmounts,
  announce,
  type ChangeSet,
  insertChanges,
  keepRemovedId,
  listOperatedRows,
  type OperatedRow,
  type OperatedTable,
  operationChanges,
  REMOVED,
  RESTORED,
  readOperatedTables,
  removedRows,
  stagePaymentTotals,
  stageRemoved,
} from './change-sets.ts';
import { openOperations, perform } from './command-transaction.ts';
import {
  type CorrectionOptions,
  findOperation,
  listOperations,
  type Operation,
  type StagedChange,
} from './operations.ts';
import { findActors, findBlockers, type UndoBlocker } from './undo-blockers.ts';

/** Undoes an operation inside the caller's transaction. The operation must have no blockers. */
function undoOperation(
  db: Connection,
  operation: Operation,
  tables: readonly OperatedTable[],
  { systemUser, nowSeconds }: UndoOptions,
): { readonly removed: number; readonly restored: number } {
  const by: Author = { actor: `undo:${operation.id}`, nowSeconds };
  const sets = tables.map((operated) => toChangeSet(operation, operated));
  for (const { entity, values } of sets) if (values !== undefined) insertChanges(db, entity, values, by);
  for (const { table, created } of tables)
    if (created !== undefined) stageRemoved(db, table.entity, `main.${table.table}`, `r.id ${created}`);
  const isOfPayments = tables.some(({ table }) => table.entity === 'payments');
  if (isOfPayments) stagePaymentTotals(db, operation, '-');
  // Foreign keys are checked at the commit, after rows and their references are removed and restored.
  db.raw.pragma('defer_foreign_keys = ON');
  // Created rows are removed first, because they may have unique values that removed or changed rows had
  // before.
  const removed = tables
    .toReversed()
    .reduce((sum, table) => sum + removeCreated(db, operation, table, by), 0);
  for (const operated of tables) putBackRemoved(db, operation, operated, by);
  for (const operated of tables) putBackValues(db, operation, operated, nowSeconds);
  undoRedirects(db, operation.id);
  announce(db, sets, by);
  if (isOfPayments) {
    stagePaymentTotals(db, operation, '+');
    addPaidAmounts(db, 'temp.paid_amounts', by);
    db.exec('DROP TABLE temp.paid_amounts');
  }
  const undone = [nowSeconds, systemUser, operation.id];
  db.run('UPDATE main.operations SET undone_at = ?, undone_by = ? WHERE id = ?', undone);
  const rows = `SELECT DISTINCT entity, row_id FROM main.changes c WHERE ${operationChanges(operation)}`;
  return { removed, restored: db.count(`(${rows})`) };
}

/** Returns a change set that reverses the operation. */
function toChangeSet(operation: Operation, { table: { entity }, fields }: OperatedTable): ChangeSet {
  const restored = fields.includes(REMOVED) ? removedRows(operation, entity) : undefined;
  const values = `SELECT NULL AS line, c.row_id, c.field, c.new AS old, c.old AS new FROM main.changes c
    WHERE ${operationChanges(operation)} AND c.entity = '${entity}' AND c.field <> '${REMOVED}'
      ${restored === undefined ? '' : `AND c.row_id NOT IN (${restored})`} ORDER BY c.id`;
  return {
    entity,
    created: restored && `r.id IN (${restored})`,
    values: fields.length === 0 ? undefined : values,
  };
}

/** @returns the number of removed rows, without savings accounts */
function removeCreated(
  db: Connection,
  operation: Operation,
  { table: { entity, table }, created }: OperatedTable,
  by: Author,
): number {
  if (created === undefined) return 0;
  if (entity === 'accounts') keepNumbers(db, operation, created, by);
  const last = db.value<number | null>(`SELECT max(id) FROM main.${table} WHERE id ${created}`);
  const { changes } = db.run(`DELETE FROM main.${table} WHERE id ${created}`);
  if (last !== null) keepRemovedId(db, table, last);
  if (entity === 'accounts') return 0;
  // An erasure of the person could not find values of removed rows, so the history must not keep such values.
  db.exec(`UPDATE main.changes SET old = NULL, new = NULL
    WHERE entity = '${entity}' AND row_id ${created} AND (old IS NOT NULL OR new IS NOT NULL)`);
  return changes;
}

/** Records, for `listChanges`, the numbers of accounts to which the operation moved transactions. */
function keepNumbers(db: Connection, operation: Operation, created: string, by: Author): void {
  const values = `SELECT NULL AS line, a.id AS row_id, 'account_number' AS field, a.account_number AS old,
      NULL AS new
    FROM main.savings_accounts a WHERE a.id ${created} AND a.id IN (
      SELECT c.new FROM main.changes c WHERE ${operationChanges(operation)} AND c.field = 'account_id')`;
  insertChanges(db, 'accounts', values, by);
}

function putBackRemoved(
  db: Connection,
  operation: Operation,
  { table, fields }: OperatedTable,
  by: Author,
): void {
  if (!fields.includes(REMOVED)) return;
  const { entity, hasTimestamps } = table;
  const columns = recordedColumns(db, table);
  // Each field has one value per row, which max() selects.
  const values = columns.map(({ field }) => `max(c.old) FILTER (WHERE c.field = '${field}')`);
  const names = ['id', ...columns.map(({ column }) => column), ...(hasTimestamps ? ['updated_at'] : [])];
  const rows = removedRows(operation, entity);
  db.exec(`INSERT INTO main.${table.table} (${names.join(', ')})
    SELECT c.row_id, ${values.join(', ')}${hasTimestamps ? `, ${by.nowSeconds}` : ''} FROM main.changes c
    WHERE ${operationChanges(operation)} AND c.entity = '${entity}' AND c.row_id IN (${rows})
    GROUP BY c.row_id`);
  const restored = `SELECT NULL AS line, row_id, '${RESTORED}' AS field, NULL AS old, NULL AS new
    FROM (${rows})`;
  insertChanges(db, entity, restored, by);
}

function putBackValues(
  db: Connection,
  operation: Operation,
  { table, fields }: OperatedTable,
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
      // The paid amount includes the opening balance, so it changes by the same amount.
      ...(field === 'opening_balance' && !fields.includes('paid_amount')
        ? [`paid_amount_minor = t.paid_amount_minor - t.${column} + c.old`]
        : []),
      ...(hasTimestamps ? [`updated_at = ${nowSeconds}`] : []),
    ];
    db.exec(`UPDATE main.${table.table} AS t SET ${sets.join(', ')} FROM main.changes c
      WHERE ${operationChanges(operation)} AND c.entity = '${entity}' AND c.field = '${field}'
        AND t.id = c.row_id ${notRemoved}`);
  }
}

const CHANGES_AT_ONCE = 1_000;

type UndoOptions = Omit<CorrectionOptions, 'reason'>;

export type UndoResult =
  | {
      readonly outcome: 'undone';
      /** Number of removed rows that the operation had created. */
      readonly removed: number;
      /** Number of restored rows that the operation had changed or removed. */
      readonly restored: number;
      /**
       * Set if the undo was rolled back: for a dry run, or if it would not make the changes that the user
       * confirmed.
       */
      readonly fingerprint?: string | undefined;
      readonly lockMs: number;
      readonly errorAfterCommit?: unknown;
    }
  | { readonly outcome: 'unknown' }
  /** Result for an erasure. The former values no longer exist. */
  | { readonly outcome: 'irreversible' }
  | { readonly outcome: 'undone_before'; readonly undoneAt: number }
  | {
      readonly outcome: 'refused';
      readonly count: number;
      /** The first blockers, up to the requested number. */
      readonly blockers: readonly UndoBlocker[];
      /** Ids of the operations to undo first, in this order, including operations that block those undos. */
      readonly first: readonly number[];
      /** Set if a blocker cannot be undone: an erasure, or a row that no other import or correction wrote. */
      readonly obstacle: 'erased' | 'other' | null;
    };

export type Journal = ReturnType<typeof openJournal>;

/** @throws StorageError `unusable` if there is no registry */
export function openJournal(storage: Storage) {
  const scope = openOperations(storage, storage.pathForOpening());
  const { db } = scope;
  return {
    list: (part?: Parameters<typeof listOperations>[1]) => listOperations(db, part),
    find: (id: number) => findOperation(db, id),
    listChanges: (id: number) => listChanges(db, findOperation(db, id)),
    /** Lists rows, like `listOperatedRows`. Loads all rows into memory. */
    listRows(id: number): readonly OperatedRow[] {
      const operation = findOperation(db, id);
      return operation === undefined ? [] : listOperatedRows(db, operation);
    },
    /**
     * Removes the rows that an operation created and restores the rows that it changed, in one transaction.
     * Does nothing if other rows build on these rows. Restored rows get `nowSeconds` as their time of change.
     * @param listed maximum number of listed blockers
     * @throws RegistryError `unavailable` if other writers keep the lock or the disk is full
     */
    undo(id: number, listed: number, options: UndoOptions): UndoResult {
      const { nowSeconds, isDryRun, agreed } = options;
      const work = () => {
        const result = undo(db, id, listed, options);
        return { result, isKept: result.outcome === 'undone' && isDryRun !== true, shown: result };
      };
      const { result, ...performed } = perform(scope, 'Nothing was undone', nowSeconds, work, agreed);
      return result.outcome === 'undone' ? { ...result, ...performed } : result;
    },
    close: () => db.close(),
  };
}

function undo(db: Connection, id: number, listed: number, options: UndoOptions): UndoResult {
  const operation = findOperation(db, id);
  if (operation === undefined) return { outcome: 'unknown' };
  if (operation.undoneAt !== null) return { outcome: 'undone_before', undoneAt: operation.undoneAt };
  if (operation.kind === 'persons_erase') return { outcome: 'irreversible' };
  const tables = readOperatedTables(db, operation);
  const blockers = findBlockers(db, operation, tables, listed);
  if (blockers.count > 0) return { outcome: 'refused', ...blockers, ...findFirst(db, operation) };
  return { outcome: 'undone', ...undoOperation(db, operation, tables, options), lockMs: 0 };
}

function findFirst(db: Connection, refused: Operation) {
  const first = new Set<number>();
  let obstacle: 'erased' | 'other' | null = null;
  const pending = [refused];
  for (let operation = pending.pop(); operation !== undefined; operation = pending.pop()) {
    for (const { reason, actor } of findActors(db, operation, readOperatedTables(db, operation))) {
      const id = Number(/^(?:import|correction):(\d+)$/.exec(actor ?? '')?.[1] ?? 0);
      if (reason === 'erased') obstacle = 'erased';
      else if (id === 0 || id === refused.id) obstacle ??= 'other';
      else if (!first.has(id) && (operation === refused || id > operation.id)) {
        first.add(id);
        const next = findOperation(db, id);
        if (next !== undefined) pending.push(next);
      }
    }
  }
  return { first: [...first].sort((a, b) => b - a), obstacle };
}

export interface RecordedChange extends Omit<StagedChange, 'line'> {
  /** Null for a correction. */
  readonly line: number | null;
}

/**
 * Yields each stored value that an operation changed, in history order, even if the operation was undone.
 * Skips rows that were created and then removed, because they have no label.
 */
function* listChanges(db: Connection, operation: Operation | undefined): Generator<RecordedChange> {
  if (operation === undefined) return;
  const label = CHANGED_ENTITIES.map((entity) => `WHEN '${entity}' THEN ${labelSql(entity, 'c.row_id')}`);
  const page = db.raw.prepare<[number, number], RecordedChange & { readonly id: number }>(
    `SELECT c.id, c.line, CASE c.entity ${label.join(' ')} END AS row,
       ${SHOWN_CHANGE.field} AS "column", ${SHOWN_CHANGE.values}
     FROM main.changes c WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ${CHANGES_AT_ONCE}`,
  );
  const changes = readPages<RecordedChange & { readonly id: number }>(CHANGES_AT_ONCE, (last) =>
    page.all(last?.id ?? operation.firstChange - 1, operation.lastChange),
  );
  for (const { id: _id, ...change } of changes) if (change.row !== '') yield change;
}

/** Store of the operations that can be undone, for commands, on a connection of its own. */

import type { CorrectionOptions } from '../registry/changes/correction-kinds.ts';
import { listedChangesSql } from '../registry/changes/labels.ts';
import {
  announce,
  type ChangeSet,
  insertChanges,
  keepRemovedId,
  noteRemoved,
  REMOVED,
  RESTORED,
  type Recording,
} from '../registry/changes/record-changes.ts';
import { recordedColumns } from '../registry/changes/tables.ts';
import { undoRedirects } from '../registry/stored/former-identifiers.ts';
import type { Connection } from '../sqlite/connection.ts';
import { readPages } from '../sqlite/list-pages.ts';
import type { Storage } from '../sqlite/storage.ts';
import {
  type OperationOptions,
  openOperationScope,
  operationOptionsOf,
  perform,
} from './command-transaction.ts';
import {
  findOperation,
  type IdRange,
  type Journal,
  listOperations,
  type Operation,
  type RecordedChange,
  type UndoResult,
} from './operations.ts';
import {
  addPaidAmounts,
  isWithin,
  listOwnRows,
  type OwnRows,
  ownChanges,
  readOwnRows,
  removedRows,
  stagePaidByOwn,
} from './track.ts';
import { findActors, findBlockers } from './undo-blockers.ts';

// Undo of an operation in sets, inside the caller's transaction. It requires that nothing builds on the
// operation's rows, which undo-blockers.ts checks first.

export interface Undone {
  /** Rows that the operation created, without accounts, which are removed with their transactions. */
  readonly removed: number;
  /** Rows that were reset to their former values, or restored after a removal. */
  readonly restored: number;
}

type UndoAuthor = Pick<CorrectionOptions, 'systemUser' | 'nowSeconds'>;

/** @param own rows that the operation touched */
function undoOperation(
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
  // Rows and their references are removed and restored together.
  db.raw.pragma('defer_foreign_keys = ON');
  // Runs before anything is restored: a new row may hold a unique value that a stored row had before.
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

/** The operation's changes in reverse. */
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

/** Removed for good, so values of a person in their history would escape a later erasure. */
function forgetValues(db: Connection, entity: string, created: IdRange): void {
  if (entity === 'accounts') return;
  db.exec(`UPDATE main.changes SET old = NULL, new = NULL
    WHERE entity = '${entity}' AND row_id ${isWithin(created)} AND (old IS NOT NULL OR new IS NOT NULL)`);
}

/** Numbers of accounts that transactions were moved to, for the list of the import's changes. */
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
  // Each field has one value per row: max() selects it.
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
      // The paid amount includes the opening balance and changes by the same amount.
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

const CHANGES_AT_ONCE = 1_000;

/** @throws StorageError `unusable` if there is no registry */
function openJournalAt(databaseFile: string, options: OperationOptions): Journal {
  const scope = openOperationScope(databaseFile, options);
  const { db } = scope;
  return {
    list: (part) => listOperations(db, part),
    find: (id) => findOperation(db, id)?.recorded,
    listChanges: (id) => listChanges(db, findOperation(db, id)?.operation),
    listRows(id) {
      const operation = findOperation(db, id)?.operation;
      return operation === undefined ? [] : listOwnRows(db, operation);
    },
    undo(id, listed, options) {
      const { nowSeconds, isDryRun, agreed } = options;
      const work = () => {
        const undone = undo(db, id, listed, options);
        return { result: undone, isKept: undone.outcome === 'undone' && isDryRun !== true, shown: undone };
      };
      const { result, ...performed } = perform(scope, 'Nothing was undone', nowSeconds, work, agreed);
      return result.outcome === 'undone' ? { ...result, ...performed } : result;
    },
    close: () => db.close(),
  };
}

function undo(db: Connection, id: number, listed: number, by: UndoAuthor): UndoResult {
  const operation = findOperation(db, id)?.operation;
  if (operation === undefined) return { outcome: 'unknown' };
  if (operation.undone_at !== null) return { outcome: 'undone_before', undoneAt: operation.undone_at };
  if (operation.kind === 'persons_erase') return { outcome: 'irreversible' };
  const own = readOwnRows(db, operation);
  const found = findBlockers(db, operation, own, listed);
  if (found.count > 0) return { outcome: 'refused', ...found, ...findFirst(db, operation) };
  return { outcome: 'undone', ...undoOperation(db, operation, own, by), lockMs: 0 };
}

/**
 * Operations that build on the refused one, directly or through others. Only later operations build on
 * earlier ones.
 */
function findFirst(
  db: Connection,
  refused: Operation,
): Pick<Extract<UndoResult, { outcome: 'refused' }>, 'first' | 'obstacle'> {
  const first = new Set<number>();
  let obstacle: 'erased' | 'other' | null = null;
  const pending = [refused];
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    for (const { reason, actor } of findActors(db, each, readOwnRows(db, each))) {
      const id = Number(/^(?:import|correction):(\d+)$/.exec(actor ?? '')?.[1] ?? 0);
      if (reason === 'erased') obstacle = 'erased';
      else if (id === 0) obstacle ??= 'other';
      else if (!first.has(id) && (each === refused || id > each.id)) {
        first.add(id);
        const next = findOperation(db, id)?.operation;
        if (next !== undefined) pending.push(next);
      }
    }
  }
  return { first: [...first].sort((a, b) => b - a), obstacle };
}

function* listChanges(db: Connection, operation: Operation | undefined): Generator<RecordedChange> {
  if (operation === undefined) return;
  const page = db.raw.prepare<[number, number], RecordedChange & { readonly id: number }>(
    listedChangesSql(CHANGES_AT_ONCE),
  );
  const { first_change: first, last_change: end } = operation;
  const changes = readPages<RecordedChange & { readonly id: number }>(CHANGES_AT_ONCE, (last) =>
    page.all(last?.id ?? first - 1, end),
  );
  for (const { id: _id, ...change } of changes) if (change.row !== '') yield change;
}

/**
 * Imports and corrections that were applied.
 * @throws StorageError `unusable` if there is no registry
 */
export const openJournal = (storage: Storage): Journal =>
  openJournalAt(storage.readable(), operationOptionsOf(storage));

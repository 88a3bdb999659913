/** The operations that can be undone, for commands: read and undone on a connection of its own. */

import type { Journal, RecordedChange, UndoResult } from '../../contract/journal/operations.ts';
import type { Connection } from '../engine/connection.ts';
import { readPages } from '../engine/read-pages.ts';
import { type OperationOptions, openOperationScope, perform } from './command-transaction.ts';
import { listedChangesSql } from './labels.ts';
import { findOperation, listOperations, type Operation } from './operations.ts';
import { listOwnRows, readOwnRows } from './own-rows.ts';
import { type UndoAuthor, undoOperation } from './undo.ts';
import { findActors, findBlockers } from './undo-blockers.ts';

const CHANGES_AT_ONCE = 1_000;

/** @throws StorageError `unusable` when there is no registry */
export function openJournal(databaseFile: string, options: OperationOptions): Journal {
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

/** What builds on an operation, on what builds on it, and so on: only what is later builds on something. */
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

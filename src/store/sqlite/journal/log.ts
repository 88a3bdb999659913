/** The imports that were applied, for commands: read and undone on a connection of its own. */
import { RegistryError } from '../../../domain/values/errors.ts';
import type { ImportKind } from '../../ports/import-session.ts';
import type { ImportLog, RecordedChange, UndoResult } from '../../ports/imports.ts';
import type { Connection } from '../engine/connection.ts';
import { isBusy, isDiskFull } from '../engine/errors.ts';
import { openDatabase } from '../engine/open-database.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { REGISTRY_SCHEMA } from '../schema/registry.ts';
import { TARGETS } from '../schema/targets.ts';
import { findCorrectionBlockers } from './correction-blockers.ts';
import { undoCorrection } from './correction-undo.ts';
import { findBlockers } from './import-blockers.ts';
import { undoRows } from './import-undo.ts';
import { changesOfCorrectionSql } from './listing.ts';
import { findImport, isImport, type RecordedRow, toRecordedImport } from './rows.ts';
import { tidyUp } from './tidy-up.ts';

const CACHE_KIB = 64 * 1024;
const CHANGES_AT_ONCE = 1_000;

/**
 * @param format of the read model, made when something is undone
 * @param monotonicMs of a clock that never steps back
 * @param waitMs for another process's lock
 * @throws StorageError `unusable` when there is no registry
 */
export function openImportLog(
  databaseFile: string,
  format: () => ReadModelFormat,
  monotonicMs: () => number,
  waitMs: number,
): ImportLog {
  const db = openDatabase(databaseFile, {
    ...{ waitMs, schema: REGISTRY_SCHEMA },
    ...{ tempStore: 'FILE', cacheKiB: CACHE_KIB },
  });
  // The log is copied back after an undo, when its lock is free.
  db.raw.pragma('wal_autocheckpoint = 0');
  return {
    list() {
      const rows = db.raw.prepare('SELECT * FROM main.imports ORDER BY id').all() as RecordedRow[];
      return rows.map(toRecordedImport);
    },
    find(id) {
      const row = findImport(db, id);
      return row && toRecordedImport(row);
    },
    listChanges: (id) => listChanges(db, findImport(db, id)),
    undo(id, nowSeconds, listed) {
      let lockedAtMs = 0;
      let kind: ImportKind | undefined;
      const result = locked(db, (): UndoResult => {
        lockedAtMs = monotonicMs();
        const row = findImport(db, id);
        if (row === undefined) return { outcome: 'unknown' };
        if (row.undone_at !== null) return { outcome: 'undone_before', undoneAt: row.undone_at };
        if (row.kind === 'persons_erase') return { outcome: 'irreversible' };
        const found = isImport(row) ? findBlockers(db, row, listed) : findCorrectionBlockers(db, row, listed);
        if (found.count > 0) return { outcome: 'refused', ...found };
        if (!isImport(row)) {
          // Its rows may be of any kind, those of the read model among them.
          kind = 'production';
          return { outcome: 'undone', removed: 0, restored: undoCorrection(db, row, nowSeconds), lockMs: 0 };
        }
        kind = row.kind;
        return { outcome: 'undone', ...undoRows(db, row, nowSeconds), lockMs: 0 };
      });
      if (result.outcome !== 'undone' || kind === undefined) return result;
      const done = { ...result, lockMs: monotonicMs() - lockedAtMs };
      const errorAfterCommit = tidyUp({ db, kind, format: format() }, nowSeconds);
      db.waitForLock(waitMs);
      return errorAfterCommit === undefined ? done : { ...done, errorAfterCommit };
    },
    close: () => db.close(),
  };
}

function locked<T>(db: Connection, work: () => T): T {
  try {
    return db.transaction.immediate(work);
  } catch (error) {
    const refuse = (message: string) => new RegistryError('unavailable', message, { cause: error });
    if (isBusy(error))
      throw refuse('Another process is writing to the registry. Nothing was undone; try again.');
    if (isDiskFull(error)) throw refuse('The disk is full. Nothing was undone.');
    throw error;
  }
}

type ListedChange = RecordedChange & { readonly id: number };

function changesOfImport(kind: ImportKind): string {
  const { table, label } = TARGETS[kind];
  return `SELECT c.id, c.line, t.${label} AS row, c.field AS "column", c.old, c.new FROM main.changes c
    CROSS JOIN main.${table} t ON t.id = c.row_id WHERE c.id > ? AND c.id <= ? ORDER BY c.id
    LIMIT ${CHANGES_AT_ONCE}`;
}

async function* listChanges(db: Connection, row: RecordedRow | undefined): AsyncGenerator<RecordedChange> {
  if (row === undefined) return;
  const page = db.raw.prepare<[number, number], ListedChange>(
    isImport(row) ? changesOfImport(row.kind) : changesOfCorrectionSql(CHANGES_AT_ONCE),
  );
  let last = row.first_change - 1;
  for (;;) {
    const changes = page.all(last, row.last_change);
    for (const { id: _id, ...change } of changes) yield change;
    if (changes.length < CHANGES_AT_ONCE) return;
    last = changes.at(-1)?.id ?? last;
  }
}

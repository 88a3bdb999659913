/** Operations that can be undone: imports with their files, and corrections. */
import type {
  ChangedEntity,
  CorrectionKind,
  CorrectionOptions,
} from '../registry/changes/correction-kinds.ts';
import { IMPORT_KINDS, type ImportKind } from '../registry/file-columns.ts';
import type { StoredRow } from '../registry/stored/stored-data-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import type { StagedValue } from '../values/declared-fields.ts';

// Recorded imports and corrections, and their undo

export interface RecordedImport extends ImportRecord {
  readonly id: number;
  readonly kind: ImportKind | CorrectionKind;
  /** Epoch seconds. */
  readonly importedAt: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly kept: number;
  readonly refusedRows: number;
  /** Number of rows of the replaced import that were missing in this file. */
  readonly removed: number;
  /** Id of the import that this file is a newer version of. */
  readonly replaces: number | null;
  /** Id of the import that replaced this one and was not undone. */
  readonly replacedBy: number | null;
  /** Epoch seconds; null if not undone. */
  readonly undoneAt: number | null;
  /** User; null if not undone, and if the user was not recorded. */
  readonly undoneBy: string | null;
  /** Reason of a correction, whose file name and hash are empty; null for an import. */
  readonly reason: string | null;
}

/** A stored value changed by an import or a correction. */
export interface RecordedChange extends Omit<StagedChange, 'line'> {
  /** Null for a correction. */
  readonly line: number | null;
}

export interface OperatedRow {
  readonly entity: ChangedEntity;
  /** Label of the row: never a national ID. */
  readonly row: string;
  /** Owner; null for a cooperative. */
  readonly memberId: number | null;
  /** Current values, with the number of its account or the reference of its loan. */
  readonly values: StoredRow;
}

/** A row that builds on an operation and prevents its undo. */
export interface UndoBlocker {
  readonly kind: ImportKind | ChangedEntity;
  /** Label of the row: never a national ID. */
  readonly row: string;
  /**
   * `changed`: the row was changed since; `refers`: it belongs to a row that the operation created; `taken`:
   * it has the member code, national ID, reference or number that another row would get back; `erased`: it is
   * a person who was erased since, or an entry of one; `replaced`: the import itself has a newer version;
   * `overpaid`: payments that would count again take the paid amount of the loan beyond the largest amount.
   */
  readonly reason: 'changed' | 'refers' | 'taken' | 'erased' | 'overpaid' | 'replaced';
  /** Actor that changed or created the row; null for a row older than the history. */
  readonly actor: Actor | null;
}

export type UndoResult =
  | {
      readonly outcome: 'undone';
      /** Number of removed rows that the operation had created. */
      readonly removed: number;
      /** Number of stored rows that were reset to their former values. */
      readonly restored: number;
      /** Set if nothing was undone: after a dry run, and if the changes differ from the confirmed ones. */
      readonly fingerprint?: string;
      /** Time during which other writers were locked out, in milliseconds. */
      readonly lockMs: number;
      /** Error in the refresh of the read model after the commit. */
      readonly errorAfterCommit?: unknown;
    }
  | { readonly outcome: 'unknown' }
  /** Erased values no longer exist anywhere. */
  | { readonly outcome: 'irreversible' }
  | { readonly outcome: 'undone_before'; readonly undoneAt: number }
  | {
      readonly outcome: 'refused';
      readonly count: number;
      /** The first ones, up to the requested number. */
      readonly blockers: readonly UndoBlocker[];
      /** Imports and corrections to undo first, including those that build on them in turn; newest first. */
      readonly first: readonly number[];
      /** Blockers that no undo can remove: an erasure, or rows not written by an import or correction. */
      readonly obstacle: 'erased' | 'other' | null;
    };

export interface Journal {
  /** Oldest first: all, or the last `limit` operations before an id. */
  list(part?: { readonly limit: number; readonly before?: number }): readonly RecordedImport[];
  find(id: number): RecordedImport | undefined;
  /**
   * Every stored value that an import changed, even if it was undone since, in order of line. Rows removed
   * since are left out.
   */
  listChanges(id: number): Iterable<RecordedChange>;
  /**
   * Existing rows that the operation created or changed; meant for operations on few rows. Savings accounts
   * are left out because they belong to their transactions.
   */
  listRows(id: number): readonly OperatedRow[];
  /**
   * Removes the rows that an operation created and restores those that it changed, in one transaction. Does
   * nothing if other rows build on them. Restored rows get `nowSeconds` as their time of change.
   * @param listed maximum number of listed blockers
   * @throws RegistryError `unavailable` if other writers keep the lock or the disk is full
   */
  undo(id: number, listed: number, options: Omit<CorrectionOptions, 'reason'>): UndoResult;
  close(): void;
}

/** Inputs of an import that the registry cannot derive itself. */
export interface ImportRecord {
  /** Without folders. */
  readonly fileName: string;
  /** Hash of the file's bytes, 64 hexadecimal digits. */
  readonly sha256: string;
  /** JSON value, like `options` and `notes`: the mapping used to read the file; null without one. */
  readonly map: unknown;
  readonly options: unknown;
  /** Leniently read or skipped parts of the file, without any of its values. */
  readonly notes: unknown;
  readonly systemUser: string;
  /**
   * True for a single row entered by hand. It is recorded as a correction, so that later files keep its
   * values, with the kind of the row as its reason.
   */
  readonly isEntered?: true;
}

/**
 * Numbers of rows of a file that are new, differ from the stored row with the same natural key, or equal it.
 */
export interface ImportChanges {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Values that the file would change but that are kept as stored. */
  readonly kept: number;
  /** Rows of the replaced import that are missing in this file. */
  readonly removed: number;
}

/** A value of a stored row that a file changes. */
export interface StagedChange {
  /** First line of the file's row. */
  readonly line: number;
  /** Label of the row: code of a cooperative, member code or reference; never a national ID. */
  readonly row: string;
  readonly column: string;
  /** As stored: amounts in minor units, weights in grams, instants in epoch seconds. */
  readonly old: StagedValue;
  readonly new: StagedValue;
}

/** Consecutive ids; an empty range has `last` one less than `first`. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

export interface Operation {
  readonly id: number;
  readonly kind: ImportKind | CorrectionKind;
  readonly first_change: number;
  readonly last_change: number;
  /** Epoch seconds; null if not undone. */
  readonly undone_at: number | null;
}

/** Joined row of both tables; file columns are null for a correction. */
interface OperationRow extends Operation {
  readonly options: string;
  readonly notes: string;
  readonly reason: string | null;
  readonly system_user: string;
  readonly performed_at: number;
  readonly undone_by: string | null;
  readonly created: number;
  readonly changed: number;
  readonly file_name: string | null;
  readonly sha256: string | null;
  readonly map: string | null;
  readonly unchanged: number | null;
  readonly kept: number | null;
  readonly refused_rows: number | null;
  readonly removed: number | null;
  readonly replaces: number | null;
  readonly replaced_by: number | null;
}

export const isImport = ({ kind }: Pick<Operation, 'kind'>): boolean =>
  IMPORT_KINDS.some((each) => each === kind);

/**
 * SELECT of the import, not undone, that replaced another one.
 * @param id SQL of the replaced import's id
 */
export const replacementOf = (id: string): string =>
  `SELECT g.operation_id FROM main.imported_files g CROSS JOIN main.operations u
     ON u.id = g.operation_id AND u.undone_at IS NULL WHERE g.replaces = ${id}`;

const ROWS = `SELECT *, (${replacementOf('o.id')}) AS replaced_by
  FROM main.operations o LEFT JOIN main.imported_files f ON f.operation_id = o.id`;

/**
 * Oldest first.
 * @param part all operations if omitted
 */
export function listOperations(
  db: Connection,
  {
    limit = -1,
    before = Number.MAX_SAFE_INTEGER,
  }: { readonly limit?: number; readonly before?: number } = {},
): RecordedImport[] {
  const newestFirst = `${ROWS} WHERE o.id < ? ORDER BY o.id DESC LIMIT ?`;
  return db.rows<OperationRow>(newestFirst, [before, limit]).reverse().map(toRecorded);
}

export function findOperation(
  db: Connection,
  id: number,
): { readonly operation: Operation; readonly recorded: RecordedImport } | undefined {
  const row = db.row<OperationRow>(`${ROWS} WHERE o.id = ?`, [id]);
  return row && { operation: row, recorded: toRecorded(row) };
}

const toRecorded = (row: OperationRow): RecordedImport => ({
  id: row.id,
  kind: row.kind,
  fileName: row.file_name ?? '',
  sha256: row.sha256 ?? '',
  map: row.map === null ? null : JSON.parse(row.map),
  options: JSON.parse(row.options),
  notes: JSON.parse(row.notes),
  reason: row.reason,
  systemUser: row.system_user,
  importedAt: row.performed_at,
  created: row.created,
  changed: row.changed,
  unchanged: row.unchanged ?? 0,
  kept: row.kept ?? 0,
  refusedRows: row.refused_rows ?? 0,
  removed: row.removed ?? 0,
  replaces: row.replaces,
  replacedBy: row.replaced_by,
  undoneAt: row.undone_at,
  undoneBy: row.undone_by,
});

/** FROM clause of imports `o` of @kind that were not undone, with their files `f` with the hash @sha256. */
export const OF_SAME_BYTES = `main.imported_files f CROSS JOIN main.operations o
  ON o.id = f.operation_id AND f.sha256 = @sha256 AND o.kind = @kind AND o.undone_at IS NULL`;

/** @returns the last import of these bytes as this kind that was not undone */
export const findSameImport = (db: Connection, kind: ImportKind, sha256: string): number | undefined =>
  db.value<number | undefined>(`SELECT max(o.id) FROM ${OF_SAME_BYTES} HAVING count(*) > 0`, {
    kind,
    sha256,
  });

export const lastChange = (db: Connection): number =>
  db.value<number>('SELECT coalesce(max(id), 0) FROM main.changes');

/** Data of an operation known before it changes anything. */
interface NewOperation {
  readonly kind: Operation['kind'];
  /** JSON value without personal data, as `imports show` displays it. */
  readonly options: unknown;
  readonly notes: unknown;
  readonly reason: string | null;
  readonly systemUser: string;
}

/**
 * Begins an operation in its transaction: all history entries until its end belong to it.
 * @returns the id
 */
export function beginOperation(
  db: Connection,
  { kind, options, notes, reason, systemUser }: NewOperation,
  nowSeconds: number,
): number {
  const { lastInsertRowid } = db.run(
    `INSERT INTO main.operations (kind, options, notes, reason, system_user, performed_at,
       first_change, last_change)
     VALUES (@kind, @options, @notes, @reason, @systemUser, @nowSeconds, @before + 1, @before)`,
    {
      kind,
      options: JSON.stringify(options),
      notes: JSON.stringify(notes),
      reason,
      systemUser,
      nowSeconds,
      before: lastChange(db),
    },
  );
  return Number(lastInsertRowid);
}

/**
 * Ends an operation.
 * @param changed number of stored rows changed or removed
 */
export function endOperation(
  db: Connection,
  id: number,
  { created = 0, changed }: { readonly created?: number; readonly changed: number },
): void {
  const values = [created, changed, lastChange(db), id];
  db.run('UPDATE main.operations SET created = ?, changed = ?, last_change = ? WHERE id = ?', values);
}

/** Records the rows that an operation created. */
export function keepCreatedRows(
  db: Connection,
  id: number,
  entity: ChangedEntity,
  { first, last }: IdRange,
): void {
  if (last < first) return;
  const values = [entity, first, last, id];
  db.run(
    'INSERT INTO main.created_rows (entity, first_row, last_row, operation_id) VALUES (?, ?, ?, ?)',
    values,
  );
}

/** Rows that an operation created, by entity. */
export const createdRows = (db: Connection, id: number): ReadonlyMap<ChangedEntity, IdRange> =>
  new Map(
    db
      .rows<IdRange & { entity: ChangedEntity }>(
        'SELECT entity, first_row AS first, last_row AS last FROM main.created_rows WHERE operation_id = ?',
        [id],
      )
      .map(({ entity, first, last }) => [entity, { first, last }]),
  );

/**
 * Records the file of an import.
 * @param replaces import that this file is a newer version of
 */
export function keepFile(
  db: Connection,
  id: number,
  { fileName, sha256, map }: ImportRecord,
  { unchanged, kept, removed }: ImportChanges,
  { refusedRows, replaces }: { readonly refusedRows: number; readonly replaces: number | undefined },
): void {
  db.run(
    `INSERT INTO main.imported_files (operation_id, file_name, sha256, map, unchanged, kept, refused_rows,
       removed, replaces) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[id, fileName, sha256, map === null ? null : JSON.stringify(map), unchanged, kept, refusedRows],
      ...[removed, replaces ?? null],
    ],
  );
}

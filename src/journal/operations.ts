/** Records of operations: imports with their files, and corrections with their kinds and options. */

import type { ChangedEntity } from '../registry/changes/tables.ts';
import { IMPORT_KINDS, type ImportKind } from '../registry/file-columns.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { StagedValue } from '../values/declared-fields.ts';

/** Inputs of an import that the registry cannot derive. */
export interface ImportRecord {
  /** File name without folders. */
  readonly fileName: string;
  /** Hash of the file's bytes, 64 hexadecimal digits. */
  readonly sha256: string;
  /** JSON value of the map with which the file was read; null without a map. */
  readonly map: unknown;
  /** JSON value. */
  readonly options: unknown;
  /** JSON value. Lists parts of the file that were read leniently or skipped, but none of their values. */
  readonly notes: unknown;
  readonly systemUser: string;
  /**
   * True for a single row that a clerk entered. The registry records the row as a correction, with the kind
   * of the row as the reason, so that later imports do not replace its values.
   */
  readonly isEntered?: true;
}

export interface ImportChanges {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Number of stored values that stayed, although the file has different values. */
  readonly kept: number;
  /** Number of removed rows: rows of the replaced import that this file does not contain. */
  readonly removed: number;
}

/** A change of one value of a stored row by a file. */
export interface StagedChange {
  /** Line on which the row begins in the file. */
  readonly line: number;
  /** Label of the row: code of a cooperative, member code or reference, never a national ID. */
  readonly row: string;
  readonly column: string;
  /** Value before the change: an amount in minor units, a weight in grams, an instant in epoch seconds. */
  readonly old: StagedValue;
  readonly new: StagedValue;
}

/** Consecutive ids. In an empty range, `last` is one less than `first`. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** A recorded import or correction. File name and hash are empty for a correction. */
export interface Operation extends ImportRecord, ImportChanges {
  readonly id: number;
  readonly kind: ImportKind | CorrectionKind;
  /** Epoch seconds. */
  readonly importedAt: number;
  readonly refusedRows: number;
  /** Id of the import that this import replaced with a newer version of the file. */
  readonly replaces: number | null;
  /** Id of the import that replaced this import and was not undone. */
  readonly replacedBy: number | null;
  /** Epoch seconds; null if not undone. */
  readonly undoneAt: number | null;
  /** User who undid the operation; null if it was not undone, or if no user was recorded. */
  readonly undoneBy: string | null;
  /** Reason of a correction; null for an import. */
  readonly reason: string | null;
  /** First and last id of the operation's changes. */
  readonly firstChange: number;
  readonly lastChange: number;
}

export const isImport = ({ kind }: Operation): boolean => IMPORT_KINDS.some((each) => each === kind);

/** SELECT of the import that replaced the import with the id `id` and was not undone. @param id SQL */
export const replacementOf = (id: string): string =>
  `SELECT g.operation_id FROM main.imported_files g CROSS JOIN main.operations u
     ON u.id = g.operation_id AND u.undone_at IS NULL WHERE g.replaces = ${id}`;

/** SELECT of operations. The defaults are for corrections, which have no row in `imported_files`. */
const OPERATIONS = `SELECT o.id, o.kind, coalesce(f.file_name, '') AS fileName,
    coalesce(f.sha256, '') AS sha256, f.map, o.options, o.notes, o.reason, o.system_user AS systemUser,
    o.performed_at AS importedAt, o.created, o.changed, coalesce(f.unchanged, 0) AS unchanged,
    coalesce(f.kept, 0) AS kept, coalesce(f.refused_rows, 0) AS refusedRows,
    coalesce(f.removed, 0) AS removed, f.replaces, (${replacementOf('o.id')}) AS replacedBy,
    o.undone_at AS undoneAt, o.undone_by AS undoneBy, o.first_change AS firstChange,
    o.last_change AS lastChange
  FROM main.operations o LEFT JOIN main.imported_files f ON f.operation_id = o.id`;

type JsonColumn = 'map' | 'options' | 'notes';
type OperationRow = Omit<Operation, JsonColumn> & { readonly [column in JsonColumn]: string | null };

const toOperation = (row: OperationRow): Operation => ({
  ...row,
  map: JSON.parse(row.map ?? 'null'),
  options: JSON.parse(row.options ?? 'null'),
  notes: JSON.parse(row.notes ?? 'null'),
});

/** Lists operations, oldest first: all of them, or the last `limit` operations before the id `before`. */
export const listOperations = (
  db: Connection,
  {
    limit = -1,
    before = Number.MAX_SAFE_INTEGER,
  }: { readonly limit?: number; readonly before?: number } = {},
): Operation[] =>
  db
    .rows<OperationRow>(`${OPERATIONS} WHERE o.id < ? ORDER BY o.id DESC LIMIT ?`, [before, limit])
    .reverse()
    .map(toOperation);

export function findOperation(db: Connection, id: number): Operation | undefined {
  const row = db.row<OperationRow>(`${OPERATIONS} WHERE o.id = ?`, [id]);
  return row && toOperation(row);
}

/** FROM clause for imports `o` of `@kind` whose file `f` has the hash `@sha256`, without undone imports. */
export const OF_SAME_BYTES = `main.imported_files f CROSS JOIN main.operations o
  ON o.id = f.operation_id AND f.sha256 = @sha256 AND o.kind = @kind AND o.undone_at IS NULL`;

export const findSameImport = (db: Connection, kind: ImportKind, sha256: string): number | undefined =>
  db.value<number | undefined>(`SELECT max(o.id) FROM ${OF_SAME_BYTES} HAVING count(*) > 0`, {
    kind,
    sha256,
  });

export const lastChange = (db: Connection): number =>
  db.value<number>('SELECT coalesce(max(id), 0) FROM main.changes');

/**
 * Begins an operation in the caller's transaction. All history entries until `endOperation` belong to the
 * operation.
 * @param operation options and notes may not contain personal data, because `imports show` displays them
 * @returns the id of the operation
 */
export function beginOperation(
  db: Connection,
  operation: Pick<Operation, 'kind' | 'options' | 'notes' | 'reason' | 'systemUser'>,
  nowSeconds: number,
): number {
  const { lastInsertRowid } = db.run(
    `INSERT INTO main.operations (kind, options, notes, reason, system_user, performed_at,
       first_change, last_change)
     VALUES (@kind, @options, @notes, @reason, @systemUser, @nowSeconds, @before + 1, @before)`,
    {
      ...operation,
      options: JSON.stringify(operation.options),
      notes: JSON.stringify(operation.notes),
      nowSeconds,
      before: lastChange(db),
    },
  );
  return Number(lastInsertRowid);
}

/** @param changed number of stored rows changed or removed */
export function endOperation(
  db: Connection,
  id: number,
  { created = 0, changed }: { readonly created?: number; readonly changed: number },
): void {
  const values = [created, changed, lastChange(db), id];
  db.run('UPDATE main.operations SET created = ?, changed = ?, last_change = ? WHERE id = ?', values);
}

export function recordCreatedRows(
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

export const createdRows = (db: Connection, id: number): ReadonlyMap<ChangedEntity, IdRange> =>
  new Map(
    db
      .rows<IdRange & { entity: ChangedEntity }>(
        'SELECT entity, first_row AS first, last_row AS last FROM main.created_rows WHERE operation_id = ?',
        [id],
      )
      .map(({ entity, first, last }) => [entity, { first, last }]),
  );

/** @param replaces id of the import with the older version of this file */
export function recordFile(
  db: Connection,
  id: number,
  { fileName, sha256, map }: ImportRecord,
  changes: ImportChanges,
  { refusedRows, replaces }: { readonly refusedRows: number; readonly replaces: number | undefined },
): void {
  const mapJson = map === null ? null : JSON.stringify(map);
  db.run(
    `INSERT INTO main.imported_files (operation_id, file_name, sha256, map, unchanged, kept, refused_rows,
       removed, replaces)
     VALUES (@id, @fileName, @sha256, @mapJson, @unchanged, @kept, @refusedRows, @removed, @replaces)`,
    { ...changes, id, fileName, sha256, mapJson, refusedRows, replaces: replaces ?? null },
  );
}

const CORRECTION_KINDS = [
  'nid_replace',
  'nid_release',
  'members_merge',
  'members_move',
  'members_transfer',
  'cooperatives_merge',
  'persons_deceased',
  'duplicates_dismiss',
  'duplicates_same_person',
  'entries_remove',
  'persons_erase',
  'row_enter',
] as const;
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

export interface CorrectionOptions {
  /** Reason for the history: 1 to 500 characters, without national IDs. */
  readonly reason: string;
  /** System user, such as `root`, or operator with system user, such as `N. N. (root)`. */
  readonly systemUser: string;
  readonly nowSeconds: number;
  /** True to roll the correction back, so that its result is a preview. */
  readonly isDryRun?: boolean | undefined;
  /** Fingerprint of the confirmed preview. If the correction makes different changes, it is rolled back. */
  readonly agreed?: string | undefined;
}

export interface ChangedRows {
  readonly created: number;
  readonly changed: number;
  readonly removed: number;
}

/** Member affected by a correction, with the values before it; a new member, with the values after it. */
export interface AffectedMember extends FoundMember {
  /**
   * `goes`, `stays`: the two members of a merge. `ends`, `begins`: the two memberships of a transfer. A
   * member whose entries are removed also `stays`.
   */
  readonly fate: 'changes' | 'goes' | 'stays' | 'ends' | 'begins';
}

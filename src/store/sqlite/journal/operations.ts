/** The operations that can be undone, imports and corrections, and the file of each import. */
import type { CorrectionKind } from '../../../domain/corrections.ts';
import type { ImportRecord } from '../../contract/import/import-session.ts';
import { IMPORT_KINDS, type ImportChanges, type ImportKind } from '../../contract/import/import-session.ts';
import type { ChangedEntity } from '../../contract/journal/corrections.ts';
import type { RecordedImport } from '../../contract/journal/operations.ts';
import type { Connection } from '../engine/connection.ts';

/** Successive ids; `last` is one less than `first` when there are none. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

export interface Operation {
  readonly id: number;
  readonly kind: ImportKind | CorrectionKind;
  readonly first_change: number;
  readonly last_change: number;
  /** Epoch seconds; null while it stands. */
  readonly undone_at: number | null;
}

/** A row of both tables; the columns of the file are null for a correction. */
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

/** SELECT of the import, not undone, that has replaced one. @param id SQL of the latter's */
export const replacementOf = (id: string): string =>
  `SELECT g.operation_id FROM main.imported_files g CROSS JOIN main.operations u
     ON u.id = g.operation_id AND u.undone_at IS NULL WHERE g.replaces = ${id}`;

const ROWS = `SELECT *, (${replacementOf('o.id')}) AS replaced_by
  FROM main.operations o LEFT JOIN main.imported_files f ON f.operation_id = o.id`;

/** The newest last. @param part without it, all of them */
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

/** The user of the operation, or of its undo, by which a change was made; null for a key. @param actor SQL */
export const userOf = (actor: string): string =>
  `(SELECT iif(${actor} GLOB 'undo:*', o.undone_by, o.system_user) FROM main.operations o
    WHERE ${actor} NOT GLOB 'key:*' AND o.id = CAST(substr(${actor}, instr(${actor}, ':') + 1) AS INTEGER))`;

/** FROM: imports `o` of @kind that were not undone, with their files `f` of the bytes @sha256. */
export const OF_SAME_BYTES = `main.imported_files f CROSS JOIN main.operations o
  ON o.id = f.operation_id AND f.sha256 = @sha256 AND o.kind = @kind AND o.undone_at IS NULL`;

/** @returns the last import of this kind of these bytes that was not undone */
export const findSameImport = (db: Connection, kind: ImportKind, sha256: string): number | undefined =>
  db.value<number | undefined>(`SELECT max(o.id) FROM ${OF_SAME_BYTES} HAVING count(*) > 0`, {
    kind,
    sha256,
  });

export const lastChange = (db: Connection): number =>
  db.value<number>('SELECT coalesce(max(id), 0) FROM main.changes');

/** What is known of an operation before it changes anything. */
export interface NewOperation {
  readonly kind: Operation['kind'];
  /** Anything that JSON can hold, without personal data: it is shown by `imports show`. */
  readonly options: unknown;
  readonly notes: unknown;
  readonly reason: string | null;
  readonly systemUser: string;
}

/**
 * Begins an operation in its transaction: what follows in the history until its end is its own.
 * @returns its id
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

/** Ends it. @param changed rows that were there before and are changed or removed */
export function endOperation(
  db: Connection,
  id: number,
  { created = 0, changed }: { readonly created?: number; readonly changed: number },
): void {
  const values = [created, changed, lastChange(db), id];
  db.run('UPDATE main.operations SET created = ?, changed = ?, last_change = ? WHERE id = ?', values);
}

/** Keeps which rows it created. */
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

/** The rows that it created, by entity. */
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
 * Keeps what is known of the file of an import.
 * @param replaces the import of which it is the newer version
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

/** SELECT of the actors whose changes were reversed, and of who reversed them: neither counts any more. */
export const REVERSED_ACTORS = ['import', 'correction', 'undo']
  .map((kind) => `SELECT '${kind}:' || id FROM main.operations WHERE undone_at IS NOT NULL`)
  .join('\n  UNION ALL ');

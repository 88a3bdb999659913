/** The rows of the table `imports`. */
import type { CorrectionKind } from '../../../domain/corrections.ts';
import { IMPORT_KINDS, type ImportKind } from '../../ports/import-session.ts';
import type { RecordedImport } from '../../ports/imports.ts';
import type { Connection } from '../engine/connection.ts';

/** A row of the table: an import, or a correction. */
export interface RecordedRow extends Omit<ImportRow, 'kind'> {
  readonly kind: ImportKind | CorrectionKind;
}

export interface ImportRow {
  readonly id: number;
  readonly file_name: string;
  readonly sha256: string;
  readonly kind: ImportKind;
  readonly map: string | null;
  readonly options: string;
  readonly notes: string;
  readonly system_user: string;
  readonly imported_at: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly kept: number;
  readonly refused_rows: number;
  readonly first_row: number;
  readonly last_row: number;
  readonly first_account: number;
  readonly last_account: number;
  readonly first_change: number;
  readonly last_change: number;
  readonly undone_at: number | null;
  /** Of a correction. */
  readonly reason: string | null;
}

export const isImport = (row: RecordedRow): row is ImportRow =>
  IMPORT_KINDS.some((kind) => kind === row.kind);

export const findImport = (db: Connection, id: number): RecordedRow | undefined =>
  db.raw.prepare('SELECT * FROM main.imports WHERE id = ?').get(id) as RecordedRow | undefined;

export const toRecordedImport = (row: RecordedRow): RecordedImport => ({
  id: row.id,
  fileName: row.file_name,
  sha256: row.sha256,
  kind: row.kind,
  map: row.map === null ? null : JSON.parse(row.map),
  options: JSON.parse(row.options),
  notes: JSON.parse(row.notes),
  systemUser: row.system_user,
  importedAt: row.imported_at,
  created: row.created,
  changed: row.changed,
  unchanged: row.unchanged,
  kept: row.kept,
  refusedRows: row.refused_rows,
  undoneAt: row.undone_at,
  reason: row.reason,
});

/** The rows of the table `imports`. */
import type { ImportKind } from '../../ports/import-session.ts';
import type { RecordedImport } from '../../ports/imports.ts';
import type { Connection } from '../connection/connection.ts';

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
}

export const findImport = (db: Connection, id: number): ImportRow | undefined =>
  db.raw.prepare('SELECT * FROM main.imports WHERE id = ?').get(id) as ImportRow | undefined;

export const toRecordedImport = (row: ImportRow): RecordedImport => ({
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
});

/** Whether the bytes of a file were imported before. */
import type { ImportKind } from '../../ports/import-session.ts';
import type { Connection } from '../engine/connection.ts';

/** @returns the last import of this kind of these bytes that was not undone */
export function findSameImport(db: Connection, kind: ImportKind, sha256: string): number | undefined {
  const select = db.raw.prepare(
    `SELECT id FROM main.imports WHERE sha256 = ? AND kind = ? AND undone_at IS NULL
     ORDER BY id DESC LIMIT 1`,
  );
  return select.pluck().get(sha256, kind) as number | undefined;
}

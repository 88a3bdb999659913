/**
 * Ids are never used again: an undo may remove the newest rows of a table, and other systems still know their
 * ids. The highest id that was removed is kept for each table.
 */
import type { Connection } from '../engine/connection.ts';

/**
 * SQL of the id of a row to be inserted by itself: null, for which SQLite takes the next one, unless the
 * highest ids were removed.
 */
export const newIdSql = (table: string): string =>
  `(SELECT last_id + 1 FROM removed_ids
    WHERE table_name = '${table}' AND last_id >= (SELECT coalesce(max(id), 0) FROM ${table}))`;

/** The id of the next row, and whether SQLite takes it by itself. */
export function nextIdOf(db: Connection, table: string): { readonly id: number; readonly isUsual: boolean } {
  const last = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  const removed = 'SELECT coalesce(max(last_id), 0) FROM main.removed_ids WHERE table_name = ?';
  const highest = Math.max(last, db.value<number>(removed, [table]));
  return { id: highest + 1, isUsual: highest === last };
}

/** @param lastId the highest id that is removed, in the transaction that removes it */
export function keepRemovedId(db: Connection, table: string, lastId: number): void {
  db.run(
    `INSERT INTO main.removed_ids (table_name, last_id) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
    [table, lastId],
  );
}

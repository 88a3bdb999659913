/** Undoes a correction inside the caller's transaction: nothing builds on its rows. */
import type { Connection } from '../engine/connection.ts';
import { undoRedirects } from '../identity/redirects.ts';
import type { ImportRow } from './rows.ts';
import { CHANGED_TABLES, type ChangedTable, recordedColumns } from './tables.ts';
import { REMOVED, type Touched, track } from './track.ts';

export type CorrectionRange = Pick<ImportRow, 'id' | 'first_change' | 'last_change'>;

export const ownChanges = ({ first_change, last_change }: CorrectionRange): string =>
  `c.id BETWEEN ${first_change} AND ${last_change}`;

/** @returns how many rows are as they were */
export function undoCorrection(db: Connection, range: CorrectionRange, nowSeconds: number): number {
  const own = ownChanges(range);
  const tables = CHANGED_TABLES.filter(
    ({ entity }) =>
      db.raw.prepare(`SELECT 1 FROM main.changes c WHERE ${own} AND c.entity = ? LIMIT 1`).get(entity) !==
      undefined,
  );
  const touched: Touched = Object.fromEntries(
    tables.map(({ entity }) => [
      entity,
      `SELECT DISTINCT c.row_id FROM main.changes c WHERE ${own} AND c.entity = '${entity}'`,
    ]),
  );
  const counts = track(db, touched, { actor: `undo:${range.id}`, nowSeconds }, () => {
    for (const each of tables) putBackRemoved(db, each, own, nowSeconds);
    for (const each of tables) putBackValues(db, each, own);
    undoRedirects(db, range.id);
  });
  db.raw.prepare('UPDATE main.imports SET undone_at = ? WHERE id = ?').run(nowSeconds, range.id);
  return Object.values(counts).reduce((sum, { changed }) => sum + changed, 0);
}

const isRemoved = ({ entity }: ChangedTable, own: string): string =>
  `SELECT c.row_id FROM main.changes c WHERE ${own} AND c.entity = '${entity}' AND c.field = '${REMOVED}'`;

function putBackRemoved(db: Connection, each: ChangedTable, own: string, nowSeconds: number): void {
  const { entity, table, hasTimestamps } = each;
  const columns = recordedColumns(db, each);
  // One value of each field: the largest is that one.
  const values = columns.map(({ field }) => `max(c.old) FILTER (WHERE c.field = '${field}')`);
  const names = ['id', ...columns.map(({ column }) => column), ...(hasTimestamps ? ['updated_at'] : [])];
  db.exec(`INSERT INTO main.${table} (${names.join(', ')})
    SELECT c.row_id, ${values.join(', ')}${hasTimestamps ? `, ${nowSeconds}` : ''} FROM main.changes c
    WHERE ${own} AND c.entity = '${entity}' AND c.row_id IN (${isRemoved(each, own)}) GROUP BY c.row_id`);
}

function putBackValues(db: Connection, each: ChangedTable, own: string): void {
  const { entity, table } = each;
  for (const { column, field } of recordedColumns(db, each)) {
    db.exec(`UPDATE main.${table} AS t SET ${column} = c.old FROM main.changes c
      WHERE ${own} AND c.entity = '${entity}' AND c.field = '${field}' AND t.id = c.row_id
        AND c.row_id NOT IN (${isRemoved(each, own)})`);
  }
}

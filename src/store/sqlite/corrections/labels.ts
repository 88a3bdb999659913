/** What people call a row, also one that a correction has removed. */
import type { ChangedEntity } from '../../ports/corrections.ts';
import type { Connection } from '../connection/connection.ts';
import { changedTable } from './tables.ts';

/** @param id SQL of the id; it is evaluated twice */
export function labelSql(entity: ChangedEntity, id: string): string {
  const { table, label } = changedTable(entity);
  return `coalesce((SELECT ${label} FROM main.${table} WHERE id = ${id}),
    (SELECT old FROM main.changes WHERE entity = '${entity}' AND row_id = ${id} AND field = '${label}'
     ORDER BY id DESC LIMIT 1), '')`;
}

export const rowLabel = (db: Connection, entity: ChangedEntity, id: number): string =>
  db.raw
    .prepare(`SELECT ${labelSql(entity, String(id))}`)
    .pluck()
    .get() as string;

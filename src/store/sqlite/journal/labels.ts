/** What people call a row, also one that a correction has removed. */
import type { ChangedEntity, NamedMember } from '../../ports/corrections.ts';
import type { Connection } from '../engine/connection.ts';
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

/** What people call a member that is there. */
export function nameMember(db: Connection, { id, fate }: Pick<NamedMember, 'id' | 'fate'>): NamedMember {
  const named = db.raw
    .prepare(
      `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName
       FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = ?`,
    )
    .get(id) as Omit<NamedMember, 'fate'>;
  return { ...named, fate };
}

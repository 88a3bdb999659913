/** What people call a row, also one that was removed, and how they read a recorded change. */
import {
  CHANGED_ENTITIES,
  type ChangedEntity,
  type NamedMember,
} from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { tableOf } from '../schema/tables.ts';

/** @param id SQL of the id; it is evaluated twice */
export function labelSql(entity: ChangedEntity, id: string): string {
  const { table, label } = tableOf(entity);
  return `coalesce((SELECT ${label} FROM main.${table} WHERE id = ${id}),
    (SELECT old FROM main.changes WHERE entity = '${entity}' AND row_id = ${id} AND field = '${label}'
     ORDER BY id DESC LIMIT 1), '')`;
}

export const rowLabel = (db: Connection, entity: ChangedEntity, id: number): string =>
  db.value<string>(`SELECT ${labelSql(entity, String(id))}`);

/** What people call a member that is there. */
export function nameMember(db: Connection, { id, fate }: Pick<NamedMember, 'id' | 'fate'>): NamedMember {
  const named = db.row<Omit<NamedMember, 'fate'>>(
    `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName
     FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = ?`,
    [id],
  ) as Omit<NamedMember, 'fate'>;
  return { ...named, fate };
}

/** SQL of a recorded change `c` as people know it: accounts by their numbers. */
export const SHOWN_CHANGE = (() => {
  const shown = (side: 'old' | 'new') =>
    `iif(c.field = 'account_id', ${labelSql('accounts', `c.${side}`)}, c.${side}) AS ${side}`;
  return {
    // The opening balance is the paid amount of a file.
    field: `CASE WHEN c.field = 'account_id' THEN 'account_number'
      WHEN c.field = 'opening_balance' AND c.actor GLOB 'import:*' THEN 'paid_amount' ELSE c.field END`,
    values: `${shown('old')}, ${shown('new')}`,
  };
})();

/**
 * SELECT of a page of the changes between two ids, both parameters, of which the first is not included. Rows
 * that were created and removed again have no name, and are left out.
 * @param limit rows of a page
 */
export function listedChangesSql(limit: number): string {
  const label = CHANGED_ENTITIES.map((entity) => `WHEN '${entity}' THEN ${labelSql(entity, 'c.row_id')}`);
  return `SELECT * FROM (SELECT c.id, c.line, CASE c.entity ${label.join(' ')} END AS row,
      ${SHOWN_CHANGE.field} AS "column", ${SHOWN_CHANGE.values}
    FROM main.changes c WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ${limit})`;
}

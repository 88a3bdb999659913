/** Texts for rows, their recorded changes and actors. */

import { labelSql, SHOWN_CHANGE } from '../registry/changes/labels.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from '../registry/changes/tables.ts';
import { FOUND_MEMBER } from '../registry/stored/stored-data.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import { asMessage, type Message, say } from '../values/message.ts';
import type { NamedMember } from './operations.ts';

/** Reads code and name of a member. The row of the member must exist. */
export const nameMember = (db: Connection, { id, fate }: Pick<NamedMember, 'id' | 'fate'>): NamedMember =>
  db.row<NamedMember>(
    `SELECT ${FOUND_MEMBER}, @fate AS fate
     FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = @id`,
    { id, fate },
  ) as NamedMember;

/**
 * Returns a SELECT of a page of changes with ids above the first parameter, up to the second parameter. The
 * label of a row that was created and then removed is empty.
 * @param limit rows per page
 */
export function listedChangesSql(limit: number): string {
  const label = CHANGED_ENTITIES.map((entity) => `WHEN '${entity}' THEN ${labelSql(entity, 'c.row_id')}`);
  return `SELECT * FROM (SELECT c.id, c.line, CASE c.entity ${label.join(' ')} END AS row,
      ${SHOWN_CHANGE.field} AS "column", ${SHOWN_CHANGE.values}
    FROM main.changes c WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ${limit})`;
}

/**
 * Formats an actor for display: `key:7` → key 7.
 * @param actor null for a row that is older than the history
 * @param who user who ran the import, correction or undo; null if not shown
 */
export function formatActor(actor: Actor | null, who: string | null = null): Message {
  if (actor === null) return say('before the history');
  if (who !== null) return say('{actor}: {who}', { actor: formatActor(actor), who });
  const [type = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  return type === 'undo'
    ? say('undo of {name}', { name })
    : say('{type} {name}', { type: asMessage(type), name });
}

/**
 * Returns SQL of the operation that created a row; null for a row created with a key.
 * @param id SQL of the row id
 */
export const creatorOf = (entity: ChangedEntity, id: string): string =>
  `(SELECT operation_id FROM main.created_rows WHERE entity = '${entity}' AND first_row <= ${id}
    AND last_row >= ${id} ORDER BY first_row DESC LIMIT 1)`;

export const ENTITY_NAMES: { readonly [entity in ChangedEntity]: string } = {
  cooperatives: 'cooperative',
  members: 'member',
  production: 'delivery',
  loans: 'loan',
  payments: 'payment',
  accounts: 'savings account',
  savings: 'savings transaction',
};

const COUNTS: { readonly [entity in ChangedEntity]: (n: number) => Message } = {
  cooperatives: (n) => say('{n|# cooperative|# cooperatives}', { n }),
  members: (n) => say('{n|# member|# members}', { n }),
  production: (n) => say('{n|# delivery|# deliveries}', { n }),
  loans: (n) => say('{n|# loan|# loans}', { n }),
  payments: (n) => say('{n|# payment|# payments}', { n }),
  accounts: (n) => say('{n|# savings account|# savings accounts}', { n }),
  savings: (n) => say('{n|# savings transaction|# savings transactions}', { n }),
};

export const countEntities = (entity: ChangedEntity, count: number): Message => COUNTS[entity](count);

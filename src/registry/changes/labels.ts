/** Labels of rows, including removed ones, and the presentation of recorded changes. */

import type { Connection } from '../../sqlite/connection.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import { CHANGED_ENTITIES, type ChangedEntity, type NamedMember } from './correction-kinds.ts';
import { CREATED, userOf } from './record-changes.ts';
import { tableOf } from './tables.ts';

/** @param id SQL expression of the id; evaluated twice */
export function labelSql(entity: ChangedEntity, id: string): string {
  const { table, label } = tableOf(entity);
  return `coalesce((SELECT ${label} FROM main.${table} WHERE id = ${id}),
    (SELECT old FROM main.changes WHERE entity = '${entity}' AND row_id = ${id} AND field = '${label}'
     ORDER BY id DESC LIMIT 1), '')`;
}

export const rowLabel = (db: Connection, entity: ChangedEntity, id: number): string =>
  db.value<string>(`SELECT ${labelSql(entity, String(id))}`);

/** Code and name of a member that still exists. */
export const nameMember = (db: Connection, { id, fate }: Pick<NamedMember, 'id' | 'fate'>): NamedMember =>
  db.row<NamedMember>(
    `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName,
       @fate AS fate
     FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = @id`,
    { id, fate },
  ) as NamedMember;

/** SQL that presents a recorded change `c`: account ids become account numbers. */
export const SHOWN_CHANGE = (() => {
  const presented = (side: 'old' | 'new') =>
    `iif(c.field = 'account_id', ${labelSql('accounts', `c.${side}`)}, c.${side}) AS ${side}`;
  return {
    // Import files call the opening balance `paid_amount`.
    field: `CASE WHEN c.field = 'account_id' THEN 'account_number'
      WHEN c.field = 'opening_balance' AND c.actor GLOB 'import:*' THEN 'paid_amount' ELSE c.field END`,
    values: `${presented('old')}, ${presented('new')}`,
  };
})();

/**
 * SELECT of one page of changes by id; both bounds are parameters, the lower one exclusive. Rows that were
 * created and removed again have no label and are left out.
 * @param limit rows per page
 */
export function listedChangesSql(limit: number): string {
  const label = CHANGED_ENTITIES.map((entity) => `WHEN '${entity}' THEN ${labelSql(entity, 'c.row_id')}`);
  return `SELECT * FROM (SELECT c.id, c.line, CASE c.entity ${label.join(' ')} END AS row,
      ${SHOWN_CHANGE.field} AS "column", ${SHOWN_CHANGE.values}
    FROM main.changes c WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT ${limit})`;
}

// Actors

/**
 * Formats an actor for display: `key:7` → key 7. A null actor stands for rows older than the history.
 * @param who user of the import, correction or undo; null if it must not be named
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

// Origin of rows: the operation whose range contains their id, or the key that created them

export interface Origin {
  readonly at: number;
  readonly actor: Actor;
  readonly user: string | null;
}

/**
 * SQL of the operation that created a row; null for a row created with a key.
 * @param id SQL of the row id
 */
export const creatorOf = (entity: ChangedEntity, id: string): string =>
  `(SELECT operation_id FROM main.created_rows WHERE entity = '${entity}' AND first_row <= ${id}
    AND last_row >= ${id} ORDER BY first_row DESC LIMIT 1)`;

/** @returns a function that gives the origin of a row, or undefined for a row older than the history */
export function openOrigins(db: Connection): (kind: ChangedEntity, id: number) => Origin | undefined {
  const recorded = db.raw.prepare<[string, number], Origin>(
    `SELECT at, actor, ${userOf('actor')} AS user FROM main.changes
     WHERE entity = ? AND row_id = ? AND field = '${CREATED}'`,
  );
  const ranged = db.raw.prepare<[string, number], Origin & { readonly lastRow: number }>(
    `SELECT o.performed_at AS at, r.last_row AS lastRow,
       iif(o.reason IS NULL, 'import:', 'correction:') || o.id AS actor, o.system_user AS user
     FROM main.created_rows r CROSS JOIN main.operations o ON o.id = r.operation_id
     WHERE r.entity = ? AND r.first_row <= ? ORDER BY r.first_row DESC LIMIT 1`,
  );
  const byOperation = (kind: ChangedEntity, id: number): Origin | undefined => {
    const range = ranged.get(kind, id);
    if (range === undefined || id > range.lastRow) return undefined;
    const { lastRow: _, ...origin } = range;
    return origin;
  };
  return (kind, id) => recorded.get(kind, id) ?? byOperation(kind, id);
}

// Display names of entities

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

/** For example `3 members`. */
export const countEntities = (entity: ChangedEntity, count: number): Message => COUNTS[entity](count);

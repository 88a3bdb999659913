/** Labels of rows, including removed rows, and origins of rows. */

import type { Connection } from '../../sqlite/connection.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import { CREATED, userOf } from './record-changes.ts';
import { type ChangedEntity, tableOf } from './tables.ts';

/** @param id SQL expression of the id, which SQLite evaluates twice */
export function labelSql(entity: ChangedEntity, id: string): string {
  const { table, label } = tableOf(entity);
  return `coalesce((SELECT ${label} FROM main.${table} WHERE id = ${id}),
    (SELECT old FROM main.changes WHERE entity = '${entity}' AND row_id = ${id} AND field = '${label}'
     ORDER BY id DESC LIMIT 1), '')`;
}

const shownValue = (side: 'old' | 'new'): string =>
  `iif(c.field = 'account_id', ${labelSql('accounts', `c.${side}`)}, c.${side}) AS ${side}`;

/** SQL of a recorded change `c`, with account numbers instead of account ids. */
export const SHOWN_CHANGE = {
  // Import files call the opening balance `paid_amount`.
  field: `CASE WHEN c.field = 'account_id' THEN 'account_number'
    WHEN c.field = 'opening_balance' AND c.actor GLOB 'import:*' THEN 'paid_amount' ELSE c.field END`,
  values: `${shownValue('old')}, ${shownValue('new')}`,
};

// Reads only one range of ids: the ranges of an entity are disjoint. Both parameters are SQL expressions.
/** SQL of the operation that created the row; NULL for a row created over HTTP or before the history. */
export const creatorSql = (entity: string, id: string): string =>
  `(SELECT iif(last_row >= ${id}, operation_id, NULL) FROM main.created_rows
    WHERE entity = ${entity} AND first_row <= ${id} ORDER BY first_row DESC LIMIT 1)`;

/** Creation of a row, by an operation or with a key. */
export interface Origin {
  readonly at: number;
  readonly actor: Actor;
  readonly user: string | null;
}

/** @returns a function that returns the origin of a row, or undefined for a row older than the history */
export function openOrigins(db: Connection): (kind: ChangedEntity, id: number) => Origin | undefined {
  const recorded = db.raw.prepare<{ kind: string; id: number }, Origin>(
    `SELECT at, actor, ${userOf('actor')} AS user FROM main.changes
     WHERE entity = @kind AND row_id = @id AND field = '${CREATED}'`,
  );
  const ranged = db.raw.prepare<{ kind: string; id: number }, Origin>(
    `SELECT o.performed_at AS at, iif(o.reason IS NULL, 'import:', 'correction:') || o.id AS actor,
       o.system_user AS user
     FROM main.operations o WHERE o.id = ${creatorSql('@kind', '@id')}`,
  );
  return (kind, id) => recorded.get({ kind, id }) ?? ranged.get({ kind, id });
}

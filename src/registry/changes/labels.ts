/** SQL for the labels of rows, including removed rows, and for the origin of a row. */

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

/** SQL expressions that display a recorded change `c`, with account numbers instead of account ids. */
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

// The origin of a row is the operation whose range of new ids includes the row, or the key that created the
// row.

export interface Origin {
  readonly at: number;
  readonly actor: Actor;
  readonly user: string | null;
}

/** @returns a function that returns the origin of a row, or undefined for a row older than the history */
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

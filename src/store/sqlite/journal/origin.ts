/** Where rows come from: the operation in whose range their id is, or the key that created them. */

import type { ChangedEntity } from '../../contract/journal/corrections.ts';
import { type Actor, CREATED } from '../../contract/journal/history.ts';
import type { Connection } from '../engine/connection.ts';
import { userOf } from './operations.ts';

export interface Origin {
  readonly at: number;
  readonly actor: Actor;
  readonly user: string | null;
}

/** SQL: the operation that created a row, among its new rows; null for a row of a key. @param id SQL */
export const creatorOf = (entity: ChangedEntity, id: string): string =>
  `(SELECT operation_id FROM main.created_rows WHERE entity = '${entity}' AND first_row <= ${id}
    AND last_row >= ${id} ORDER BY first_row DESC LIMIT 1)`;

/** @returns what gives the origin of a row; undefined for one that is older than the history */
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
    const found = ranged.get(kind, id);
    if (found === undefined || id > found.lastRow) return undefined;
    const { lastRow: _, ...origin } = found;
    return origin;
  };
  return (kind, id) => recorded.get(kind, id) ?? byOperation(kind, id);
}

/** Where rows come from: the import in whose range their id is, or the key that created them. */

import type { ChangedEntity } from '../../ports/corrections.ts';
import { type Actor, CREATED } from '../../ports/history.ts';
import type { ImportKind } from '../../ports/import-session.ts';
import type { Connection } from '../engine/connection.ts';

export interface Origin {
  readonly at: number;
  readonly actor: Actor;
}

/** @returns what gives the origin of a row; undefined for one that is older than the history */
export function openOrigins(
  db: Connection,
): (kind: ImportKind | ChangedEntity, id: number) => Origin | undefined {
  const recorded = db.raw.prepare<[string, number], Origin>(
    `SELECT at, actor FROM main.changes WHERE entity = ? AND row_id = ? AND field = '${CREATED}'`,
  );
  const imported = db.raw.prepare<[string, number], Origin>(
    `SELECT imported_at AS at, 'import:' || id AS actor FROM main.imports
     WHERE kind = ? AND ? BETWEEN first_row AND last_row`,
  );
  return (kind, id) => recorded.get(kind, id) ?? imported.get(kind, id);
}

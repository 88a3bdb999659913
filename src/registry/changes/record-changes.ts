/** Records a change of a row in the transaction of the change: each value in the history, and one event. */

import type { Connection } from '../../sqlite/connection.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { type ChangedRow, type EventSummary, openEventAppender } from './append-and-expire-events.ts';
import { announcedEntity, type OwnedEntity, type RecordedEntity } from './tables.ts';

/** Field name of the history entry for the creation of a row. */
export const CREATED = 'created';

export interface HistoryEntry {
  /** Field of the API, column of an import file, or `CREATED`. */
  readonly field: string;
  /** Amounts in minor units, weights in grams, instants in epoch seconds. */
  readonly old: StagedValue;
  readonly new: StagedValue;
  /** Epoch seconds. */
  readonly at: number;
  /** Null for a row older than the history. */
  readonly actor: Actor | null;
  /** System user who ran the import, correction or undo; null for a key, or if no user was recorded. */
  readonly user: string | null;
}

/** SQL of the system user who ran or undid the operation behind a change; null if a key made the change. */
export const userOf = (actor: string): string =>
  `(SELECT iif(${actor} GLOB 'undo:*', o.undone_by, o.system_user) FROM main.operations o
    WHERE ${actor} NOT GLOB 'key:*' AND o.id = CAST(substr(${actor}, instr(${actor}, ':') + 1) AS INTEGER))`;

const openInsert = (db: Connection) =>
  db.prepare<
    [entity: string, id: number, field: string, old: StagedValue, new: StagedValue, at: number, actor: string]
  >('INSERT INTO changes (entity, row_id, field, old, new, at, actor) VALUES (?, ?, ?, ?, ?, ?, ?)');

interface ChangedValues {
  readonly fields: readonly string[];
  /** In the order of `fields`, like `new`. */
  readonly old: readonly StagedValue[];
  readonly new: readonly StagedValue[];
}

export function openChangeRecorder(db: Connection, entity: RecordedEntity) {
  const insert = openInsert(db);
  const append = openEventAppender(db, announcedEntity(entity));
  return {
    created(row: ChangedRow, nowSeconds: number, actor: Actor): void {
      insert.run(entity, row.id, CREATED, null, null, nowSeconds, actor);
      append('created', row, [], nowSeconds, actor);
    },
    /** Records only fields whose old and new values differ. */
    changed(row: ChangedRow, change: ChangedValues, nowSeconds: number, actor: Actor): void {
      const changed: string[] = [];
      for (const [i, field] of change.fields.entries()) {
        const [before = null, after = null] = [change.old[i], change.new[i]];
        if (before === after) continue;
        insert.run(entity, row.id, field, before, after, nowSeconds, actor);
        changed.push(field);
      }
      if (changed.length > 0) append('updated', row, changed, nowSeconds, actor);
    },
  };
}

/** @param summary field that reports new entries of this kind in an event of the member */
export function openEntryRecorder(db: Connection, summary: EventSummary) {
  const insert = openInsert(db);
  const append = openEventAppender(db, 'member');
  return {
    /** @param rows ids of the new entry and, if it opened a savings account, of the account */
    created(
      rows: { readonly [entity in OwnedEntity]?: number },
      member: ChangedRow,
      nowSeconds: number,
      actor: Actor,
    ): void {
      for (const [entity, id] of Object.entries(rows))
        insert.run(entity, id, CREATED, null, null, nowSeconds, actor);
      append('updated', member, [summary], nowSeconds, actor);
    },
  };
}

/** SELECT of actors: all operations that were undone, and their undos. */
export const REVERSED_ACTORS = ['import', 'correction', 'undo']
  .map((kind) => `SELECT '${kind}:' || id FROM main.operations WHERE undone_at IS NOT NULL`)
  .join('\n  UNION ALL ');

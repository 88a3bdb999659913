/** Records changed values in the history, and one event for each changed row. Removes expired events. */

import type { Connection } from '../../sqlite/connection.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import { DAY_SECONDS } from '../../values/date-time.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import {
  actorCode,
  type EventAction,
  type EventEntity,
  type EventSummary,
  fieldBits,
  typeCode,
} from './event-types.ts';
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

const openHistoryInsert = (db: Connection) =>
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
  const insert = openHistoryInsert(db);
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
  const insert = openHistoryInsert(db);
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

// Events

export const EVENT_RETENTION_DAYS = 400;

/** Returns the latest epoch second whose events have expired. */
const expiryOf = (nowSeconds: number): number => nowSeconds - EVENT_RETENTION_DAYS * DAY_SECONDS;

/** Maximum number of expired events that a new event removes: more than 1, so that a long table shrinks. */
const MOST_REMOVED_BY_WRITE = 4;
/** Maximum number of expired events that an import, correction or undo removes. */
const MOST_REMOVED_BY_SET = 100_000;

/**
 * Deletes at most `@most` expired events, up to the first event that has not expired. The newest event always
 * stays, because without it SQLite would give the same sequence number to the next event.
 */
const REMOVE_EXPIRED = `DELETE FROM main.events WHERE sequence < (
    SELECT coalesce(min(sequence) FILTER (WHERE at > @expiry), max(sequence))
    FROM (SELECT sequence, at FROM main.events ORDER BY sequence LIMIT @most + 1))`;

export interface ChangedRow {
  readonly id: number;
  /** For a cooperative, its own id. */
  readonly cooperativeId: number;
}

export function openEventAppender(db: Connection, entity: EventEntity) {
  const insert = db.prepare<
    [type: number, rowId: number, cooperativeId: number, fields: number, at: number, actor: number]
  >('INSERT INTO events (type, row_id, cooperative_id, fields, at, actor) VALUES (?, ?, ?, ?, ?, ?)');
  const removeExpired = db.prepare<[{ expiry: number; most: number }]>(REMOVE_EXPIRED);
  /** Epoch second of the last DELETE that removed nothing. Later events of this second skip the DELETE. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** @param fields changed fields; empty unless the action is `updated` */
  return (
    action: EventAction,
    { id, cooperativeId }: ChangedRow,
    fields: readonly string[],
    nowSeconds: number,
    actor: Actor,
  ): void => {
    const type = typeCode(entity, action);
    insert.run(type, id, cooperativeId, fieldBits(entity, fields), nowSeconds, actorCode(actor));
    if (nowSeconds === lookedAt) return;
    const { changes } = removeExpired.run({ expiry: expiryOf(nowSeconds), most: MOST_REMOVED_BY_WRITE });
    if (changes === 0) lookedAt = nowSeconds;
  };
}

/**
 * Appends one event for each selected row, in the order of the SELECT. Records which range of sequence
 * numbers belongs to the operation.
 * @param rows SELECT of `type, row_id, cooperative_id, fields`. `type` is a `typeCode`. `fields` is the sum
 *   of the changed fields' `fieldBit` values; it is 0 for a created or deleted row.
 * @returns the number of events
 */
export function appendEvents(db: Connection, rows: string, nowSeconds: number, actor: Actor): number {
  const { changes, lastInsertRowid } = db.run(
    `INSERT INTO main.events (type, row_id, cooperative_id, fields, at, actor)
     SELECT type, row_id, cooperative_id, fields, ?, ? FROM (${rows})`,
    [nowSeconds, actorCode(actor)],
  );
  const last = Number(lastInsertRowid);
  if (changes > 0)
    db.run(
      `INSERT INTO main.operation_events VALUES (?, ?, ?)
       ON CONFLICT (actor) DO UPDATE SET last_sequence = excluded.last_sequence`,
      [actorCode(actor), last - changes + 1, last],
    );
  const most = Math.min(changes, MOST_REMOVED_BY_SET);
  db.run(REMOVE_EXPIRED, { expiry: expiryOf(nowSeconds), most });
  return changes;
}

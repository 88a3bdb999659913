/**
 * Appends to the sequence of changes, in the transaction that makes the change. An event's number is the key
 * that SQLite gives its row: one more than that of the newest, which is never removed.
 */
import {
  actorCode,
  EVENT_RETENTION_DAYS,
  type EventAction,
  type EventActor,
  type EventEntity,
  fieldBits,
  typeCode,
} from '../../../domain/events.ts';
import type { Connection } from '../engine/connection.ts';

const RETENTION_SECONDS = EVENT_RETENTION_DAYS * 24 * 60 * 60;

/** Events up to this instant are too old, in epoch seconds. */
const expiryOf = (nowSeconds: number): number => nowSeconds - RETENTION_SECONDS;

/** More than one, so that a file that got too long becomes shorter with each write. */
const MOST_REMOVED_BY_WRITE = 4;
/** By an import or an undo, which may append any number. */
const MOST_REMOVED_BY_SET = 100_000;

/**
 * Removes events from the beginning of the sequence up to the first that is not too old. The newest stays
 * however old it is: it says where the sequence has got to.
 * Parameters: how many to remove at most, plus 1; `expiryOf`.
 */
const REMOVE_EXPIRED = `DELETE FROM main.events WHERE sequence < (
    SELECT coalesce(min(sequence) FILTER (WHERE at > @expiry), max(sequence))
    FROM (SELECT sequence, at FROM main.events ORDER BY sequence LIMIT @most + 1))`;

const SELECT_OLDEST = 'SELECT at FROM events ORDER BY sequence LIMIT 1';

/** Where a change was made. */
export interface ChangedRow {
  readonly id: number;
  /** The cooperative that it belongs to; itself for a cooperative. */
  readonly cooperativeId: number;
}

/** One event about one row of an entity. @param fields those that changed; none but for `updated` */
export type AppendEvent = (
  action: EventAction,
  row: ChangedRow,
  fields: readonly string[],
  nowSeconds: number,
  actor: EventActor,
) => void;

export function openEventAppender(db: Connection, entity: EventEntity): AppendEvent {
  const insert = db.prepare<
    [type: number, rowId: number, cooperativeId: number, fields: number, at: number, actor: number]
  >('INSERT INTO events (type, row_id, cooperative_id, fields, at, actor) VALUES (?, ?, ?, ?, ?, ?)');
  const selectOldest = db.prepare<[], { readonly at: number }>(SELECT_OLDEST);
  const removeExpired = db.prepare<[{ expiry: number; most: number }]>(REMOVE_EXPIRED);
  /** The last second in which no event was too old, in epoch seconds: it is not looked for again in one. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  return (action, { id, cooperativeId }, fields, nowSeconds, actor) => {
    const type = typeCode(entity, action);
    insert.run(type, id, cooperativeId, fieldBits(entity, fields), nowSeconds, actorCode(actor));
    if (nowSeconds === lookedAt) return;
    const expiry = expiryOf(nowSeconds);
    const oldest = selectOldest.get();
    if (oldest !== undefined && oldest.at <= expiry)
      removeExpired.run({ expiry, most: MOST_REMOVED_BY_WRITE });
    else lookedAt = nowSeconds;
  };
}

/**
 * Appends one event of an operation for each row of a set, in its order, and keeps which they are.
 * @param rows SELECT of `type, row_id, cooperative_id, fields`: the first as its number (`typeCode`), the
 * last as bits (`fieldBit`), 0 unless updated
 * @returns how many
 */
export function appendEvents(db: Connection, rows: string, nowSeconds: number, actor: EventActor): number {
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

/**
 * Gives a copy of a registry a new epoch. What was committed after the copy is lost, and its numbers are used
 * again for other changes: a follower must not continue. Does nothing to a file without a sequence.
 */
export function renewEpoch(db: Connection): void {
  if (!db.has("sqlite_schema WHERE name = 'feed'")) return;
  db.exec('UPDATE feed SET epoch = lower(hex(randomblob(8)))');
}

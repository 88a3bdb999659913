/** Types and fields of events, their codes in SQLite, and functions that append and expire events. */

import type { Connection } from '../../sqlite/connection.ts';
import { ACTOR_KINDS, type Actor } from '../../sqlite/entity-store.ts';
import { DAY_SECONDS } from '../../values/date-time.ts';
import { listFields, type RecordedField } from '../../values/declared-fields.ts';
import { COOPERATIVE_FIELDS } from '../cooperatives.ts';
import { LOAN_FIELDS } from '../loans.ts';
import { MEMBER_FIELDS } from '../members.ts';
import { PAYMENT_FIELDS } from '../payments.ts';

export const EVENT_ENTITIES = ['cooperative', 'member', 'loan', 'payment'] as const;
export type EventEntity = (typeof EVENT_ENTITIES)[number];

export const EVENT_ACTIONS = ['created', 'updated', 'deleted'] as const;
export type EventAction = (typeof EVENT_ACTIONS)[number];

export type EventType = `${EventEntity}.${EventAction}`;

/** The index of a type is its code in stored events, so the order of entities and actions must not change. */
export const EVENT_TYPES: readonly EventType[] = EVENT_ENTITIES.flatMap((entity) =>
  EVENT_ACTIONS.map((action): EventType => `${entity}.${action}`),
);

export const EVENT_RETENTION_DAYS = 400;

/** Fields that report changes of deliveries and savings in an event of the member, with their bits. */
const SUMMARIES = { production_summary: 12, savings_summary: 13 };
export type EventSummary = keyof typeof SUMMARIES;

/** @throws Error if two fields have the same bit, or if a bit below the highest bit has no field */
function namesByBit(
  fields: { readonly [property: string]: RecordedField },
  summaries: { readonly [name: string]: number } = {},
): readonly string[] {
  const declared = listFields(fields).map(({ name, eventBit }) => [name, eventBit] as const);
  const names: string[] = [];
  for (const [name, bit] of [...declared, ...Object.entries(summaries)]) {
    if (bit === null) continue;
    if (names[bit] !== undefined) throw new Error(`Two fields have the event bit ${bit}.`);
    names[bit] = name;
  }
  if (Object.keys(names).length < names.length)
    throw new Error('An event bit below the highest is not used.');
  return names;
}

/** Names of fields in bodies and files. The index of a name is the bit of the field in stored events. */
export const EVENT_FIELDS: { readonly [entity in EventEntity]: readonly string[] } = {
  cooperative: namesByBit(COOPERATIVE_FIELDS),
  member: namesByBit(MEMBER_FIELDS, SUMMARIES),
  loan: namesByBit(LOAN_FIELDS),
  payment: namesByBit(PAYMENT_FIELDS),
};

export const typeCode = (entity: EventEntity, action: EventAction): number =>
  EVENT_TYPES.indexOf(`${entity}.${action}`);

export const typeOfCode = (code: number): EventType => EVENT_TYPES[code] as EventType;

export const entityOfType = (code: number): EventEntity =>
  EVENT_ENTITIES[Math.floor(code / EVENT_ACTIONS.length)] as EventEntity;

/** Returns 0 for a field that events do not report. */
export function fieldBit(entity: EventEntity, field: string): number {
  const place = EVENT_FIELDS[entity].indexOf(field);
  return place < 0 ? 0 : 2 ** place;
}

/** @param fields different fields */
export const fieldBits = (entity: EventEntity, fields: readonly string[]): number =>
  fields.reduce((bits, field) => bits + fieldBit(entity, field), 0);

export const fieldsOfBits = (entity: EventEntity, bits: number): string[] =>
  EVENT_FIELDS[entity].filter((_field, place) => Math.floor(bits / 2 ** place) % 2 === 1);

export function actorCode(actor: Actor): number {
  const [kind, id] = actor.split(':') as [(typeof ACTOR_KINDS)[number], string];
  return Number(id) * ACTOR_KINDS.length + ACTOR_KINDS.indexOf(kind);
}

export function actorOfCode(code: number): Actor {
  const kind = ACTOR_KINDS[code % ACTOR_KINDS.length] as (typeof ACTOR_KINDS)[number];
  return `${kind}:${Math.floor(code / ACTOR_KINDS.length)}`;
}

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

/**
 * Makes followers of a restored copy start again. The copy lacks the last events of the original, and will
 * give the same numbers to other events. Does nothing to a file without the table `feed`.
 */
export function renewEpoch(db: Connection): void {
  if (!db.has("sqlite_schema WHERE name = 'feed'")) return;
  db.exec('UPDATE feed SET epoch = lower(hex(randomblob(8)))');
}

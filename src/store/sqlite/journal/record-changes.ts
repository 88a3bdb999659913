/**
 * What follows from a change of rows, set by set: the history and the events; triggers count. Imports,
 * corrections and their undo hand over their sets here. Single rows are recorded by recorder.ts, by the same
 * description of tables.
 */
import {
  EVENT_FIELDS,
  type EventAction,
  type EventActor,
  type EventEntity,
  fieldBit,
  typeCode,
} from '../../../domain/events.ts';
import type { ChangedEntity } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { appendEvents } from '../events/append.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import {
  cooperativeSql,
  memberOfOwnerSql,
  memberSql,
  type OwnedEntity,
  recordedColumns,
  tableOf,
} from '../schema/tables.ts';

/** Rows of one table that an operation adds and changes, as SQL; those that go are noted (noteRemoved). */
export interface ChangeSet {
  readonly entity: ChangedEntity;
  /** Rows that are there now and were not before: a condition on the row `r`. */
  readonly created?: string;
  /** SELECT of `line, row_id, field, old, new` of values that differ, in the order of the history. */
  readonly values?: string;
  /** SELECT of the `id` of the members to whom these entries belong, where they were found before. */
  readonly members?: string;
}

/** Who makes the changes, and when. */
export interface Recording {
  readonly actor: EventActor;
  /** Epoch seconds. */
  readonly nowSeconds: number;
}

/** Fields of the history that stand for an entire row. */
export const REMOVED = 'removed';
export const RESTORED = 'restored';

/**
 * Records values in the history.
 * @param rows SELECT of `line, row_id, field, old, new`
 * @returns how many
 */
export function insertChanges(
  db: Connection,
  entity: ChangedEntity,
  rows: string,
  { actor, nowSeconds }: Recording,
): number {
  return db.run(
    `INSERT INTO main.changes (entity, row_id, field, old, new, at, actor, line)
     SELECT '${entity}', row_id, field, old, new, ?, ?, line FROM (${rows})`,
    [nowSeconds, actor],
  ).changes;
}

/**
 * Notes rows while they can be read: `announce` tells that they are gone.
 * @param from where they are read, with all their columns
 * @param where a condition on the row `r`
 * @returns how many
 */
export function noteRemoved(db: Connection, entity: ChangedEntity, from: string, where: string): number {
  db.exec(`CREATE TEMP TABLE IF NOT EXISTS removed_rows (
    entity TEXT, row_id INTEGER, cooperative_id INTEGER, member_id INTEGER, PRIMARY KEY (entity, row_id)
  ) WITHOUT ROWID`);
  const member = tableOf(entity).owner === undefined ? 'NULL' : memberSql(entity as OwnedEntity, 'r');
  return db.run(
    `INSERT INTO temp.removed_rows (entity, row_id, cooperative_id, member_id)
     SELECT '${entity}', r.id, ${cooperativeSql(entity, 'r')}, ${member} FROM ${from} r WHERE ${where}`,
  ).changes;
}

/** SELECT of the ids of noted rows. */
export const removedIds = (entity: ChangedEntity): string =>
  `SELECT row_id FROM temp.removed_rows WHERE entity = '${entity}'`;

/**
 * Records every value of the noted rows of an entity, so that an undo can put them back, and keeps their ids
 * from being given again.
 * @param from where they are read
 */
export function insertRemovedRows(db: Connection, entity: ChangedEntity, from: string, by: Recording): void {
  const table = tableOf(entity);
  const insert = (field: string, value: string, condition: string) =>
    insertChanges(
      db,
      entity,
      `SELECT NULL AS line, r.id AS row_id, '${field}' AS field, ${value} AS old, NULL AS new
       FROM ${from} r WHERE r.id IN (${removedIds(entity)}) AND ${condition}`,
      by,
    );
  for (const { column, field } of recordedColumns(db, table))
    insert(field, `r.${column}`, `r.${column} IS NOT NULL`);
  insert(REMOVED, 'NULL', 'true');
}

/** Appends the events of the sets, and of what was noted as removed. The history is the caller's. */
export function announce(db: Connection, sets: readonly ChangeSet[], by: Recording): void {
  const removed = takeRemoved(db);
  const events = [...removed.flatMap(deletions), ...sets.flatMap(ownEvents), ...memberUpdates(sets, removed)];
  if (events.length > 0) append(db, events, by);
  if (removed.length > 0) db.exec('DROP TABLE temp.removed_rows');
}

/** The entities of which rows were noted. */
const takeRemoved = (db: Connection): readonly ChangedEntity[] =>
  db.has("sqlite_temp_schema WHERE name = 'removed_rows'")
    ? db.values<ChangedEntity>('SELECT DISTINCT entity FROM temp.removed_rows')
    : [];

function append(db: Connection, events: readonly string[], by: Recording): void {
  // Rows of one kind are read in the order of their ids: nothing is sorted then.
  const order = events.length === 1 ? 'row_id' : 'place, row_id';
  const rows = `SELECT type, row_id, cooperative_id, fields FROM (${events.join('\nUNION ALL ')})
    ORDER BY ${order}`;
  appendEvents(db, rows, by.nowSeconds, by.actor);
}

/** In which order the events of an operation follow each other. */
const PLACES: { readonly [action in EventAction]: number } = { deleted: 0, created: 1, updated: 2 };

const eventSql = (entity: ChangedEntity, event: EventEntity, action: EventAction, fields: string): string =>
  `SELECT ${PLACES[action]} AS place, ${typeCode(event, action)} AS type, r.id AS row_id,
     ${cooperativeSql(entity, 'r')} AS cooperative_id, ${fields} AS fields`;

function deletions(entity: ChangedEntity): string[] {
  const { announced } = tableOf(entity);
  if (!('entity' in announced)) return [];
  return [
    `SELECT ${PLACES.deleted} AS place, ${typeCode(announced.entity, 'deleted')} AS type, row_id,
       cooperative_id, 0 AS fields FROM temp.removed_rows WHERE entity = '${entity}'`,
  ];
}

/** Events of the rows themselves; updates of members are told together with those of their entries. */
function ownEvents({ entity, created, values }: ChangeSet): string[] {
  const { table, announced } = tableOf(entity);
  if (!('entity' in announced)) return [];
  const event = announced.entity;
  return [
    ...(created === undefined
      ? []
      : [`${eventSql(entity, event, 'created', '0')} FROM main.${table} r WHERE ${created}`]),
    ...(values === undefined || event === 'member'
      ? []
      : [updatesOf(entity, event, changedBits(event, values))]),
  ];
}

/** The field that an event names for one of the history, if it names any. */
const ANNOUNCED_AS: { readonly [field: string]: string } = { opening_balance: 'paid_amount' };

/** SELECT of `id, bit` of rows whose values differ. */
function changedBits(event: EventEntity, values: string): string {
  const fields = [...EVENT_FIELDS[event], ...Object.keys(ANNOUNCED_AS)];
  const cases = fields.map(
    (field) => `WHEN '${field}' THEN ${fieldBit(event, ANNOUNCED_AS[field] ?? field)}`,
  );
  return `SELECT row_id AS id, CASE field ${cases.join(' ')} ELSE 0 END AS bit FROM (${values})`;
}

/** A value that events do not name makes none. @param bits SELECT of `id, bit` */
const updatesOf = (entity: ChangedEntity, event: EventEntity, bits: string, condition = 'true'): string =>
  `${eventSql(entity, event, 'updated', 'sum(DISTINCT u.bit)')}
   FROM (${bits}) u CROSS JOIN main.${tableOf(entity).table} r ON r.id = u.id
   WHERE ${condition} GROUP BY r.id HAVING sum(u.bit) > 0`;

/** One update for each member whose values or entries change; none for those that come, go or are erased. */
function memberUpdates(sets: readonly ChangeSet[], removed: readonly ChangedEntity[]): string[] {
  const members = sets.find(({ entity }) => entity === 'members');
  const bits = [
    ...(members?.values === undefined ? [] : [changedBits('member', members.values)]),
    ...sets.flatMap(summaryBits),
    ...removed.flatMap((entity) =>
      bitOf(entity, [`SELECT member_id AS id FROM temp.removed_rows WHERE entity = '${entity}'`]),
    ),
  ];
  if (bits.length === 0) return [];
  const others = [
    `r.status <> '${ERASED_STATUS}'`,
    ...(members?.created === undefined ? [] : [`NOT (${members.created})`]),
    ...(removed.includes('members') ? [`r.id NOT IN (${removedIds('members')})`] : []),
  ];
  return [updatesOf('members', 'member', bits.join('\nUNION ALL '), others.join(' AND '))];
}

/** SELECTs of `id, bit` of the members to whom changed entries belong, and belonged. */
function summaryBits({ entity, created, values, members }: ChangeSet): string[] {
  const { table, owner } = tableOf(entity);
  if (owner === undefined) return [];
  if (members !== undefined) return bitOf(entity, [members]);
  const member = memberSql(entity as OwnedEntity, 'r');
  return bitOf(entity, [
    ...(created === undefined ? [] : [`SELECT ${member} AS id FROM main.${table} r WHERE ${created}`]),
    ...(values === undefined ? [] : changedOwners(entity as OwnedEntity, values)),
  ]);
}

/** @param members SELECTs of the `id` of members; none where their events do not tell of these entries */
function bitOf(entity: ChangedEntity, members: readonly string[]): string[] {
  const { announced } = tableOf(entity);
  if (!('memberField' in announced)) return [];
  const bit = fieldBit('member', announced.memberField);
  return members.map((each) => `SELECT DISTINCT id, ${bit} AS bit FROM (${each})`);
}

/** Of changed rows: the member of the row as it is, and of any owner that is recorded. */
function changedOwners(entity: OwnedEntity, values: string): string[] {
  const { table, owner } = tableOf(entity) as Required<ReturnType<typeof tableOf>>;
  return [
    `SELECT ${memberSql(entity, 'r')} AS id FROM (${values}) v CROSS JOIN main.${table} r ON r.id = v.row_id`,
    ...(['old', 'new'] as const).map(
      (side) =>
        `SELECT ${memberOfOwnerSql(owner.entity, `v.${side}`)} AS id FROM (${values}) v
         WHERE v.field = '${owner.column}'`,
    ),
  ];
}

/**
 * SQL of the id of a row to be inserted by itself: null, for which SQLite takes the next one, unless the
 * highest ids were removed.
 */
export const newIdSql = (table: string): string =>
  `(SELECT last_id + 1 FROM removed_ids
    WHERE table_name = '${table}' AND last_id >= (SELECT coalesce(max(id), 0) FROM ${table}))`;

/** The id of the next row, and whether SQLite takes it by itself. */
export function nextIdOf(db: Connection, table: string): { readonly id: number; readonly isUsual: boolean } {
  const last = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  const removed = 'SELECT coalesce(max(last_id), 0) FROM main.removed_ids WHERE table_name = ?';
  const highest = Math.max(last, db.value<number>(removed, [table]));
  return { id: highest + 1, isUsual: highest === last };
}

/** @param lastId the highest id that is removed, in the transaction that removes it */
export function keepRemovedId(db: Connection, table: string, lastId: number): void {
  db.run(
    `INSERT INTO main.removed_ids (table_name, last_id) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
    [table, lastId],
  );
}

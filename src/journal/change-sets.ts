/** Records the history and events of changes to sets of rows. Triggers maintain the counts. */

import {
  appendEvents,
  EVENT_FIELDS,
  type EventAction,
  type EventEntity,
  fieldBit,
  typeCode,
} from '../registry/changes/append-and-expire-events.ts';
import {
  type ChangedEntity,
  cooperativeSql,
  memberOfOwnerSql,
  memberSql,
  type OwnedEntity,
  recordedColumns,
  tableOf,
} from '../registry/changes/tables.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import type { Actor } from '../sqlite/entity-store.ts';

/** SQL for rows of one table that an operation creates or changes. For removed rows, see `stageRemoved`. */
export interface ChangeSet {
  readonly entity: ChangedEntity;
  /** SQL condition on the row `r` that matches created rows. */
  readonly created?: string | undefined;
  /** SELECT of `line, row_id, field, old, new` of changed values, in history order. */
  readonly values?: string | undefined;
  /** SELECT of the `id` of the members who own these rows. By default, `announce` finds them. */
  readonly members?: string;
}

export interface Recording {
  readonly actor: Actor;
  readonly nowSeconds: number;
}

/** History fields that represent the removal and the restoration of a row. */
export const REMOVED = 'removed';
export const RESTORED = 'restored';

/** @param rows SELECT of `line, row_id, field, old, new` */
export function insertChanges(
  db: Connection,
  entity: ChangedEntity,
  rows: string,
  { actor, nowSeconds }: Recording,
): void {
  db.run(
    `INSERT INTO main.changes (entity, row_id, field, old, new, at, actor, line)
     SELECT '${entity}', row_id, field, old, new, ?, ?, line FROM (${rows})`,
    [nowSeconds, actor],
  );
}

/** Saves the ids and owners of removed rows for `announce`. @param from table that still has the rows */
export function stageRemoved(db: Connection, entity: ChangedEntity, from: string, where: string): number {
  db.exec(`CREATE TEMP TABLE IF NOT EXISTS removed_rows (
    entity TEXT, row_id INTEGER, cooperative_id INTEGER, member_id INTEGER, PRIMARY KEY (entity, row_id)
  ) WITHOUT ROWID`);
  const member = tableOf(entity).owner === undefined ? 'NULL' : memberSql(entity as OwnedEntity, 'r');
  return db.run(
    `INSERT INTO temp.removed_rows (entity, row_id, cooperative_id, member_id)
     SELECT '${entity}', r.id, ${cooperativeSql(entity, 'r')}, ${member} FROM ${from} r WHERE ${where}`,
  ).changes;
}

export const removedIds = (entity: ChangedEntity): string =>
  `SELECT row_id FROM temp.removed_rows WHERE entity = '${entity}'`;

/** Records every value of the rows in `removedIds` for an undo. @param from table that still has the rows */
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

/** Appends the events of the change sets and of `stageRemoved`. The caller records the history. */
export function announce(db: Connection, sets: readonly ChangeSet[], by: Recording): void {
  const removed = db.has("sqlite_temp_schema WHERE name = 'removed_rows'")
    ? db.values<ChangedEntity>('SELECT DISTINCT entity FROM temp.removed_rows')
    : [];
  const events = [...removed.flatMap(deletions), ...sets.flatMap(ownEvents), ...memberUpdates(sets, removed)];
  if (events.length > 0) {
    // The rows of a single SELECT have the same place and are already in id order, so SQLite need not sort.
    const order = events.length === 1 ? 'row_id' : 'place, row_id';
    const rows = `SELECT type, row_id, cooperative_id, fields FROM (${events.join('\nUNION ALL ')})
      ORDER BY ${order}`;
    appendEvents(db, rows, by.nowSeconds, by.actor);
  }
  if (removed.length > 0) db.exec('DROP TABLE temp.removed_rows');
}

/** Order of the events of one operation. */
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

/** Returns SELECTs of the events of the rows, except updates of members (see `memberUpdates`). */
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

/** History fields that events name differently. */
const ANNOUNCED_AS: { readonly [field: string]: string } = { opening_balance: 'paid_amount' };

/** Returns a SELECT of `id, bit` for each changed value: the id of its row, and the bit of its field. */
function changedBits(event: EventEntity, values: string): string {
  const fields = [...EVENT_FIELDS[event], ...Object.keys(ANNOUNCED_AS)];
  const cases = fields.map(
    (field) => `WHEN '${field}' THEN ${fieldBit(event, ANNOUNCED_AS[field] ?? field)}`,
  );
  return `SELECT row_id AS id, CASE field ${cases.join(' ')} ELSE 0 END AS bit FROM (${values})`;
}

/** Returns a SELECT of update events. Events do not report changes of some fields. */
const updatesOf = (entity: ChangedEntity, event: EventEntity, bits: string, condition = 'true'): string =>
  `${eventSql(entity, event, 'updated', 'sum(DISTINCT u.bit)')}
   FROM (${bits}) u CROSS JOIN main.${tableOf(entity).table} r ON r.id = u.id
   WHERE ${condition} GROUP BY r.id HAVING sum(u.bit) > 0`;

/** Returns a SELECT of one update event per member, without created, removed and erased members. */
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
  const conditions = [
    `r.status <> '${ERASED_STATUS}'`,
    ...(members?.created === undefined ? [] : [`NOT (${members.created})`]),
    ...(removed.includes('members') ? [`r.id NOT IN (${removedIds('members')})`] : []),
  ];
  return [updatesOf('members', 'member', bits.join('\nUNION ALL '), conditions.join(' AND '))];
}

/** Returns SELECTs of `id, bit` for the members who own the changed entries, or owned them before. */
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

/** @returns SELECTs of `id, bit`; empty if events of members do not report changes of these rows */
function bitOf(entity: ChangedEntity, members: readonly string[]): string[] {
  const { announced } = tableOf(entity);
  if (!('memberField' in announced)) return [];
  const bit = fieldBit('member', announced.memberField);
  return members.map((each) => `SELECT DISTINCT id, ${bit} AS bit FROM (${each})`);
}

/** Returns SELECTs of the owners of changed rows, including the old and new owners of moved rows. */
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

/** Returns the id of the next row. `isUsual` is true if SQLite would assign the same id by default. */
export function nextIdOf(db: Connection, table: string): { readonly id: number; readonly isUsual: boolean } {
  const last = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  const removed = 'SELECT coalesce(max(last_id), 0) FROM main.removed_ids WHERE table_name = ?';
  const highest = Math.max(last, db.value<number>(removed, [table]));
  return { id: highest + 1, isUsual: highest === last };
}

/** Prevents the reuse of ids up to `lastId`. Call this in the transaction that removes the rows. */
export function keepRemovedId(db: Connection, table: string, lastId: number): void {
  db.run(
    `INSERT INTO main.removed_ids (table_name, last_id) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
    [table, lastId],
  );
}

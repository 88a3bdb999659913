/**
 * Records the history and events of changes to sets of rows. To find the changes that the SQL of an operation
 * makes, compares the rows before and after. Triggers maintain the counts.
 */

import {
  EVENT_FIELDS,
  type EventAction,
  type EventEntity,
  fieldBit,
  typeCode,
} from '../registry/changes/event-types.ts';
import { appendEvents } from '../registry/changes/record-changes.ts';
import {
  type ChangedEntity,
  cooperativeSql,
  memberOfOwnerSql,
  memberSql,
  type OwnedEntity,
  recordedColumns,
  TABLES,
  type Table,
  tableOf,
} from '../registry/changes/tables.ts';
import type { StoredRow } from '../registry/stored/stored-data-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import { type ChangedRows, createdRows, type IdRange, type Operation } from './operations.ts';

/** SQL for rows of one table that an operation creates or changes. For removed rows, see `stageRemoved`. */
export interface ChangeSet {
  readonly entity: ChangedEntity;
  /** SQL condition on the row `r` that matches created rows. */
  readonly created?: string | undefined;
  /** SELECT of `line, row_id, field, old, new` of changed values, in history order. */
  readonly values?: string | undefined;
  /** SELECT of the `id` of the members who own these rows. By default, `announce` finds the members. */
  readonly members?: string;
}

export interface Author {
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
  { actor, nowSeconds }: Author,
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
export function insertRemovedRows(db: Connection, entity: ChangedEntity, from: string, by: Author): void {
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

/** Appends the events of the change sets and of staged removed rows. The caller records the history. */
export function announce(db: Connection, sets: readonly ChangeSet[], by: Author): void {
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

/** Returns a SELECT of update events. A row gets no event if only fields without a bit have changed. */
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

/** SELECTs of ids. */
export type Touched = { readonly [entity in ChangedEntity]?: string };

/**
 * Runs work inside the caller's transaction, and records the changed rows.
 * @param touched all rows that the work may change or remove; the SELECTs may refer to temporary tables
 * @param work returns the ranges of created rows of touched entities
 * @param keepsNoValues true for an erasure: no values enter the history; changed rows get `deleted` events
 */
export function track(
  db: Connection,
  touched: Touched,
  by: Author,
  work: () => ReadonlyMap<ChangedEntity, IdRange>,
  keepsNoValues = false,
): { readonly [entity in ChangedEntity]?: ChangedRows } {
  const tables = TABLES.filter(({ entity }) => touched[entity] !== undefined);
  for (const table of tables) takeImage(db, table, touched[table.entity] as string);
  const created = work();
  const sets = tables.map((table) => compare(db, table, created.get(table.entity)));
  const counts = tables.map((table) => {
    const { entity } = table;
    const { first, last } = created.get(entity) ?? { first: 1, last: 0 };
    const removed = recordRows(db, table, by, keepsNoValues);
    const changed = db.count(`(SELECT DISTINCT row_id FROM temp.values_${entity})`);
    return [entity, { created: last - first + 1, changed, removed }] as const;
  });
  announce(db, keepsNoValues ? [] : sets, by);
  for (const { entity } of tables)
    db.exec(`DROP TABLE temp.before_${entity}; DROP TABLE temp.values_${entity}`);
  return Object.fromEntries(
    counts.filter(([, { created: added, changed, removed }]) => added + changed + removed > 0),
  );
}

function takeImage(db: Connection, { entity, table }: Table, ids: string): void {
  db.exec(`CREATE TEMP TABLE before_${entity} AS SELECT t.* FROM main.${table} t WHERE t.id IN (${ids});
    CREATE UNIQUE INDEX temp.before_${entity}_id ON before_${entity} (id)`);
}

function compare(db: Connection, changedTable: Table, created: IdRange | undefined): ChangeSet {
  const { entity, table } = changedTable;
  db.exec(`CREATE TEMP TABLE values_${entity} (line INTEGER, row_id INTEGER, field TEXT, old, new)`);
  for (const { column, field } of recordedColumns(db, changedTable)) {
    db.exec(`INSERT INTO temp.values_${entity}
      SELECT NULL, b.id, '${field}', b.${column}, t.${column} FROM temp.before_${entity} b
      CROSS JOIN main.${table} t ON t.id = b.id WHERE b.${column} IS NOT t.${column}`);
  }
  return {
    entity,
    created: created && `r.id ${within(created)}`,
    values: `SELECT * FROM temp.values_${entity}`,
  };
}

/** Records changed and removed rows, and sets `updated_at`. @returns the number of removed rows */
function recordRows(
  db: Connection,
  { entity, table, hasTimestamps }: Table,
  by: Author,
  keepsNoValues: boolean,
): number {
  const changed = `SELECT row_id FROM temp.values_${entity}`;
  if (hasTimestamps)
    db.run(`UPDATE main.${table} SET updated_at = ? WHERE id IN (${changed})`, [by.nowSeconds]);
  const before = `temp.before_${entity}`;
  if (keepsNoValues) {
    stageRemoved(db, entity, before, `r.id IN (${changed})`);
    return 0;
  }
  const isGone = `NOT EXISTS (SELECT 1 FROM main.${table} t WHERE t.id = r.id)`;
  const removed = stageRemoved(db, entity, before, isGone);
  insertChanges(db, entity, `SELECT * FROM temp.values_${entity}`, by);
  if (removed > 0) {
    insertRemovedRows(db, entity, before, by);
    keepRemovedId(db, table, db.value<number>(`SELECT max(row_id) FROM (${removedIds(entity)})`));
  }
  return removed;
}

export interface OperatedTable {
  readonly table: Table;
  /** SQL condition on the ids of created rows, such as `BETWEEN 1 AND 9`; undefined if none was created. */
  readonly created: string | undefined;
  /** Changed history fields, including `removed`. */
  readonly fields: readonly string[];
}

const within = ({ first, last }: IdRange): string => `BETWEEN ${first} AND ${last}`;

/** Returns the SQL condition that a change `c` belongs to the operation. */
export const operationChanges = ({ firstChange, lastChange }: Operation): string =>
  `c.id ${within({ first: firstChange, last: lastChange })}`;

/** SELECT of the rows that an operation changed or removed. @param condition SQL on the change `c` */
export const changedRows = (operation: Operation, entity: ChangedEntity, condition = 'true'): string =>
  `SELECT c.row_id FROM main.changes c
   WHERE ${operationChanges(operation)} AND c.entity = '${entity}' AND ${condition}`;

export const removedRows = (operation: Operation, entity: ChangedEntity): string =>
  changedRows(operation, entity, `c.field = '${REMOVED}'`);

/** Reads the tables that an operation touched, parents before children. */
export function readOperatedTables(db: Connection, operation: Operation): OperatedTable[] {
  const created = createdRows(db, operation.id);
  const changed = db.rows<{ entity: ChangedEntity; field: string }>(
    `SELECT DISTINCT entity, field FROM main.changes c WHERE ${operationChanges(operation)}`,
  );
  return TABLES.map((table) => {
    const rows = created.get(table.entity);
    const fields = changed.flatMap(({ entity, field }) => (entity === table.entity ? [field] : []));
    return { table, created: rows && within(rows), fields };
  }).filter(({ created, fields }) => created !== undefined || fields.length > 0);
}

const memberIdSql = ({ entity, owner }: Table): string =>
  owner === undefined ? (entity === 'members' ? 't.id' : 'NULL') : memberSql(entity as OwnedEntity, 't');

/** JSON key and SQL of the loan reference or account number of the row `t`, by entity. */
const PART_OF: { readonly [entity in ChangedEntity]?: string } = {
  payments: "'loan_reference', (SELECT reference FROM main.loans WHERE id = t.loan_id)",
  savings: "'account_number', (SELECT account_number FROM main.savings_accounts WHERE id = t.account_id)",
};

export interface OperatedRow {
  readonly entity: ChangedEntity;
  /** Label of the row: never a national ID. */
  readonly row: string;
  /** Id of the member who owns the row; null for a cooperative. */
  readonly memberId: number | null;
  /** Current values, including the row's account number or loan reference. */
  readonly values: StoredRow;
}

/** Lists the rows that an operation created or changed and that still exist, except savings accounts. */
export const listOperatedRows = (db: Connection, operation: Operation): OperatedRow[] =>
  readOperatedTables(db, operation)
    .filter(({ table }) => table.entity !== 'accounts')
    .flatMap(({ table, created = 'IN ()' }) => {
      const values = recordedColumns(db, table).map(({ column, field }) => `'${field}', t.${column}`);
      const rows = db.rows<Omit<OperatedRow, 'values'> & { readonly json: string }>(
        `SELECT '${table.entity}' AS entity, t.${table.label} AS row, ${memberIdSql(table)} AS memberId,
           json_object(${[...values, PART_OF[table.entity]].filter(Boolean).join(', ')}) AS json
         FROM main.${table.table} t
         WHERE t.id ${created} OR t.id IN (${changedRows(operation, table.entity)}) ORDER BY t.id`,
      );
      return rows.map(({ json, ...row }) => ({ ...row, values: JSON.parse(json) }));
    });

// A paid amount is the opening balance plus the recorded payments. If an operation changes payments, the
// updates of paid amounts are not part of the operation. These updates are recorded after the end of the
// operation, and an undo computes the paid amounts again.

/** Triggers mark the read model as stale. @param table with columns `loan_id` and `delta` (minor units) */
export function addPaidAmounts(db: Connection, table: string, by: Author): void {
  db.run(
    `UPDATE main.loans AS t SET paid_amount_minor = t.paid_amount_minor + d.delta, updated_at = ?
     FROM ${table} d WHERE t.id = d.loan_id AND d.delta <> 0`,
    [by.nowSeconds],
  );
  const values = `SELECT NULL AS line, t.id AS row_id, 'paid_amount' AS field,
      t.paid_amount_minor - d.delta AS old, t.paid_amount_minor AS new
    FROM ${table} d CROSS JOIN main.loans t ON t.id = d.loan_id WHERE d.delta <> 0 ORDER BY t.id`;
  insertChanges(db, 'loans', values, by);
  announce(db, [{ entity: 'loans', values }], by);
}

/**
 * Adds to `temp.paid_amounts`, or subtracts from it, the present total of the operation's payments per loan.
 * Call this with `-` before the undo, and with `+` after the undo. The table then has the differences.
 */
export function stagePaymentTotals(db: Connection, operation: Operation, sign: '-' | '+'): void {
  db.exec('CREATE TEMP TABLE IF NOT EXISTS paid_amounts (loan_id INTEGER PRIMARY KEY, delta INTEGER)');
  db.exec(`INSERT INTO temp.paid_amounts (loan_id, delta)
    SELECT loan_id, ${sign} sum(amount_minor) FROM main.payments t CROSS JOIN (
        SELECT coalesce(min(first_row), 1) AS first, coalesce(max(last_row), 0) AS last FROM main.created_rows
        WHERE operation_id = ${operation.id} AND entity = 'payments') w
    WHERE status = 'recorded' AND (t.id BETWEEN w.first AND w.last OR t.id IN
      (SELECT c.row_id FROM main.changes c WHERE ${operationChanges(operation)} AND c.entity = 'payments'))
    GROUP BY 1
    ON CONFLICT DO UPDATE SET delta = delta + excluded.delta`);
}

/**
 * Finds what a piece of work has changed by comparing rows with what they were, set by set, and records it:
 * each value in the history, one event for each row that has events, and the counts of lists. The work itself
 * is plain SQL on the tables.
 */
import { type EventActor, type EventEntity, fieldBit } from '../../../domain/events.ts';
import type { ChangedEntity, ChangedRows } from '../../ports/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { appendEvents } from '../events/append.ts';
import { countChangesSql } from '../lists/count-index.ts';
import { countsOf } from '../lists/counted-tables.ts';
import { keepRemovedId } from './removed-ids.ts';
import { CHANGED_TABLES, type ChangedTable, recordedColumns } from './tables.ts';

/** SELECTs of the ids of rows that the work may change, remove or put back. */
export type Touched = { readonly [entity in ChangedEntity]?: string };

export interface TrackOptions {
  readonly actor: EventActor;
  /** Epoch seconds. */
  readonly nowSeconds: number;
  /** Leaves the values out of the history: for an erasure. Its rows are deleted for followers. */
  readonly keepsNoValues?: boolean;
}

/** Fields of the history that stand for an entire row. */
export const REMOVED = 'removed';
export const RESTORED = 'restored';

export type ChangedCounts = { readonly [entity in ChangedEntity]?: ChangedRows };

/**
 * Runs the work inside the caller's transaction.
 * @param touched rows outside of these must stay as they are; they may refer to temporary tables
 * @returns how many rows of each entity were changed and removed
 */
export function track(
  db: Connection,
  touched: Touched,
  { actor, nowSeconds, keepsNoValues = false }: TrackOptions,
  work: () => void,
): ChangedCounts {
  const tables = CHANGED_TABLES.filter(({ entity }) => touched[entity] !== undefined);
  for (const each of tables) takeImage(db, each, touched[each.entity] as string);
  work();
  const counts: [ChangedEntity, ChangedRows][] = [];
  db.exec('CREATE TEMP TABLE member_fields (member_id INTEGER, bit INTEGER)');
  for (const each of tables) {
    compare(db, each);
    if (!keepsNoValues) recordValues(db, each, actor, nowSeconds);
    recordRows(db, each, actor, nowSeconds);
    if (each.hasTimestamps) {
      const changed = `SELECT id FROM temp.changed_${each.entity} WHERE what <> '${REMOVED}'`;
      db.raw.prepare(`UPDATE main.${each.table} SET updated_at = ? WHERE id IN (${changed})`).run(nowSeconds);
    }
    const rows = countRows(db, each);
    if (rows.changed + rows.removed > 0) counts.push([each.entity, rows]);
    recount(db, each);
  }
  appendAll(db, tables, { actor, nowSeconds, keepsNoValues });
  for (const { entity } of tables) {
    db.exec(`DROP TABLE temp.touched_${entity}; DROP TABLE temp.before_${entity};
      DROP TABLE temp.changed_${entity}`);
  }
  db.exec('DROP TABLE temp.member_fields');
  return Object.fromEntries(counts);
}

function takeImage(db: Connection, { entity, table }: ChangedTable, ids: string): void {
  db.exec(`CREATE TEMP TABLE touched_${entity} (id INTEGER PRIMARY KEY);
    INSERT OR IGNORE INTO temp.touched_${entity} SELECT * FROM (${ids});
    CREATE TEMP TABLE before_${entity} AS
      SELECT t.* FROM temp.touched_${entity} i CROSS JOIN main.${table} t ON t.id = i.id;
    CREATE UNIQUE INDEX temp.before_${entity}_id ON before_${entity} (id)`);
}

/** The bit of a column in `changed.cells`. */
const bitOf = (place: number): number => 2 ** place;

/** Which rows differ, and in which columns. */
function compare(db: Connection, each: ChangedTable): void {
  const { entity, table } = each;
  const cells = recordedColumns(db, each).map(
    ({ column }, i) => `(b.${column} IS NOT t.${column}) * ${bitOf(i)}`,
  );
  db.exec(`CREATE TEMP TABLE changed_${entity} (id INTEGER PRIMARY KEY, what TEXT, cells INTEGER);
    INSERT INTO temp.changed_${entity} SELECT b.id, 'changed', ${cells.join(' + ')} AS cells
      FROM temp.before_${entity} b CROSS JOIN main.${table} t ON t.id = b.id WHERE cells <> 0;
    INSERT INTO temp.changed_${entity} SELECT b.id, '${REMOVED}', 0 FROM temp.before_${entity} b
      WHERE NOT EXISTS (SELECT 1 FROM main.${table} t WHERE t.id = b.id);
    INSERT INTO temp.changed_${entity} SELECT i.id, '${RESTORED}', 0
      FROM temp.touched_${entity} i CROSS JOIN main.${table} t ON t.id = i.id
      WHERE NOT EXISTS (SELECT 1 FROM temp.before_${entity} b WHERE b.id = i.id)`);
}

/** Of a row that is gone every value, so that an undo can put it back. */
function recordValues(db: Connection, each: ChangedTable, actor: EventActor, nowSeconds: number): void {
  const { entity, table } = each;
  for (const [i, { column, field }] of recordedColumns(db, each).entries()) {
    db.raw
      .prepare(
        `INSERT INTO main.changes (entity, row_id, field, old, new, at, actor)
         SELECT '${entity}', c.id, '${field}', b.${column}, t.${column}, ?, ?
         FROM temp.changed_${entity} c CROSS JOIN temp.before_${entity} b ON b.id = c.id
         LEFT JOIN main.${table} t ON t.id = c.id
         WHERE c.cells & ${bitOf(i)} OR (c.what = '${REMOVED}' AND b.${column} IS NOT NULL)`,
      )
      .run(nowSeconds, actor);
  }
}

/** That a row was removed or put back. */
function recordRows(
  db: Connection,
  { entity, table }: ChangedTable,
  actor: EventActor,
  nowSeconds: number,
): void {
  db.raw
    .prepare(
      `INSERT INTO main.changes (entity, row_id, field, at, actor)
       SELECT '${entity}', id, what, ?, ? FROM temp.changed_${entity} WHERE what <> 'changed'`,
    )
    .run(nowSeconds, actor);
  const lastRemoved = db.raw
    .prepare(`SELECT max(id) FROM temp.changed_${entity} WHERE what = '${REMOVED}'`)
    .pluck()
    .get() as number | null;
  if (lastRemoved !== null) keepRemovedId(db, table, lastRemoved);
}

function countRows(db: Connection, { entity }: ChangedTable): ChangedRows {
  return db.raw
    .prepare(
      `SELECT count(*) FILTER (WHERE what <> '${REMOVED}') AS changed,
         count(*) FILTER (WHERE what = '${REMOVED}') AS removed FROM temp.changed_${entity}`,
    )
    .get() as ChangedRows;
}

/** Every changed row counts no more as it was, and counts as it is. */
function recount(db: Connection, { entity, table }: ChangedTable): void {
  for (const declaration of countsOf(table)) {
    const { group, dimension, excluded } = declaration;
    const isCounted = excluded === undefined ? '' : `AND ${dimension} <> '${excluded}'`;
    const changed = `SELECT id FROM temp.changed_${entity}`;
    const changes = `SELECT id, ${group}, ${dimension}, -1 AS delta FROM temp.before_${entity}
        WHERE id IN (${changed}) ${isCounted}
      UNION ALL SELECT id, ${group}, ${dimension}, 1 FROM main.${table}
        WHERE id IN (${changed}) ${isCounted}`;
    for (const sql of countChangesSql(declaration, changes, true)) db.exec(sql);
  }
}

/** Deliveries and savings have no events: the members to whom they belong, and belonged, are updated. */
const SUMMARIES: { readonly [entity in ChangedEntity]?: readonly [field: string, member: string] } = {
  production: ['production_summary', 'r.member_id'],
  accounts: ['savings_summary', 'r.member_id'],
  savings: ['savings_summary', '(SELECT member_id FROM main.savings_accounts WHERE id = r.account_id)'],
};

function appendAll(
  db: Connection,
  tables: readonly ChangedTable[],
  { actor, nowSeconds, keepsNoValues }: Required<TrackOptions>,
): void {
  const append = (entity: EventEntity, action: 'created' | 'updated' | 'deleted', rows: string) =>
    appendEvents(db, [entity, action], rows, nowSeconds, actor);
  for (const each of tables) {
    const summary = SUMMARIES[each.entity];
    if (summary !== undefined) addMemberFields(db, each, ...summary);
  }
  for (const each of tables) {
    const { entity, event, table } = each;
    if (event === undefined) continue;
    const cooperative = event === 'cooperative' ? 'id' : 'cooperative_id';
    const rows = (from: string, what: string) =>
      `SELECT r.id AS row_id, r.${cooperative} AS cooperative_id, 0 AS fields
       FROM temp.changed_${entity} c CROSS JOIN ${from} r ON r.id = c.id
       WHERE c.what = '${what}' ORDER BY r.id`;
    if (keepsNoValues) {
      // For followers the rows of an erased person are no more.
      append(event, 'deleted', rows(`main.${table}`, 'changed'));
      continue;
    }
    append(event, 'created', rows(`main.${table}`, RESTORED));
    append(event, 'updated', updatedRows(db, each, event, cooperative));
    append(event, 'deleted', rows(`temp.before_${entity}`, REMOVED));
  }
  if (tables.some(({ entity }) => entity === 'members')) return;
  // Only entries of members were changed.
  append('member', 'updated', MEMBERS_WITH_CHANGED_ENTRIES);
}

const MEMBERS_WITH_CHANGED_ENTRIES = `SELECT m.id AS row_id, m.cooperative_id, sum(DISTINCT f.bit) AS fields
  FROM temp.member_fields f CROSS JOIN main.members m ON m.id = f.member_id GROUP BY m.id`;

function addMemberFields(
  db: Connection,
  { entity, table }: ChangedTable,
  field: string,
  member: string,
): void {
  const changed = `SELECT id FROM temp.changed_${entity}`;
  const bit = fieldBit('member', field);
  for (const rows of [`temp.before_${entity}`, `main.${table}`]) {
    db.exec(`INSERT INTO temp.member_fields SELECT DISTINCT ${member}, ${bit} FROM ${rows} r
      WHERE r.id IN (${changed})`);
  }
}

/** A changed value that events do not name makes no event. */
function updatedRows(db: Connection, each: ChangedTable, event: EventEntity, cooperative: string): string {
  const bits = recordedColumns(db, each).flatMap(({ field }, i) => {
    const bit = fieldBit(event, field);
    return bit === 0 ? [] : [`((c.cells & ${bitOf(i)}) <> 0) * ${bit}`];
  });
  const own = `SELECT c.id, ${bits.join(' + ')} AS bits FROM temp.changed_${each.entity} c
    WHERE c.what = 'changed'`;
  const summaries = `SELECT f.member_id, sum(DISTINCT f.bit) FROM temp.member_fields f
    WHERE f.member_id NOT IN (SELECT id FROM temp.changed_members WHERE what = '${RESTORED}')
    GROUP BY f.member_id`;
  const all = event === 'member' ? `${own} UNION ALL ${summaries}` : own;
  return `SELECT r.id AS row_id, r.${cooperative} AS cooperative_id, sum(u.bits) AS fields
    FROM (${all}) u CROSS JOIN main.${each.table} r ON r.id = u.id
    GROUP BY r.id HAVING sum(u.bits) > 0`;
}

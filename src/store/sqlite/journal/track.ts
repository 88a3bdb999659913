/**
 * Finds what a piece of work has changed by comparing rows with what they were, set by set, and records it.
 * The work itself is plain SQL on the tables; of the rows that it creates it tells the ids.
 */
import type { ChangedEntity, ChangedRows } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { recordedColumns, TABLES, type Table } from '../schema/tables.ts';
import type { IdRange } from './operations.ts';
import {
  announce,
  type ChangeSet,
  insertChanges,
  insertRemovedRows,
  keepRemovedId,
  noteRemoved,
  type Recording,
  removedIds,
} from './record-changes.ts';

/** SELECTs of the ids of rows that the work may change or remove. */
export type Touched = { readonly [entity in ChangedEntity]?: string };

export type ChangedCounts = { readonly [entity in ChangedEntity]?: ChangedRows };

/**
 * Runs the work inside the caller's transaction.
 * @param touched rows outside of these must stay as they are; they may refer to temporary tables
 * @param work gives the rows that it creates, of touched entities
 * @param keepsNoValues of an erasure: the history gets no values, and for followers the rows are deleted
 * @returns how many rows of each entity were created, changed and removed
 */
export function track(
  db: Connection,
  touched: Touched,
  by: Recording,
  work: () => ReadonlyMap<ChangedEntity, IdRange>,
  keepsNoValues = false,
): ChangedCounts {
  const tables = TABLES.filter(({ entity }) => touched[entity] !== undefined);
  for (const each of tables) takeImage(db, each, touched[each.entity] as string);
  const created = work();
  const sets = tables.map((each) => compare(db, each, created.get(each.entity)));
  const counts = tables.map((each) => {
    const removed = finishRows(db, each, by, keepsNoValues);
    return [each.entity, countRows(db, each, removed, created.get(each.entity))] as const;
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

/** Lists the values that differ. */
function compare(db: Connection, each: Table, created: IdRange | undefined): ChangeSet {
  const { entity, table } = each;
  db.exec(`CREATE TEMP TABLE values_${entity} (line INTEGER, row_id INTEGER, field TEXT, old, new)`);
  for (const { column, field } of recordedColumns(db, each)) {
    db.exec(`INSERT INTO temp.values_${entity}
      SELECT NULL, b.id, '${field}', b.${column}, t.${column} FROM temp.before_${entity} b
      CROSS JOIN main.${table} t ON t.id = b.id WHERE b.${column} IS NOT t.${column}`);
  }
  return {
    entity,
    ...(created === undefined ? {} : { created: `r.id BETWEEN ${created.first} AND ${created.last}` }),
    values: `SELECT * FROM temp.values_${entity}`,
  };
}

/**
 * Records the values that differ and the rows that are gone.
 * @param keepsNoValues for followers the rows of an erased person are no more, and the history tells nothing
 * @returns how many rows are gone
 */
function finishRows(db: Connection, each: Table, by: Recording, keepsNoValues: boolean): number {
  const { entity, table, hasTimestamps } = each;
  const changed = `SELECT row_id FROM temp.values_${entity}`;
  if (hasTimestamps)
    db.run(`UPDATE main.${table} SET updated_at = ? WHERE id IN (${changed})`, [by.nowSeconds]);
  const before = `temp.before_${entity}`;
  if (keepsNoValues) {
    noteRemoved(db, entity, before, `r.id IN (${changed})`);
    return 0;
  }
  const isGone = `NOT EXISTS (SELECT 1 FROM main.${table} t WHERE t.id = r.id)`;
  const removed = noteRemoved(db, entity, before, isGone);
  insertChanges(db, entity, `SELECT * FROM temp.values_${entity}`, by);
  if (removed > 0) {
    insertRemovedRows(db, entity, before, by);
    keepRemovedId(db, table, db.value<number>(`SELECT max(row_id) FROM (${removedIds(entity)})`));
  }
  return removed;
}

function countRows(
  db: Connection,
  { entity }: Table,
  removed: number,
  created: IdRange | undefined,
): ChangedRows {
  return {
    created: created === undefined ? 0 : created.last - created.first + 1,
    changed: db.count(`(SELECT DISTINCT row_id FROM temp.values_${entity})`),
    removed,
  };
}

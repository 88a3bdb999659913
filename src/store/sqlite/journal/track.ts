/**
 * Finds what a piece of work has changed by comparing rows with what they were, set by set, and records it.
 * The work itself is plain SQL on the tables; of the rows that it creates it tells the ids.
 */
import type { ChangedEntity, ChangedRows } from '../../ports/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { recordedColumns, TABLES, type Table } from '../schema/tables.ts';
import type { IdRange } from './operations.ts';
import {
  announce,
  type ChangeSet,
  insertChanges,
  insertRemovedRows,
  type Recording,
} from './record-changes.ts';
import { keepRemovedId } from './removed-ids.ts';

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
  if (!keepsNoValues) {
    for (const set of sets) {
      insertChanges(db, set.entity, set.values, by);
      insertRemovedRows(db, set, by);
    }
  }
  for (const [i, each] of tables.entries()) finishRows(db, each, sets[i] as ComparedSet, by.nowSeconds);
  announce(db, keepsNoValues ? sets.map(asRemoved) : sets, by);
  const counts = sets.map((set) => [set.entity, countRows(db, set, created.get(set.entity))] as const);
  for (const { entity } of tables)
    db.exec(`DROP TABLE temp.before_${entity}; DROP TABLE temp.values_${entity}`);
  return Object.fromEntries(
    counts.filter(([, { created: added, changed, removed }]) => added + changed + removed > 0),
  );
}

type ComparedSet = ChangeSet & Required<Pick<ChangeSet, 'removed' | 'values'>>;

function takeImage(db: Connection, { entity, table }: Table, ids: string): void {
  db.exec(`CREATE TEMP TABLE before_${entity} AS SELECT t.* FROM main.${table} t WHERE t.id IN (${ids});
    CREATE UNIQUE INDEX temp.before_${entity}_id ON before_${entity} (id)`);
}

/** Lists the values that differ. */
function compare(db: Connection, each: Table, created: IdRange | undefined): ComparedSet {
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
    removed: {
      from: `temp.before_${entity}`,
      where: `NOT EXISTS (SELECT 1 FROM main.${table} t WHERE t.id = r.id)`,
    },
    values: `SELECT * FROM temp.values_${entity}`,
  };
}

/** For followers the rows of an erased person are no more, and nothing counts them. */
const asRemoved = ({ entity }: ComparedSet): ChangeSet => ({
  entity,
  removed: {
    from: `temp.before_${entity}`,
    where: `r.id IN (SELECT row_id FROM temp.values_${entity})`,
  },
});

function finishRows(db: Connection, each: Table, { removed }: ComparedSet, nowSeconds: number): void {
  const { entity, table, hasTimestamps } = each;
  if (hasTimestamps)
    db.run(`UPDATE main.${table} SET updated_at = ? WHERE id IN (SELECT row_id FROM temp.values_${entity})`, [
      nowSeconds,
    ]);
  const last = db.value(`SELECT max(r.id) FROM ${removed.from} r WHERE ${removed.where}`);
  if (last !== null) keepRemovedId(db, table, last as number);
}

function countRows(
  db: Connection,
  { entity, removed }: ComparedSet,
  created: IdRange | undefined,
): ChangedRows {
  return {
    created: created === undefined ? 0 : created.last - created.first + 1,
    changed: db.count(`(SELECT DISTINCT row_id FROM temp.values_${entity})`),
    removed: db.count(`${removed.from} r WHERE ${removed.where}`),
  };
}

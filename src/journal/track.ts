/** Records the changes that the SQL of an operation makes, by comparing the rows before and after. */

import {
  type ChangedEntity,
  memberSql,
  type OwnedEntity,
  recordedColumns,
  TABLES,
  type Table,
} from '../registry/changes/tables.ts';
import type { StoredRow } from '../registry/stored/stored-data-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import {
  announce,
  type ChangeSet,
  insertChanges,
  insertRemovedRows,
  keepRemovedId,
  REMOVED,
  type Recording,
  removedIds,
  stageRemoved,
} from './change-sets.ts';
import { type ChangedRows, createdRows, type IdRange, type Operation } from './operations.ts';

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
  by: Recording,
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
    const removed = finishRows(db, table, by, keepsNoValues);
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

/** @returns the number of removed rows */
function finishRows(
  db: Connection,
  { entity, table, hasTimestamps }: Table,
  by: Recording,
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
export function addPaidAmounts(db: Connection, table: string, by: Recording): void {
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
 * Adds the present total of the operation's payments on each loan to `temp.paid_amounts`, or subtracts it.
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

/** The rows that an operation has created, changed or removed, for its undo and what prevents it. */
import type { ChangedEntity } from '../../contract/journal/corrections.ts';
import type { OperatedRow } from '../../contract/journal/operations.ts';
import type { Connection } from '../engine/connection.ts';
import { memberSql, type OwnedEntity, recordedColumns, TABLES, type Table } from '../schema/tables.ts';
import { createdRows, type IdRange, type Operation } from './operations.ts';
import { REMOVED } from './record-changes.ts';

/** What an operation has done to the rows of one table. */
export interface OwnRows {
  readonly table: Table;
  /** Undefined when it created none. */
  readonly created: IdRange | undefined;
  /** Fields of the history that it has changed, `removed` among them. */
  readonly fields: readonly string[];
}

/** Rows for which it is asked what builds on them. */
export interface GoingRows extends Omit<OwnRows, 'created'> {
  /** Those that would go: a range, or SQL that follows an id, such as `IN (SELECT …)`. */
  readonly created: IdRange | string | undefined;
}

export const isWithin = (ids: IdRange | string): string =>
  typeof ids === 'string' ? ids : `BETWEEN ${ids.first} AND ${ids.last}`;

/** Condition on changes `c` that an operation has made. */
export const ownChanges = ({ first_change, last_change }: Operation): string =>
  `c.id BETWEEN ${first_change} AND ${last_change}`;

/** SELECT of `row_id` of rows that it has changed or removed. @param condition on the change `c` */
export const changedRows = (operation: Operation, entity: ChangedEntity, condition = 'true'): string =>
  `SELECT c.row_id FROM main.changes c
   WHERE ${ownChanges(operation)} AND c.entity = '${entity}' AND ${condition}`;

/** SELECT of `row_id` of rows that it has removed. */
export const removedRows = (operation: Operation, entity: ChangedEntity): string =>
  changedRows(operation, entity, `c.field = '${REMOVED}'`);

/** The tables that an operation has touched, parents before children. */
export function readOwnRows(db: Connection, operation: Operation): OwnRows[] {
  const created = createdRows(db, operation.id);
  const changed = db.rows<{ entity: ChangedEntity; field: string }>(
    `SELECT DISTINCT entity, field FROM main.changes c WHERE ${ownChanges(operation)}`,
  );
  return TABLES.map((table) => ({
    table,
    created: created.get(table.entity),
    fields: changed.flatMap(({ entity, field }) => (entity === table.entity ? [field] : [])),
  })).filter((own) => own.created !== undefined || own.fields.length > 0);
}

/** SQL of the member to whom a row `t` belongs. */
const memberIdSql = ({ entity, owner }: Table): string =>
  owner === undefined ? (entity === 'members' ? 't.id' : 'NULL') : memberSql(entity as OwnedEntity, 't');

/** What people call that of which a row `t` is part, besides the member. */
const PART_OF: { readonly [entity in ChangedEntity]?: string } = {
  payments: "'loan_reference', (SELECT reference FROM main.loans WHERE id = t.loan_id)",
  savings: "'account_number', (SELECT account_number FROM main.savings_accounts WHERE id = t.account_id)",
};

/** The rows that it has created or changed and that are there, each with the member to whom it belongs. */
export const listOwnRows = (db: Connection, operation: Operation): OperatedRow[] =>
  readOwnRows(db, operation)
    .filter(({ table }) => table.entity !== 'accounts')
    .flatMap(({ table, created = { first: 1, last: 0 } }) => {
      const named = recordedColumns(db, table).map(({ column, field }) => `'${field}', t.${column}`);
      const rows = db.rows<Omit<OperatedRow, 'values'> & { readonly json: string }>(
        `SELECT '${table.entity}' AS entity, t.${table.label} AS row, ${memberIdSql(table)} AS memberId,
           json_object(${[...named, PART_OF[table.entity]].filter(Boolean).join(', ')}) AS json
         FROM main.${table.table} t
         WHERE t.id ${isWithin(created)} OR t.id IN (${changedRows(operation, table.entity)}) ORDER BY t.id`,
      );
      return rows.map(({ json, ...row }) => ({ ...row, values: JSON.parse(json) }));
    });

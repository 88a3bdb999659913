/** The events of undoing an import: first the rows it had added, then those that get former values back. */
import { type EventEntity, fieldBit } from '../../../domain/events.ts';
import type { Connection } from '../engine/connection.ts';
import { appendEvents } from '../events/append.ts';
import { TARGETS } from '../schema/targets.ts';
import { ANNOUNCED } from '../staging/import-events.ts';
import type { ImportRow } from './rows.ts';

/** Appends them in the transaction of the undo, while everything is still as the import has left it. */
export function appendUndoEvents(db: Connection, row: ImportRow, nowSeconds: number): void {
  const announced = ANNOUNCED[row.kind];
  const append = (type: Parameters<typeof appendEvents>[1], rows: string) =>
    appendEvents(db, type, rows, nowSeconds, `undo:${row.id}`);
  const own: OwnRows = {
    rows: `t.id BETWEEN ${row.first_row} AND ${row.last_row}`,
    changes: `c.id BETWEEN ${row.first_change} AND ${row.last_change}`,
  };
  if ('entity' in announced) {
    const { table } = TARGETS[row.kind];
    const cooperativeId = announced.entity === 'cooperative' ? 't.id' : 't.cooperative_id';
    const from = { table, cooperativeId };
    append([announced.entity, 'deleted'], deletedRows(from, own));
    append([announced.entity, 'updated'], restoredRows(from, own, fieldsOf(db, announced.entity, own)));
    return;
  }
  const touched = announced.isByAccount ? touchedByTransactions(own) : touchedByDeliveries(own);
  append(
    ['member', 'updated'],
    `SELECT member_id AS row_id, cooperative_id, ${fieldBit('member', announced.memberField)} AS fields
     FROM (${touched}) GROUP BY member_id ORDER BY member_id`,
  );
}

/** Conditions on rows `t` that the import added and on changes `c` that it made. */
interface OwnRows {
  readonly rows: string;
  readonly changes: string;
}

interface From {
  readonly table: string;
  readonly cooperativeId: string;
}

const deletedRows = ({ table, cooperativeId }: From, own: OwnRows): string =>
  `SELECT t.id AS row_id, ${cooperativeId} AS cooperative_id, 0 AS fields FROM main.${table} t
   WHERE ${own.rows} ORDER BY t.id`;

const restoredRows = ({ table, cooperativeId }: From, own: OwnRows, fields: string): string =>
  `SELECT t.id AS row_id, ${cooperativeId} AS cooperative_id, sum(${fields}) AS fields
   FROM main.changes c CROSS JOIN main.${table} t ON t.id = c.row_id WHERE ${own.changes}
   GROUP BY t.id ORDER BY t.id`;

/** The bit of a change's field. */
function fieldsOf(db: Connection, entity: EventEntity, own: OwnRows): string {
  const sql = `SELECT DISTINCT c.field FROM main.changes c WHERE ${own.changes}`;
  const fields = db.raw.prepare(sql).pluck().all() as string[];
  const cases = fields.map((field) => `WHEN '${field}' THEN ${fieldBit(entity, field)}`);
  return cases.length === 0 ? '0' : `CASE c.field ${cases.join(' ')} END`;
}

const touchedByDeliveries = ({ rows, changes }: OwnRows): string =>
  `SELECT t.member_id, t.cooperative_id FROM main.production_entries t WHERE ${rows}
   UNION ALL SELECT t.member_id, t.cooperative_id FROM main.changes c
     CROSS JOIN main.production_entries t ON t.id = c.row_id WHERE ${changes}`;

const touchedByTransactions = ({ rows, changes }: OwnRows): string =>
  `SELECT a.member_id, a.cooperative_id FROM main.savings_transactions t
     CROSS JOIN main.savings_accounts a ON a.id = t.account_id WHERE ${rows}
   UNION ALL SELECT a.member_id, a.cooperative_id FROM main.changes c
     CROSS JOIN main.savings_transactions t ON t.id = c.row_id
     CROSS JOIN main.savings_accounts a ON a.id = t.account_id WHERE ${changes}`;

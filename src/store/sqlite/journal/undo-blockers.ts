/**
 * What builds on an operation, so that it cannot be undone: rows that were changed since, rows that refer to
 * one it created or put elsewhere, owners that were put elsewhere since, rows that took what would be put
 * back, and rows of persons who were erased, as the sums of their cooperatives stay. What was itself undone
 * no longer counts.
 */
import { MAX_MONEY_MINOR } from '../../../domain/values/decimal.ts';
import type { ChangedEntity } from '../../contract/journal/corrections.ts';
import type { Actor } from '../../contract/journal/history.ts';
import type { UndoBlocker } from '../../contract/journal/operations.ts';
import type { Connection } from '../engine/connection.ts';
import { CHANGED_OR_ERASED, ERASED_BY, ERASED_FIRST } from '../identity/erased-rows.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import {
  joinOwnedSql,
  memberOfOwnerSql,
  type OwnedEntity,
  recordedColumns,
  referencesOf,
  TABLES,
} from '../schema/tables.ts';
import { identityBlockers } from './identity-blockers.ts';
import { rowLabel } from './labels.ts';
import { type IdRange, isImport, type Operation, REVERSED_ACTORS, replacementOf } from './operations.ts';
import { openOrigins } from './origin.ts';
import { changedRows, type GoingRows, isWithin, ownChanges, removedRows } from './own-rows.ts';
import { REMOVED } from './record-changes.ts';

/** SELECTs of `kind, id, reason, actor`; without an actor it is that of the row. */
type Blockers = readonly string[];

/** Condition on the id of a row: the operation has created, changed or removed it. */
const isOwn = (operation: Operation, { table, created, fields }: GoingRows, id: string): string =>
  [
    ...(created === undefined ? [] : [`${id} ${isWithin(created)}`]),
    ...(fields.length === 0 ? [] : [`${id} IN (${changedRows(operation, table.entity)})`]),
  ].join(' OR ');

/** The plus keeps SQLite from reading all changes of the kind by their index. */
const laterChanges = ({ last_change }: Operation, entity: ChangedEntity, c = 'c'): string =>
  `${c}.id > ${last_change} AND +${c}.entity = '${entity}' AND ${c}.actor NOT IN (${REVERSED_ACTORS})`;

const changedSince = (operation: Operation, own: GoingRows): string =>
  `SELECT c.entity AS kind, c.row_id AS id, ${CHANGED_OR_ERASED} AS reason, c.actor FROM main.changes c
   WHERE ${laterChanges(operation, own.table.entity)} AND (${isOwn(operation, own, 'c.row_id')})`;

/** The newer version of the file may still have its rows, as they are. */
const replacedSince = ({ id, kind }: Operation): string =>
  `SELECT '${kind}' AS kind, 0 AS id, 'replaced' AS reason, 'import:' || operation_id AS actor
   FROM (${replacementOf(String(id))})`;

/** Rows that refer to one that would go, now or once a later change or removal is undone. */
function referring(operation: Operation, own: readonly GoingRows[]): Blockers {
  return own.flatMap(({ table: parent, created }) => {
    if (created === undefined) return [];
    return TABLES.flatMap((table) =>
      referencesOf(table).flatMap(({ column, entity }) => {
        if (entity !== parent.entity) return [];
        const mine = own.find((each) => each.table.entity === table.entity);
        const goesBack = changedRows(operation, table.entity, `c.field = '${column}'`);
        const others = (id: string) =>
          [
            ...(mine?.created === undefined ? [] : [`AND ${id} NOT ${isWithin(mine.created)}`]),
            ...(mine?.fields.includes(column) ? [`AND ${id} NOT IN (${goesBack})`] : []),
          ].join(' ');
        return [
          `SELECT '${table.entity}' AS kind, t.id, 'refers' AS reason, NULL AS actor
           FROM main.${table.table} t WHERE t.${column} ${isWithin(created)} ${others('t.id')}`,
          `SELECT '${table.entity}' AS kind, c.row_id AS id, 'refers' AS reason, c.actor
           FROM main.changes c WHERE ${laterChanges(operation, table.entity)} AND c.field = '${column}'
             AND c.old ${isWithin(created)} ${others('c.row_id')}`,
        ];
      }),
    );
  });
}

/** Rows that came since to one that would be in another cooperative again. */
function leftBehind(operation: Operation, own: readonly GoingRows[]): Blockers {
  return own.flatMap(({ table: parent, fields }) => {
    if (!fields.includes('cooperative_id')) return [];
    const moved = `${changedRows(operation, parent.entity, "c.field = 'cooperative_id'")}
      AND c.row_id NOT IN (${removedRows(operation, parent.entity)})`;
    return TABLES.flatMap(({ entity, table, owner }) =>
      owner?.entity !== parent.entity
        ? []
        : [
            `SELECT '${entity}' AS kind, t.id, 'refers' AS reason, NULL AS actor FROM main.${table} t
             WHERE t.${owner.column} IN (${moved}) AND t.id NOT IN (${changedRows(operation, entity)})`,
          ],
    );
  });
}

/** Owners of rows that would be put back, which are in another cooperative since, or gone. */
function ownersMoved(operation: Operation, own: readonly GoingRows[]): Blockers {
  return own.flatMap(({ table: { entity, owner }, fields }) =>
    owner === undefined || !fields.includes(REMOVED)
      ? []
      : [
          `SELECT m.entity AS kind, m.row_id AS id, 'changed' AS reason, m.actor
           FROM main.changes c CROSS JOIN main.changes m
             ON m.entity = '${owner.entity}' AND m.row_id = c.old AND m.field = 'cooperative_id'
           WHERE ${ownChanges(operation)} AND c.entity = '${entity}' AND c.field = '${owner.column}'
             AND m.id > ${operation.last_change} AND m.actor NOT IN (${REVERSED_ACTORS})`,
        ],
  );
}

/** Other rows that have what would be put back. */
function taken(db: Connection, operation: Operation, own: readonly GoingRows[]): Blockers {
  return own.flatMap((each) => {
    const { entity, table, unique } = each.table;
    const fieldOf = new Map(recordedColumns(db, each.table).map(({ column, field }) => [column, field]));
    const isRemoved = each.fields.includes(REMOVED);
    const before = (column: string): string =>
      `coalesce((SELECT c.old FROM main.changes c WHERE ${ownChanges(operation)} AND c.entity = '${entity}'
        AND c.row_id = r.row_id AND c.field = '${fieldOf.get(column)}'), t.${column})`;
    return unique.flatMap((columns) => {
      const isChanged = columns.some((column) => each.fields.includes(fieldOf.get(column) ?? ''));
      if (!isChanged && !isRemoved) return [];
      const same = columns.map((column) => `o.${column} = ${before(column)}`);
      return [
        `SELECT '${entity}' AS kind, o.id, 'taken' AS reason, NULL AS actor
         FROM (SELECT DISTINCT row_id FROM (${changedRows(operation, entity)})) r
         LEFT JOIN main.${table} t ON t.id = r.row_id
         CROSS JOIN main.${table} o ON ${same.join(' AND ')}
         WHERE NOT (${isOwn(operation, each, 'o.id')})`,
      ];
    });
  });
}

/** Entries of members who were erased since; few are, so it costs nothing for others. */
function ofErased(operation: Operation, own: readonly GoingRows[]): Blockers {
  return own.flatMap((each) => {
    const { entity, owner } = each.table;
    if (owner === undefined) return [];
    return [
      `SELECT '${entity}' AS kind, e.id, 'erased' AS reason, ${ERASED_BY} AS actor
       FROM main.members m INDEXED BY members_status ${joinOwnedSql(entity as OwnedEntity)}
       WHERE m.status = '${ERASED_STATUS}' AND (${isOwn(operation, each, 'e.id')})`,
      ...(each.fields.includes(REMOVED)
        ? [
            `SELECT '${entity}' AS kind, c.row_id AS id, 'erased' AS reason, ${ERASED_BY} AS actor
             FROM main.changes c
             CROSS JOIN main.members m ON m.id = ${memberOfOwnerSql(owner.entity, 'c.old')}
             WHERE ${ownChanges(operation)} AND c.entity = '${entity}' AND c.field = '${owner.column}'
               AND m.status = '${ERASED_STATUS}'`,
          ]
        : []),
    ];
  });
}

/**
 * A payment that the operation made void or removed would count again, and the opening balance of its loan,
 * which was set since, may include it.
 */
const countedSince = (operation: Operation): string =>
  `SELECT 'loans' AS kind, l.row_id AS id, 'changed' AS reason, l.actor
   FROM main.changes c CROSS JOIN main.payments t ON t.id = c.row_id
   CROSS JOIN main.changes l ON l.entity = 'loans' AND l.row_id = t.loan_id
   WHERE ${ownChanges(operation)} AND c.entity = 'payments' AND c.field = 'status' AND l.field = 'paid_until'
     AND l.id > ${operation.last_change} AND l.actor NOT IN (${REVERSED_ACTORS})
   UNION ALL SELECT 'loans', l.row_id, 'changed', l.actor
   FROM main.changes c CROSS JOIN main.changes l ON l.entity = 'loans' AND l.row_id = c.old
   WHERE ${ownChanges(operation)} AND c.entity = 'payments' AND c.field = 'loan_id' AND l.field = 'paid_until'
     AND l.id > ${operation.last_change} AND l.actor NOT IN (${REVERSED_ACTORS})`;

/** Payments that count again would take a loan beyond the largest amount. */
function overpaid(operation: Operation, created: IdRange | string = { first: 1, last: 0 }): string {
  const before = (field: string, column: string) =>
    `coalesce((SELECT c.old FROM main.changes c WHERE ${ownChanges(operation)} AND c.entity = 'payments'
      AND c.row_id = t.id AND c.field = '${field}'), t.${column})`;
  const countedBefore = `t.id NOT ${isWithin(created)} AND ${before('status', 'status')} = 'recorded'`;
  return `SELECT 'loans' AS kind, l.id, 'overpaid' AS reason, NULL AS actor
    FROM (SELECT t.loan_id, sum(iif(${countedBefore}, ${before('amount', 'amount_minor')}, 0)
        - iif(t.status = 'recorded', t.amount_minor, 0)) AS delta
      FROM main.payments t
      WHERE t.id IN (${changedRows(operation, 'payments')}) OR t.id ${isWithin(created)} GROUP BY 1) d
    CROSS JOIN main.loans l ON l.id = d.loan_id
    WHERE d.delta > 0 AND l.paid_amount_minor + d.delta > ${MAX_MONEY_MINOR}`;
}

function blockersOf(db: Connection, operation: Operation, own: readonly GoingRows[]): Blockers {
  const payments = own.find(({ table, fields }) => table.entity === 'payments' && fields.length > 0);
  return [
    ...(isImport(operation) ? [replacedSince(operation)] : []),
    ...own.map((each) => changedSince(operation, each)),
    ...referring(operation, own),
    ...leftBehind(operation, own),
    ...ownersMoved(operation, own),
    ...taken(db, operation, own),
    ...ofErased(operation, own),
    ...identityBlockers(operation, own.find(({ table }) => table.entity === 'members')?.created),
    ...(payments === undefined ? [] : [countedSince(operation), overpaid(operation, payments.created)]),
  ];
}

function foundSql(db: Connection, operation: Operation, own: readonly GoingRows[]): string | undefined {
  const all = blockersOf(db, operation, own);
  return all.length === 0
    ? undefined
    : `SELECT DISTINCT kind, id, reason, actor FROM (${all.join('\nUNION ALL ')})`;
}

interface Found {
  readonly kind: ChangedEntity;
  readonly id: number;
  readonly reason: UndoBlocker['reason'];
  readonly actor: Actor | null;
}

/**
 * @param own what the operation has touched
 * @param listed how many are listed at most
 * @returns each row once for each reason and actor
 */
export function findBlockers(
  db: Connection,
  operation: Operation,
  own: readonly GoingRows[],
  listed: number,
): { readonly count: number; readonly blockers: UndoBlocker[] } {
  const found = foundSql(db, operation, own);
  if (found === undefined) return { count: 0, blockers: [] };
  const count = db.count(`(${found})`);
  if (count === 0) return { count, blockers: [] };
  const originOf = openOrigins(db);
  const rows = db.rows<Found>(`${found} ${ERASED_FIRST} LIMIT ?`, [listed]);
  return {
    count,
    blockers: rows.map(({ kind, id, reason, actor }) => ({
      kind,
      row: rowLabel(db, kind, id),
      reason,
      actor: actor ?? originOf(kind, id)?.actor ?? null,
    })),
  };
}

/** Why rows build on an operation, and who has written them: of so many as a writer may wait for. */
export function findActors(db: Connection, operation: Operation, own: readonly GoingRows[]) {
  const found = foundSql(db, operation, own);
  const originOf = openOrigins(db);
  return (found === undefined ? [] : db.rows<Found>(`${found} LIMIT 50000`)).map(
    ({ kind, id, reason, actor }) => ({ reason, actor: actor ?? originOf(kind, id)?.actor ?? null }),
  );
}

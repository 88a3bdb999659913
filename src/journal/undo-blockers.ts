/** Finds rows that prevent the undo of an operation. Changes that were undone do not count. */

import { REVERSED_ACTORS } from '../registry/changes/record-changes.ts';
import { labelSql, openOrigins } from '../registry/changes/row-labels.ts';
import {
  type ChangedEntity,
  joinOwnedSql,
  memberOfOwnerSql,
  type OwnedEntity,
  recordedColumns,
  referencesOf,
  TABLES,
} from '../registry/changes/tables.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import { ERASED_FIELD } from '../registry/stored/erasures.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS } from '../registry/stored/former-ids.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import { MAX_MONEY_MINOR } from '../values/decimal.ts';
import { changedRows, type OperatedTable, operationChanges, REMOVED, removedRows } from './change-sets.ts';

import { isImport, type Operation, replacementOf } from './operations.ts';

const CHANGED_OR_ERASED = `iif(c.field = '${ERASED_FIELD}', 'erased', 'changed')`;

/** SQL of the actor that erased the member `m`: a correction. */
const ERASED_BY = `(SELECT h.actor FROM main.changes h
  WHERE h.entity = 'members' AND h.row_id = m.id AND h.field = '${ERASED_FIELD}')`;

/** A row that builds on an operation and prevents its undo. */
export interface UndoBlocker {
  readonly kind: ImportKind | ChangedEntity;
  /** Label of the row: never a national ID. */
  readonly row: string;
  /**
   * `changed`: the row has since been changed, or its owner has since been moved or removed. Also if a
   * former national ID leads to a current one that no membership would have after the undo.
   * `refers`: the row belongs to a row that the operation created or moved. `taken`: the row has a unique
   * value that the undo would restore in another row. `erased`: the row is a membership or an entry of a
   * person who has since been erased. `replaced`: a newer version of the import's file was imported.
   * `overpaid`: with the restored payments, the paid amount of the loan would be too large to be stored.
   */
  readonly reason: 'changed' | 'refers' | 'taken' | 'erased' | 'overpaid' | 'replaced';
  /** Actor that changed or created the row; null if the row is older than the history. */
  readonly actor: Actor | null;
}

// Functions that return SELECTs of `kind, id, reason, actor`. A null `actor` stands for the row's creator.

/** Returns the SQL condition that a change is later than the operation, and was not undone. */
const isSince = ({ lastChange }: Operation, change: string): string =>
  `${change}.id > ${lastChange} AND ${change}.actor NOT IN (${REVERSED_ACTORS})`;

/** Returns `isSince` for one entity. Without the plus, SQLite would read all changes of the entity. */
const isSinceIn = (operation: Operation, entity: ChangedEntity): string =>
  `${isSince(operation, 'c')} AND +c.entity = '${entity}'`;

/** Returns the SQL condition that the operation created, changed or removed the row with this id. */
const isOperated = (operation: Operation, { table, created, fields }: OperatedTable, id: string): string =>
  [
    ...(created === undefined ? [] : [`${id} ${created}`]),
    ...(fields.length === 0 ? [] : [`${id} IN (${changedRows(operation, table.entity)})`]),
  ].join(' OR ');

/**
 * Returns SELECTs of later changes that conflict with a national ID that the undo would restore, or with a
 * redirect that the undo would put back in force.
 * @param members undefined if the operation did not touch members
 */
function identityBlockers(operation: Operation, members: OperatedTable | undefined): string[] {
  const created = members?.created;
  const replaced = `main.${REPLACED_NUMBERS.table}`;
  const restored = `${operationChanges(operation)} AND c.entity = 'members' AND c.field = 'identity_card'`;
  const changed = changedRows(operation, 'members');
  const erased = `SELECT 'members' AS kind, c.row_id AS id, 'erased' AS reason,
      (SELECT 'correction:' || min(i.id) FROM main.operations i
       WHERE i.id > ${operation.id} AND i.kind = 'persons_erase') AS actor
    FROM main.changes c WHERE ${restored} AND c.old IS NULL`;
  const numberReplaced = `SELECT 'members' AS kind, o.id, 'taken' AS reason,
      'correction:' || r.correction_id AS actor
    FROM main.changes c CROSS JOIN ${replaced} r
      ON r.old = c.old AND r.ended_by IS NULL AND r.correction_id <> ${operation.id}
    CROSS JOIN main.members o ON o.identity_card = r.new WHERE ${restored}`;
  // A later merge has redirected a member to a member that the undo would remove.
  const mergedInto = `SELECT 'members' AS kind, r.into_id AS id, 'changed' AS reason,
      'correction:' || r.correction_id AS actor
    FROM main.${MERGED_MEMBERS.table} r WHERE r.into_id ${created} AND r.ended_by IS NULL`;
  // A former number leads to a current number that no membership would have after the undo. Reports
  // the change that last took the current number from a membership; if no change did, the correction that
  // replaced the former number. The query runs only if the operation set numbers, because it reads all
  // former numbers.
  const renumbered = changedRows(operation, 'members', "c.field = 'identity_card'");
  const gives = (id: string) =>
    `(${id} IN (${renumbered})${created === undefined ? '' : ` OR ${id} ${created}`})`;
  const leadsHere = `SELECT 'members' AS kind, o.id, 'changed' AS reason,
      coalesce((SELECT g.actor FROM main.changes g
        WHERE g.id > (SELECT i.last_change FROM main.operations i WHERE i.id = r.correction_id)
        AND g.id NOT BETWEEN ${operation.firstChange} AND ${operation.lastChange}
        AND g.actor NOT IN (${REVERSED_ACTORS})
        AND g.entity = 'members' AND g.field = 'identity_card' AND g.old = r.new
        ORDER BY g.id DESC LIMIT 1), 'correction:' || r.correction_id) AS actor
    FROM ${replaced} r CROSS JOIN main.members o ON o.identity_card = r.new
    WHERE r.ended_by IS NULL AND r.correction_id <> ${operation.id} AND ${gives('o.id')}
      AND NOT EXISTS (SELECT 1 FROM main.members h
        WHERE h.identity_card = r.new AND NOT ${gives('h.id')})`;
  const givesNumbers = created !== undefined || members?.fields.includes('identity_card') === true;
  const ofAll = [
    erased,
    numberReplaced,
    ...(givesNumbers ? [leadsHere] : []),
    ...(created === undefined ? [] : [mergedInto]),
  ];
  // An import, or a row entered by hand, changes the number in one membership at a time. The person may have
  // had the new number in another cooperative before, so the checks below do not apply.
  if (isImport(operation) || operation.kind === 'row_enter') return ofAll;
  // Id of the only membership that a `nid replace` changed. Null if the `nid replace` changed all memberships
  // of the person, and for any other correction.
  const onlyMember = `SELECT json_extract(o.options, '$.member') FROM main.operations o
    WHERE o.id = ${operation.id} AND o.kind = 'nid_replace'`;
  // Another membership has a number that the undo would restore. If the correction removed the member, or
  // changed only one membership, the other membership may belong to the same person. In that case, the
  // other membership blocks the undo only if a later change has taken this number from a membership.
  const heldByAnother = `SELECT 'members' AS kind, o.id, 'taken' AS reason, NULL AS actor
    FROM main.changes c CROSS JOIN main.members o ON o.identity_card = c.old
    WHERE ${restored} AND o.id NOT IN (${changed}) AND (c.new IS NOT NULL AND (${onlyMember}) IS NULL
      OR EXISTS (SELECT 1 FROM main.changes g WHERE ${isSince(operation, 'g')}
        AND g.entity = 'members' AND g.field = 'identity_card' AND g.old = c.old AND g.new IS NOT NULL))`;
  // The undo would put the redirect of a former number back in force, but the former number now belongs or
  // leads to another person.
  const leadsElsewhere = `SELECT 'members' AS kind, o.id, 'taken' AS reason, q.actor
    FROM ${replaced} r CROSS JOIN (SELECT old, old AS number, NULL AS actor FROM ${replaced}
      UNION SELECT old, new, 'correction:' || correction_id FROM ${replaced} WHERE ended_by IS NULL) q
      ON q.old = r.old
    CROSS JOIN main.members o ON o.identity_card = q.number
    WHERE r.ended_by = ${operation.id} AND q.actor IS NOT 'correction:${operation.id}'
      AND o.id NOT IN (${changed})`;
  // The undo would put a redirect back in force, but a later change took the target number from a membership.
  const leadsToNobody = `SELECT 'members' AS kind, c.row_id AS id, 'changed' AS reason, c.actor
    FROM ${replaced} r CROSS JOIN main.changes c
      ON c.entity = 'members' AND c.field = 'identity_card' AND c.old = r.new
    WHERE r.ended_by = ${operation.id} AND ${isSince(operation, 'c')}`;
  // A later correction ended a redirect that this operation created.
  const redirected = [REPLACED_NUMBERS, MERGED_MEMBERS].map(
    ({ table }) => `SELECT 'members' AS kind, (SELECT min(row_id) FROM (${changed})) AS id,
        'changed' AS reason, 'correction:' || ended_by AS actor
      FROM main.${table} WHERE correction_id = ${operation.id} AND ended_by <> ${operation.id}`,
  );
  return [...ofAll, heldByAnother, leadsElsewhere, leadsToNobody, ...redirected];
}

const changedSince = (operation: Operation, operated: OperatedTable): string =>
  `SELECT c.entity AS kind, c.row_id AS id, ${CHANGED_OR_ERASED} AS reason, c.actor FROM main.changes c
   WHERE ${isSinceIn(operation, operated.table.entity)} AND (${isOperated(operation, operated, 'c.row_id')})`;

const replacedSince = ({ id, kind }: Operation): string =>
  `SELECT '${kind}' AS kind, 0 AS id, 'replaced' AS reason, 'import:' || operation_id AS actor
   FROM (${replacementOf(String(id))})`;

/**
 * Returns SELECTs of rows that refer to a created row of `parent`, which the undo would remove. References
 * that later changes have replaced count too, because an undo of these changes would restore the references.
 * @param all every table of the operation; references that the undo itself removes or restores do not count
 */
function referring(operation: Operation, parent: OperatedTable, all: readonly OperatedTable[]): string[] {
  const { created } = parent;
  if (created === undefined) return [];
  return TABLES.flatMap((table) =>
    referencesOf(table).flatMap(({ column, entity }) => {
      if (entity !== parent.table.entity) return [];
      const child = all.find((operated) => operated.table.entity === table.entity);
      const restored = changedRows(operation, table.entity, `c.field = '${column}'`);
      const isUnrelated = (id: string) =>
        (child?.created === undefined ? '' : ` AND ${id} NOT ${child.created}`) +
        (child?.fields.includes(column) ? ` AND ${id} NOT IN (${restored})` : '');
      return [
        `SELECT '${table.entity}' AS kind, t.id, 'refers' AS reason, NULL AS actor
         FROM main.${table.table} t WHERE t.${column} ${created}${isUnrelated('t.id')}`,
        `SELECT '${table.entity}' AS kind, c.row_id AS id, 'refers' AS reason, c.actor
         FROM main.changes c WHERE ${isSinceIn(operation, table.entity)} AND c.field = '${column}'
           AND c.old ${created}${isUnrelated('c.row_id')}`,
      ];
    }),
  );
}

/** Returns SELECTs of rows that stay behind when the undo moves their owners to another cooperative. */
function leftBehind(operation: Operation, { table: parent, fields }: OperatedTable): string[] {
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
}

/** Returns SELECTs of owners that have since been moved or removed and whose rows the undo would restore. */
function ownersMoved(operation: Operation, { table: { entity, owner }, fields }: OperatedTable): string[] {
  if (owner === undefined || !fields.includes(REMOVED)) return [];
  return [
    `SELECT m.entity AS kind, m.row_id AS id, 'changed' AS reason, m.actor
     FROM main.changes c CROSS JOIN main.changes m
       ON m.entity = '${owner.entity}' AND m.row_id = c.old AND m.field = 'cooperative_id'
     WHERE ${operationChanges(operation)} AND c.entity = '${entity}' AND c.field = '${owner.column}'
       AND ${isSince(operation, 'm')}`,
  ];
}

/** Returns SQL of a field's value after the undo. @param now SQL of the present value */
const restoredValue = (operation: Operation, entity: ChangedEntity, id: string, field: string, now: string) =>
  `coalesce((SELECT c.old FROM main.changes c WHERE ${operationChanges(operation)} AND c.entity = '${entity}'
    AND c.row_id = ${id} AND c.field = '${field}'), ${now})`;

/** Returns SELECTs of rows that have unique values which the undo would restore in other rows. */
function taken(db: Connection, operation: Operation, operated: OperatedTable): string[] {
  const { entity, table, unique } = operated.table;
  const fieldOf = Object.fromEntries(
    recordedColumns(db, operated.table).map(({ column, field }) => [column, field]),
  );
  return unique.flatMap((columns) => {
    const isRestored = [REMOVED, ...columns.map((column) => fieldOf[column])].some(
      (field) => field !== undefined && operated.fields.includes(field),
    );
    if (!isRestored) return [];
    const same = columns.map(
      (column) =>
        `o.${column} = ${restoredValue(operation, entity, 'r.row_id', `${fieldOf[column]}`, `t.${column}`)}`,
    );
    return [
      `SELECT '${entity}' AS kind, o.id, 'taken' AS reason, NULL AS actor
       FROM (SELECT DISTINCT row_id FROM (${changedRows(operation, entity)})) r
       LEFT JOIN main.${table} t ON t.id = r.row_id
       CROSS JOIN main.${table} o ON ${same.join(' AND ')}
       WHERE NOT (${isOperated(operation, operated, 'o.id')})`,
    ];
  });
}

/** Returns SELECTs of entries whose members have since been erased. */
function ofErased(operation: Operation, operated: OperatedTable): string[] {
  const { entity, owner } = operated.table;
  if (owner === undefined) return [];
  const removed = `SELECT '${entity}' AS kind, c.row_id AS id, 'erased' AS reason, ${ERASED_BY} AS actor
    FROM main.changes c CROSS JOIN main.members m ON m.id = ${memberOfOwnerSql(owner.entity, 'c.old')}
    WHERE ${operationChanges(operation)} AND c.entity = '${entity}' AND c.field = '${owner.column}'
      AND m.status = '${ERASED_STATUS}'`;
  return [
    `SELECT '${entity}' AS kind, e.id, 'erased' AS reason, ${ERASED_BY} AS actor
     FROM main.members m INDEXED BY members_status ${joinOwnedSql(entity as OwnedEntity)}
     WHERE m.status = '${ERASED_STATUS}' AND (${isOperated(operation, operated, 'e.id')})`,
    ...(operated.fields.includes(REMOVED) ? [removed] : []),
  ];
}

/** Returns SELECTs of loans that do not allow a payment that the undo would make valid again. */
function paymentBlockers(
  operation: Operation,
  { table, created = 'IN ()', fields }: OperatedTable,
): string[] {
  if (table.entity !== 'payments' || fields.length === 0) return [];
  // The opening balance of the loan has since been set, and may include the payment.
  const countedSince = (field: string, payment: string, loan: string) =>
    `SELECT 'loans' AS kind, l.row_id AS id, 'changed' AS reason, l.actor FROM main.changes c ${payment}
     CROSS JOIN main.changes l ON l.entity = 'loans' AND l.row_id = ${loan}
     WHERE ${operationChanges(operation)} AND c.entity = 'payments' AND c.field = '${field}'
       AND l.field = 'paid_until' AND ${isSince(operation, 'l')}`;
  const before = (field: string, column: string) =>
    restoredValue(operation, 'payments', 't.id', field, `t.${column}`);
  const countedBefore = `t.id NOT ${created} AND ${before('status', 'status')} = 'recorded'`;
  return [
    countedSince('status', 'CROSS JOIN main.payments t ON t.id = c.row_id', 't.loan_id'),
    countedSince('loan_id', '', 'c.old'),
    `SELECT 'loans' AS kind, l.id, 'overpaid' AS reason, NULL AS actor
     FROM (SELECT t.loan_id, sum(iif(${countedBefore}, ${before('amount', 'amount_minor')}, 0)
         - iif(t.status = 'recorded', t.amount_minor, 0)) AS delta
       FROM main.payments t
       WHERE t.id IN (${changedRows(operation, 'payments')}) OR t.id ${created} GROUP BY 1) d
     CROSS JOIN main.loans l ON l.id = d.loan_id
     WHERE d.delta > 0 AND l.paid_amount_minor + d.delta > ${MAX_MONEY_MINOR}`,
  ];
}

function blockersSql(db: Connection, operation: Operation, tables: readonly OperatedTable[]): string {
  const members = tables.find(({ table }) => table.entity === 'members');
  const all = [
    ...(isImport(operation) ? [replacedSince(operation)] : []),
    ...tables.map((operated) => changedSince(operation, operated)),
    ...tables.flatMap((operated) => referring(operation, operated, tables)),
    ...tables.flatMap((operated) => leftBehind(operation, operated)),
    ...tables.flatMap((operated) => ownersMoved(operation, operated)),
    ...tables.flatMap((operated) => taken(db, operation, operated)),
    ...tables.flatMap((operated) => ofErased(operation, operated)),
    ...identityBlockers(operation, members),
    ...tables.flatMap((operated) => paymentBlockers(operation, operated)),
  ];
  return `SELECT DISTINCT kind, id, reason, actor FROM (${all.join('\nUNION ALL ')})`;
}

type BlockerRow = Omit<UndoBlocker, 'row'> & { readonly kind: ChangedEntity; readonly id: number };

/** @param limit SQL after the SELECT: ORDER BY and LIMIT */
function readBlockers(db: Connection, sql: string, limit: string): BlockerRow[] {
  const originOf = openOrigins(db);
  return db.rows<BlockerRow>(`${sql} ${limit}`).map((row) => ({
    ...row,
    actor: row.actor ?? originOf(row.kind, row.id)?.actor ?? null,
  }));
}

export function findBlockers(
  db: Connection,
  operation: Operation,
  tables: readonly OperatedTable[],
  listed: number,
): { readonly count: number; readonly blockers: UndoBlocker[] } {
  const sql = blockersSql(db, operation, tables);
  const count = db.count(`(${sql})`);
  if (count === 0) return { count, blockers: [] };
  // If one of the reasons is `erased`, no other reason matters.
  const rows = readBlockers(db, sql, `ORDER BY reason <> 'erased' LIMIT ${listed}`);
  const blockers = rows.map(({ kind, id, reason, actor }) => {
    const row = db.value<string>(`SELECT ${labelSql(kind, String(id))}`);
    return { kind, row, reason, actor };
  });
  return { count, blockers };
}

/** Finds the reasons and actors of blockers, up to a limit, because other writers wait meanwhile. */
export const findActors = (
  db: Connection,
  operation: Operation,
  tables: readonly OperatedTable[],
): readonly Pick<UndoBlocker, 'reason' | 'actor'>[] =>
  readBlockers(db, blockersSql(db, operation, tables), 'LIMIT 50000');

/**
 * Finds rows that prevent the undo of an operation: rows changed since, rows that refer to one it created or
 * moved, owners moved since, rows that took unique values which would be restored, and rows of persons erased
 * since, because the totals of their cooperatives stay. Changes that were undone themselves do not count.
 */

import type { ChangedEntity } from '../registry/changes/correction-kinds.ts';
import { openOrigins, rowLabel } from '../registry/changes/labels.ts';
import { REMOVED, REVERSED_ACTORS } from '../registry/changes/record-changes.ts';
import {
  joinOwnedSql,
  memberOfOwnerSql,
  type OwnedEntity,
  recordedColumns,
  referencesOf,
  TABLES,
} from '../registry/changes/tables.ts';
import { CHANGED_OR_ERASED, ERASED_BY, ERASED_FIRST } from '../registry/stored/erasures.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS } from '../registry/stored/former-identifiers.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import { MAX_MONEY_MINOR } from '../values/decimal.ts';
import { type IdRange, isImport, type Operation, replacementOf, type UndoBlocker } from './operations.ts';
import { changedRows, type GoingRows, isWithin, ownChanges, removedRows } from './track.ts';

// Blockers from the national IDs of members

/**
 * @param created members that would be removed
 * @returns SELECTs of `kind, id, reason, actor`
 */
const identityBlockers = (operation: Operation, created: IdRange | string | undefined): string[] => [
  ofErasedNumber(operation),
  numberReplaced(operation),
  ...(created === undefined ? [] : [mergedInto(created)]),
  // A file or a row entered by hand gives a number to one membership only; the person may have held the other
  // one elsewhere before.
  ...(isImport(operation) || operation.kind === 'row_enter'
    ? []
    : [
        numberTaken(operation),
        leadsElsewhere(operation),
        leadsToNobody(operation),
        ...redirected(operation),
      ]),
];

/** A national ID to restore belonged to a person who was erased since. */
const ofErasedNumber = (operation: Operation): string =>
  `SELECT 'members' AS kind, c.row_id AS id, 'erased' AS reason, (SELECT 'correction:' || min(i.id)
     FROM main.operations i WHERE i.id > ${operation.id} AND i.kind = 'persons_erase') AS actor
   FROM main.changes c WHERE ${ownChanges(operation)} AND c.entity = 'members'
     AND c.field = 'identity_card' AND c.old IS NULL`;

/** A national ID to restore redirects to a person since. */
const numberReplaced = (operation: Operation): string =>
  `SELECT 'members' AS kind, o.id, 'taken' AS reason, 'correction:' || r.correction_id AS actor
   FROM main.changes c CROSS JOIN main.${REPLACED_NUMBERS.table} r
     ON r.old = c.old AND r.ended_by IS NULL AND r.correction_id <> ${operation.id}
   CROSS JOIN main.members o ON o.identity_card = r.new
   WHERE ${ownChanges(operation)} AND c.entity = 'members' AND c.field = 'identity_card'`;

/** SELECT of the only membership that a `nid replace` changed; null for other corrections. */
const onlyMemberOf = ({ id }: Operation): string =>
  `SELECT json_extract(o.options, '$.member') FROM main.operations o WHERE o.id = ${id}
     AND o.kind = 'nid_replace'`;

/**
 * Another member holds the national ID that a correction would restore. If the correction removed the member,
 * or changed only one membership, the same person may still hold it in another cooperative; not if it was
 * changed there since.
 */
const numberTaken = (operation: Operation): string =>
  `SELECT 'members' AS kind, o.id, 'taken' AS reason, NULL AS actor
   FROM main.changes c CROSS JOIN main.members o ON o.identity_card = c.old
   WHERE ${ownChanges(operation)} AND c.entity = 'members' AND c.field = 'identity_card'
     AND o.id NOT IN (${changedRows(operation, 'members')})
     AND (c.new IS NOT NULL AND (${onlyMemberOf(operation)}) IS NULL
       OR EXISTS (SELECT 1 FROM main.changes g WHERE g.id > ${operation.last_change}
         AND g.entity = 'members' AND g.field = 'identity_card' AND g.old = c.old AND g.new IS NOT NULL
         AND g.actor NOT IN (${REVERSED_ACTORS})))`;

/**
 * A former number that would redirect to its person again now belongs to another person, or redirects to one.
 */
const leadsElsewhere = (operation: Operation): string =>
  `SELECT 'members' AS kind, o.id, 'taken' AS reason, q.actor
   FROM main.${REPLACED_NUMBERS.table} r CROSS JOIN (
     SELECT old, old AS number, NULL AS actor FROM main.${REPLACED_NUMBERS.table}
     UNION SELECT old, new, 'correction:' || correction_id FROM main.${REPLACED_NUMBERS.table}
       WHERE ended_by IS NULL) q ON q.old = r.old
   CROSS JOIN main.members o ON o.identity_card = q.number
   WHERE r.ended_by = ${operation.id} AND q.actor IS NOT 'correction:${operation.id}'
     AND o.id NOT IN (${changedRows(operation, 'members')})`;

/** The person that a restored redirect would lead to has a different number since. */
const leadsToNobody = (operation: Operation): string =>
  `SELECT 'members' AS kind, c.row_id AS id, 'changed' AS reason, c.actor
   FROM main.${REPLACED_NUMBERS.table} r CROSS JOIN main.changes c ON c.id > ${operation.last_change}
     AND c.entity = 'members' AND c.field = 'identity_card' AND c.old = r.new
   WHERE r.ended_by = ${operation.id} AND c.actor NOT IN (${REVERSED_ACTORS})`;

/** A redirect of a former number or member that the operation created was changed since. */
const redirected = (operation: Operation): string[] =>
  [REPLACED_NUMBERS, MERGED_MEMBERS].map(
    ({ table }) => `SELECT 'members' AS kind, (SELECT min(row_id) FROM (${changedRows(operation, 'members')}))
        AS id, 'changed' AS reason, 'correction:' || ended_by AS actor
      FROM main.${table} WHERE correction_id = ${operation.id} AND ended_by <> ${operation.id}`,
  );

/** A member merged since redirects to one that would be removed. */
const mergedInto = (created: IdRange | string): string =>
  `SELECT 'members' AS kind, r.into_id AS id, 'changed' AS reason, 'correction:' || r.correction_id AS actor
   FROM main.${MERGED_MEMBERS.table} r
   WHERE r.into_id ${isWithin(created)} AND r.ended_by IS NULL`;

/** SELECTs of `kind, id, reason, actor`; a null actor stands for the origin of the row. */
type Blockers = readonly string[];

/** Condition on the id of a row: the operation created, changed or removed it. */
const isOwn = (operation: Operation, { table, created, fields }: GoingRows, id: string): string =>
  [
    ...(created === undefined ? [] : [`${id} ${isWithin(created)}`]),
    ...(fields.length === 0 ? [] : [`${id} IN (${changedRows(operation, table.entity)})`]),
  ].join(' OR ');

/** The plus keeps SQLite from reading all changes of the entity by their index. */
const laterChanges = ({ last_change }: Operation, entity: ChangedEntity, c = 'c'): string =>
  `${c}.id > ${last_change} AND +${c}.entity = '${entity}' AND ${c}.actor NOT IN (${REVERSED_ACTORS})`;

const changedSince = (operation: Operation, own: GoingRows): string =>
  `SELECT c.entity AS kind, c.row_id AS id, ${CHANGED_OR_ERASED} AS reason, c.actor FROM main.changes c
   WHERE ${laterChanges(operation, own.table.entity)} AND (${isOwn(operation, own, 'c.row_id')})`;

/** The newer version of the file may contain the same rows. */
const replacedSince = ({ id, kind }: Operation): string =>
  `SELECT '${kind}' AS kind, 0 AS id, 'replaced' AS reason, 'import:' || operation_id AS actor
   FROM (${replacementOf(String(id))})`;

/** Rows that refer to one that would be removed, now or after the undo of a later change or removal. */
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

/** Rows added since to a row that would move back to another cooperative. */
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

/** Owners of rows to restore that moved to another cooperative since, or were removed. */
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

/** Other rows with the unique values that would be restored. */
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

/** Entries of members erased since. Few members are erased, so other operations pay nothing for the check. */
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
 * A payment that the operation voided or removed would count again, although the opening balance of its loan
 * was set since and may include it.
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

/** Payments that would count again take the paid amount of a loan beyond the largest amount. */
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
 * @param own rows that the operation touched
 * @param listed maximum number of listed blockers
 * @returns each row once per reason and actor
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

/**
 * Reasons and actors of rows that build on an operation, limited so that waiting writers are not blocked
 * long.
 */
export function findActors(db: Connection, operation: Operation, own: readonly GoingRows[]) {
  const found = foundSql(db, operation, own);
  const originOf = openOrigins(db);
  return (found === undefined ? [] : db.rows<Found>(`${found} LIMIT 50000`)).map(
    ({ kind, id, reason, actor }) => ({ reason, actor: actor ?? originOf(kind, id)?.actor ?? null }),
  );
}

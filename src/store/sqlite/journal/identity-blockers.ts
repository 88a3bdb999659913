/** What of the national IDs of its members keeps an operation from being undone (undo-blockers.ts). */
import { MERGED_MEMBERS, REPLACED_NUMBERS } from '../identity/former-keys.ts';
import { type IdRange, isImport, type Operation, REVERSED_ACTORS } from './operations.ts';
import { changedRows, isWithin, ownChanges } from './own-rows.ts';

/**
 * @param created members that would go
 * @returns SELECTs of `kind, id, reason, actor`
 */
export const identityBlockers = (operation: Operation, created: IdRange | string | undefined): string[] => [
  ofErasedNumber(operation),
  numberReplaced(operation),
  ...(created === undefined ? [] : [mergedInto(created)]),
  // A file, or a row that was typed, gives a number to one membership; the person may have had the other one
  // elsewhere before.
  ...(isImport(operation) || operation.kind === 'row_enter'
    ? []
    : [
        numberTaken(operation),
        leadsElsewhere(operation),
        leadsToNobody(operation),
        ...redirected(operation),
      ]),
];

/** A national ID that would be put back was that of a person who was erased since. */
const ofErasedNumber = (operation: Operation): string =>
  `SELECT 'members' AS kind, c.row_id AS id, 'erased' AS reason, (SELECT 'correction:' || min(i.id)
     FROM main.operations i WHERE i.id > ${operation.id} AND i.kind = 'persons_erase') AS actor
   FROM main.changes c WHERE ${ownChanges(operation)} AND c.entity = 'members'
     AND c.field = 'identity_card' AND c.old IS NULL`;

/** A national ID that would be put back leads to somebody since. */
const numberReplaced = (operation: Operation): string =>
  `SELECT 'members' AS kind, o.id, 'taken' AS reason, 'correction:' || r.correction_id AS actor
   FROM main.changes c CROSS JOIN main.${REPLACED_NUMBERS.table} r
     ON r.old = c.old AND r.ended_by IS NULL AND r.correction_id <> ${operation.id}
   CROSS JOIN main.members o ON o.identity_card = r.new
   WHERE ${ownChanges(operation)} AND c.entity = 'members' AND c.field = 'identity_card'`;

/** SELECT of the membership to which alone `nid replace` has given another number; of others it is null. */
const onlyMemberOf = ({ id }: Operation): string =>
  `SELECT json_extract(o.options, '$.member') FROM main.operations o WHERE o.id = ${id}
     AND o.kind = 'nid_replace'`;

/**
 * Somebody has the national ID that a correction would put back. Of a member that it took away, or to whom
 * alone it has given another, the person may have had it in another cooperative; not any more, when it was
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

/** A number that this would let lead to its person again is somebody's now, or leads to somebody else. */
const leadsElsewhere = (operation: Operation): string =>
  `SELECT 'members' AS kind, o.id, 'taken' AS reason, q.actor
   FROM main.${REPLACED_NUMBERS.table} r CROSS JOIN (
     SELECT old, old AS number, NULL AS actor FROM main.${REPLACED_NUMBERS.table}
     UNION SELECT old, new, 'correction:' || correction_id FROM main.${REPLACED_NUMBERS.table}
       WHERE ended_by IS NULL) q ON q.old = r.old
   CROSS JOIN main.members o ON o.identity_card = q.number
   WHERE r.ended_by = ${operation.id} AND q.actor IS NOT 'correction:${operation.id}'
     AND o.id NOT IN (${changedRows(operation, 'members')})`;

/** Whom a number that this would let lead to its person again has found has another number since. */
const leadsToNobody = (operation: Operation): string =>
  `SELECT 'members' AS kind, c.row_id AS id, 'changed' AS reason, c.actor
   FROM main.${REPLACED_NUMBERS.table} r CROSS JOIN main.changes c ON c.id > ${operation.last_change}
     AND c.entity = 'members' AND c.field = 'identity_card' AND c.old = r.new
   WHERE r.ended_by = ${operation.id} AND c.actor NOT IN (${REVERSED_ACTORS})`;

/** What it lets a former number or member lead to was changed since. */
const redirected = (operation: Operation): string[] =>
  [REPLACED_NUMBERS, MERGED_MEMBERS].map(
    ({ table }) => `SELECT 'members' AS kind, (SELECT min(row_id) FROM (${changedRows(operation, 'members')}))
        AS id, 'changed' AS reason, 'correction:' || ended_by AS actor
      FROM main.${table} WHERE correction_id = ${operation.id} AND ended_by <> ${operation.id}`,
  );

/** A member that was merged since leads to one that would go. */
const mergedInto = (created: IdRange | string): string =>
  `SELECT 'members' AS kind, r.into_id AS id, 'changed' AS reason, 'correction:' || r.correction_id AS actor
   FROM main.${MERGED_MEMBERS.table} r
   WHERE r.into_id ${isWithin(created)} AND r.ended_by IS NULL`;

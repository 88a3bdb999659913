/**
 * What builds on a correction, so that it cannot be undone: rows that were changed since, entries that were
 * added since to a member or loan that would change the cooperative, and rows that took what would be put
 * back. What was itself undone no longer counts.
 */
import type { ChangedEntity } from '../../ports/corrections.ts';
import type { Actor } from '../../ports/history.ts';
import type { UndoBlocker } from '../../ports/imports.ts';
import type { Connection } from '../engine/connection.ts';
import { CHANGED_OR_ERASED, ERASED_BY, ERASED_FIRST, ERASED_STATUS } from '../identity/erased-rows.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS } from '../identity/redirects.ts';
import { type CorrectionRange, ownChanges } from './correction-undo.ts';
import { rowLabel } from './labels.ts';
import { openOrigins } from './origin.ts';
import { REVERSED_ACTORS } from './reversed.ts';
import { CHANGED_TABLES, changedTable, recordedColumns } from './tables.ts';
import { REMOVED } from './track.ts';

/** SELECTs of `kind, id, reason, actor`. */
const changed = (range: CorrectionRange): string => `SELECT c.entity AS kind, c.row_id AS id,
    ${CHANGED_OR_ERASED} AS reason, c.actor FROM main.changes c
  WHERE c.id > ${range.last_change} AND c.actor NOT IN (${REVERSED_ACTORS})
    AND (c.entity, c.row_id) IN (SELECT c.entity, c.row_id FROM main.changes c WHERE ${ownChanges(range)})`;

const rowsWith = (range: CorrectionRange, entity: ChangedEntity, field?: string): string =>
  `SELECT c.row_id FROM main.changes c WHERE ${ownChanges(range)} AND c.entity = '${entity}'
   ${field === undefined ? '' : `AND c.field = '${field}'`}`;

/** Entries that the correction did not touch, of rows that it put into another cooperative. */
const REFERRING = [
  ['production', 'member_id', 'members'],
  ['loans', 'member_id', 'members'],
  ['accounts', 'member_id', 'members'],
  ['payments', 'loan_id', 'loans'],
  ['savings', 'account_id', 'accounts'],
] as const satisfies readonly (readonly [ChangedEntity, string, ChangedEntity])[];

const referring = (range: CorrectionRange): string[] =>
  REFERRING.map(
    ([entity, column, owner]) => `SELECT '${entity}' AS kind, e.id, 'refers' AS reason, NULL AS actor
      FROM main.${changedTable(entity).table} e
      WHERE e.${column} IN (${rowsWith(range, owner, 'cooperative_id')}
          AND c.row_id NOT IN (${rowsWith(range, owner, REMOVED)}))
        AND e.id NOT IN (${rowsWith(range, entity)})`,
  );

/** Removed entries whose member was erased since: the sums of the cooperative stay. */
const ofErased = (range: CorrectionRange): string[] =>
  [
    ['member_id', '', 'c.old'],
    ['account_id', 'CROSS JOIN main.savings_accounts a ON a.id = c.old', 'a.member_id'],
  ].map(
    ([field, account, member]) => `SELECT c.entity AS kind, c.row_id AS id, 'erased' AS reason,
        ${ERASED_BY} AS actor
      FROM main.changes c ${account} CROSS JOIN main.members m ON m.id = ${member}
      WHERE ${ownChanges(range)} AND c.field = '${field}' AND m.status = '${ERASED_STATUS}'`,
  );

/** Other rows that have what would be put back. */
const taken = (db: Connection, range: CorrectionRange): string[] =>
  CHANGED_TABLES.flatMap((each) => {
    const { entity, table, unique } = each;
    const fields = new Map(recordedColumns(db, each).map(({ column, field }) => [column, field]));
    const before = (column: string) => `coalesce((SELECT c.old FROM main.changes c
      WHERE ${ownChanges(range)} AND c.entity = '${entity}' AND c.row_id = r.id
        AND c.field = '${fields.get(column)}'), t.${column})`;
    return unique.map((columns) => {
      const same = columns.map((column) => `o.${column} = ${before(column)}`);
      return `SELECT '${entity}' AS kind, o.id, 'taken' AS reason, NULL AS actor
        FROM (SELECT DISTINCT row_id AS id FROM (${rowsWith(range, entity)})) r
        LEFT JOIN main.${table} t ON t.id = r.id
        CROSS JOIN main.${table} o ON ${same.join(' AND ')}
        WHERE o.id NOT IN (${rowsWith(range, entity)})`;
    });
  });

/** A person of any cooperative has the national ID that would be put back. */
const numberTaken = (range: CorrectionRange): string => `SELECT 'members' AS kind, o.id, 'taken' AS reason,
    NULL AS actor FROM main.changes c CROSS JOIN main.members o ON o.identity_card = c.old
  WHERE ${ownChanges(range)} AND c.entity = 'members' AND c.field = 'identity_card' AND c.new IS NOT NULL
    AND o.id NOT IN (${rowsWith(range, 'members')})`;

/** A number that this would let lead to its person again is somebody's now, or leads to somebody else. */
const leadsElsewhere = (range: CorrectionRange): string => `SELECT 'members' AS kind, o.id,
    'taken' AS reason, q.actor
  FROM main.replaced_identity_cards r CROSS JOIN (
    SELECT old, old AS number, NULL AS actor FROM main.replaced_identity_cards
    UNION SELECT old, new, 'correction:' || correction_id FROM main.replaced_identity_cards
      WHERE ended_by IS NULL) q ON q.old = r.old
  CROSS JOIN main.members o ON o.identity_card = q.number
  WHERE r.ended_by = ${range.id} AND q.actor IS NOT 'correction:${range.id}'
    AND o.id NOT IN (${rowsWith(range, 'members')})`;

/** What it lets a former number or member lead to was changed since. */
const redirected = (range: CorrectionRange): string[] =>
  [REPLACED_NUMBERS, MERGED_MEMBERS].map(
    ({ table }) => `SELECT 'members' AS kind, (SELECT min(row_id) FROM (${rowsWith(range, 'members')})) AS id,
      'changed' AS reason, 'correction:' || ended_by AS actor
    FROM main.${table} WHERE correction_id = ${range.id} AND ended_by <> ${range.id}`,
  );

/** A national ID that would be put back was that of a person who was erased since. */
const erased = (range: CorrectionRange): string => `SELECT 'members' AS kind, c.row_id AS id,
    'erased' AS reason, (SELECT 'correction:' || min(i.id) FROM main.imports i
      WHERE i.id > ${range.id} AND i.kind = 'persons_erase') AS actor
  FROM main.changes c WHERE ${ownChanges(range)} AND c.entity = 'members' AND c.field = 'identity_card'
    AND c.old IS NULL`;

interface Found {
  readonly kind: ChangedEntity;
  readonly id: number;
  readonly reason: UndoBlocker['reason'];
  readonly actor: Actor | null;
}

/** @param listed how many are listed at most */
export function findCorrectionBlockers(
  db: Connection,
  range: CorrectionRange,
  listed: number,
): { readonly count: number; readonly blockers: UndoBlocker[] } {
  const all = [changed(range), ...referring(range), ...taken(db, range)];
  all.push(...ofErased(range), erased(range));
  all.push(numberTaken(range), leadsElsewhere(range), ...redirected(range));
  const found = `SELECT DISTINCT kind, id, reason, actor FROM (${all.join('\nUNION ALL ')})`;
  const count = db.raw.prepare(`SELECT count(*) FROM (${found})`).pluck().get() as number;
  if (count === 0) return { count, blockers: [] };
  const originOf = openOrigins(db);
  const rows = db.raw.prepare(`${found} ${ERASED_FIRST} LIMIT ?`).all(listed) as Found[];
  return {
    count,
    blockers: rows.map(({ kind, id, reason, actor }) => ({
      ...{ kind, row: rowLabel(db, kind, id), reason },
      actor: actor ?? (kind === 'accounts' ? null : (originOf(kind, id)?.actor ?? null)),
    })),
  };
}

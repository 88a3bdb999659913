/**
 * The events of an import, in the order of the lines of its file. They are composed without the lock, from
 * what the check has found.
 */
import {
  EVENT_ACTIONS,
  type EventAction,
  type EventEntity,
  type EventField,
  fieldBit,
  typeCode,
} from '../../../domain/events.ts';
import type { ImportKind } from '../../ports/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import { appendTypedEvents } from '../events/append.ts';
import { assignmentsOf } from './changes.ts';
import type { FileScope } from './file-scope.ts';

/** What the rows of a kind are in events: an entity, or a part of a member. */
export type Announced =
  | { readonly entity: EventEntity }
  | { readonly memberField: EventField<'member'>; readonly isByAccount: boolean };

export const ANNOUNCED: { readonly [kind in ImportKind]: Announced } = {
  cooperatives: { entity: 'cooperative' },
  members: { entity: 'member' },
  production: { memberField: 'production_summary', isByAccount: false },
  loans: { entity: 'loan' },
  // With the loans whose paid amount changes: import/paid-amounts.ts.
  payments: { entity: 'payment' },
  savings: { memberField: 'savings_summary', isByAccount: true },
};

/** Whether rows of this kind belong to members whose events stand for them. */
export const hasTouchedMembers = (kind: ImportKind): boolean => !('entity' in ANNOUNCED[kind]);

/**
 * Composes the events of a checked file, without the lock: under it they are only copied.
 * `appendImportEvents` gives new rows their ids.
 */
export function stageEvents(scope: FileScope): void {
  const { db, kind } = scope;
  const announced = ANNOUNCED[kind];
  if (!('entity' in announced)) stageTouchedMembers(db);
  const rows =
    'entity' in announced
      ? rowEvents(scope, announced.entity)
      : `SELECT ${typeCode('member', 'updated')} AS type, member_id AS row_id, cooperative_id,
           ${fieldBit('member', announced.memberField)} AS fields FROM staging.touched_members ORDER BY line`;
  db.exec(`DELETE FROM staging.events;
    INSERT INTO staging.events (type, row_id, cooperative_id, fields)
    SELECT type, row_id, cooperative_id, fields FROM (${rows})`);
}

/**
 * Finds the members whose entries the file adds or changes, each with the first of its lines. No entry
 * changes its member: checks.ts refuses that.
 */
const stageTouchedMembers = (db: Connection): void =>
  db.exec(`DELETE FROM staging.touched_members;
    INSERT OR IGNORE INTO staging.touched_members (member_id, cooperative_id, line)
    SELECT member_id, cooperative_id, line FROM staging.resolved_references
    WHERE id IS NULL OR line IN (SELECT line FROM staging.changed_rows) ORDER BY line`);

/** New rows are numbered from 1; an entity that is not in a cooperative has none. */
function rowEvents(scope: FileScope, entity: EventEntity): string {
  const type = (action: EventAction) => typeCode(entity, action);
  const fields = assignmentsOf(scope)
    .map(({ column, bit }) => `((c.cells & ${bit}) <> 0) * ${fieldBit(entity, column)}`)
    .join(' + ');
  return `SELECT p.line, ${type('created')} AS type, row_number() OVER (ORDER BY p.line) AS row_id,
      p.cooperative_id, 0 AS fields
    FROM staging.resolved_references p WHERE p.id IS NULL
    UNION ALL
    SELECT c.line, ${type('updated')}, c.id, p.cooperative_id, ${fields || '0'}
    FROM staging.changed_rows c CROSS JOIN staging.resolved_references p ON p.line = c.line
    ORDER BY 1`;
}

/**
 * Appends the events of a file that was applied, in its transaction.
 * @param firstId id of the first row that it added; those of the others follow in the order of their lines
 */
export function appendImportEvents(
  { db }: FileScope,
  firstId: number,
  nowSeconds: number,
  importId: number,
): void {
  const isCreated = `type % ${EVENT_ACTIONS.length} = ${EVENT_ACTIONS.indexOf('created')}`;
  const rows = `SELECT type, row_id, coalesce(cooperative_id, row_id) AS cooperative_id, fields FROM (
    SELECT type, iif(${isCreated}, ${firstId - 1} + row_id, row_id) AS row_id, cooperative_id, fields
    FROM staging.events ORDER BY id)`;
  appendTypedEvents(db, rows, nowSeconds, `import:${importId}`);
}

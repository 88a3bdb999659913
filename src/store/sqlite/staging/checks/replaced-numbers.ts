/**
 * Files that still have a national ID that was replaced: their rows belong to the person under the current
 * one (docs/correcting.md#a-wrong-national-id).
 */

import { stagedColumns } from '../../schema/targets.ts';
import { changeId, keepStored, LAST_PLACE } from '../staged/changes.ts';
import type { FileScope } from '../staged/file-scope.ts';

/** Replaces former numbers in the staged rows; may run again, when another process has written meanwhile. */
export function readReplacedNumbers({ db, kind }: FileScope): void {
  if (!stagedColumns(kind).some(({ name }) => name === 'identity_card')) return;
  if (!db.has('main.former_identity_cards')) return;
  db.exec(`INSERT OR IGNORE INTO staging.replaced_numbers (line, number)
      SELECT r.line, r.identity_card FROM staging.rows r
      CROSS JOIN main.former_identity_cards n ON n.old = r.identity_card;
    UPDATE staging.rows AS r SET identity_card = n.new FROM main.former_identity_cards n
      WHERE n.old = r.identity_card`);
}

/**
 * Keeps what corrections have decided, whatever the file says: the current number, and the code of a member
 * into whom the one of the row was merged.
 */
export function keepCurrentNumbers(scope: FileScope): void {
  const { db, kind } = scope;
  if (kind !== 'members') return;
  if (!db.has('staging.replaced_numbers')) return;
  keepStored(
    scope,
    `SELECT e.id FROM staging.changes e CROSS JOIN staging.replaced_numbers f ON f.line = e.line
     WHERE e."column" = 'member_code' AND e.new IN (
       SELECT c.old FROM main.former_members g CROSS JOIN main.changes c
         ON c.entity = 'members' AND c.row_id = g.id AND c.field = 'member_code'
       WHERE g.into_id = e.row_id)`,
  );
  db.exec(`INSERT INTO staging.kept (id, line, row_id, "column", old, new)
    SELECT ${changeId('f.line', LAST_PLACE)},
      f.line, p.id, 'identity_card', r.identity_card, f.number FROM staging.replaced_numbers f
    CROSS JOIN staging.rows r ON r.line = f.line CROSS JOIN staging.resolved_references p ON p.line = f.line
    WHERE p.id IS NOT NULL`);
}

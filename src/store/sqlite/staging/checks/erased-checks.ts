/** Rows of a file that would bring back a person who was erased (docs/correcting.md#erasing-a-person). */

import { hasErasedPersons } from '../../identity/identity-hash.ts';
import { stagedColumns } from '../../schema/targets.ts';
import type { FileScope } from '../staged/file-scope.ts';
import type { Check } from './check-statements.ts';

/** Who was registered again since, over HTTP or despite the erasure, is imported like others. */
const IS_ERASED = `r.identity_card IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM main.members m WHERE m.identity_card = r.identity_card)
  AND EXISTS (SELECT 1 FROM main.erasure_secrets s WHERE identity_hash(s.secret, r.identity_card)
    IN (SELECT identity_hash FROM main.erased_persons))`;

/** Finds the rows that name such a person; the checks look no further at whom they name. */
export function findErasedRows({ db, kind }: FileScope): void {
  db.exec('DELETE FROM staging.erased_rows');
  if (!stagedColumns(kind).some(({ name }) => name === 'identity_card') || !hasErasedPersons(db)) return;
  db.exec(`INSERT INTO staging.erased_rows SELECT r.line FROM staging.rows r WHERE ${IS_ERASED}`);
}

const refusing = (message: string): Check => ({
  column: 'identity_card',
  sql: `SELECT line, '${message}' FROM staging.erased_rows`,
});

const MEMBER = refusing('This person was erased. --despite-erasure imports the row.');
const ENTRY = refusing('This person was erased.');

export function erasureChecks({ kind, despiteErasure = false }: FileScope): Check[] {
  if (kind === 'members') return despiteErasure ? [] : [MEMBER];
  return [ENTRY];
}

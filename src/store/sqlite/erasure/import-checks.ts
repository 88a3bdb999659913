/** Rows of a file that would bring back a person who was erased (docs/correcting.md#erasing-a-person). */
import type { Check } from '../import/check-statements.ts';
import type { FileScope } from '../import/file-scope.ts';
import { stagedColumns } from '../import/targets.ts';

/** Who was registered again since, over HTTP or despite the erasure, is imported like others. */
const IS_ERASED = `r.identity_card IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM main.members m WHERE m.identity_card = r.identity_card)
  AND identity_hash(r.identity_card) IN (SELECT identity_hash FROM main.erased_persons)`;

const refusing = (message: string): Check => ({
  column: 'identity_card',
  sql: `SELECT r.line, '${message}' FROM staging.rows r WHERE ${IS_ERASED}`,
});

const MEMBER = refusing('This person was erased. --despite-erasure imports the row.');
const ENTRY = refusing('This person was erased.');

export function erasureChecks({ kind, despiteErasure = false }: FileScope): Check[] {
  if (kind === 'members') return despiteErasure ? [] : [MEMBER];
  return stagedColumns(kind).some(({ name }) => name === 'identity_card') ? [ENTRY] : [];
}

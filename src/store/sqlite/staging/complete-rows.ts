/** What a file may leave out of its rows, from the registry and the rows themselves. */
import type { ImportKind } from '../../ports/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import { openFormerReferences } from './checks/former-references.ts';
import type { FileScope } from './file-scope.ts';

/** The values that, beside cooperative and member, tell entries without a reference apart. */
const TELLING_COLUMNS: { readonly [kind in ImportKind]?: readonly string[] } = {
  production: ['delivered_at', 'kg', 'product'],
  savings: ['account_number', 'kind', 'amount', 'transacted_at'],
};

/** Whether a row of this kind may come without a reference. */
export const hasDerivedReferences = (kind: ImportKind): boolean => TELLING_COLUMNS[kind] !== undefined;

/**
 * Fills in member codes, then references, where a row has none. Runs once, before anything is resolved: what
 * another writer changes afterwards shows as a fault of the repeated checks.
 */
export function completeRows({ db, kind, columns }: FileScope, isReferenceMissing: boolean): void {
  if (kind !== 'members' && columns.has('identity_card')) addMemberCodes(db);
  if (!isReferenceMissing) return;
  const takeFormerReferences = openFormerReferences(db, kind);
  addReferences(db, kind);
  takeFormerReferences();
}

function addMemberCodes(db: Connection): void {
  db.exec(`UPDATE staging.rows AS r SET member_code = coalesce(
      (SELECT m.member_code FROM main.cooperatives c
       CROSS JOIN main.members m ON m.identity_card = r.identity_card AND m.cooperative_id = c.id
       WHERE c.code = r.cooperative_code),
      (SELECT k.member_code FROM staging.known_members k
       WHERE k.cooperative_code = r.cooperative_code AND k.identity_card = r.identity_card))
    WHERE member_code IS NULL AND identity_card IS NOT NULL`);
}

/** The count of equal rows before it keeps two equal deliveries of a day apart. */
function addReferences(db: Connection, kind: ImportKind): void {
  const values = ['cooperative_code', 'member_code', ...(TELLING_COLUMNS[kind] ?? [])].join(', ');
  db.exec(`UPDATE staging.rows AS r SET reference = s.reference
    FROM (SELECT line, derived_reference(${values}, row_number() OVER (PARTITION BY ${values} ORDER BY line))
            AS reference
          FROM staging.rows WHERE reference IS NULL) AS s
    WHERE r.line = s.line`);
}

/** The member codes of entries that name their member by national ID only. */
import type { FileScope } from './staged/file-scope.ts';

/**
 * Fills in member codes where a row has none. Runs once, before anything is resolved: what another writer
 * changes afterwards shows as a fault of the repeated checks.
 */
export function addMemberCodes({ db, kind, columns }: FileScope): void {
  if (kind === 'members' || !columns.has('identity_card')) return;
  db.exec(`UPDATE staging.rows AS r SET member_code = coalesce(
      (SELECT m.member_code FROM main.cooperatives c
       CROSS JOIN main.members m ON m.identity_card = r.identity_card AND m.cooperative_id = c.id
       WHERE c.code = r.cooperative_code),
      (SELECT k.member_code FROM staging.known_members k
       WHERE k.cooperative_code = r.cooperative_code AND k.identity_card = r.identity_card))
    WHERE member_code IS NULL AND identity_card IS NOT NULL`);
}

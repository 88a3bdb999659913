/**
 * Files that still have the code of a member who was merged into another one: their rows belong to the member
 * who stays (docs/correcting.md#registered-twice). Former national IDs mostly lead there by themselves; one
 * that the person still has in another cooperative does not.
 */
import type { Connection } from '../../engine/connection.ts';
import { wasReplacedSql } from '../../identity/former-keys.ts';
import { ERASED_STATUS } from '../../schema/counts.ts';
import { stagedColumns } from '../../schema/targets.ts';
import type { FileScope } from '../staged/file-scope.ts';

/** What a removed member last had. */
const lastOf = (field: string): string => `(SELECT h.old FROM main.changes h
  WHERE h.entity = 'members' AND h.row_id = g.id AND h.field = '${field}' ORDER BY h.id DESC LIMIT 1)`;

const HAS_FORMER_CODE = `f.member_code = r.member_code
  AND NOT EXISTS (SELECT 1 FROM main.members o
    WHERE o.cooperative_id = m.cooperative_id AND o.member_code = r.member_code)
  AND NOT EXISTS (SELECT 1 FROM staging.known_members k
    WHERE k.cooperative_code = r.cooperative_code AND k.member_code = r.member_code)
  AND NOT EXISTS (SELECT 1 FROM staging.former_members x WHERE x.cooperative_code = f.cooperative_code
    AND x.member_code = f.member_code AND x.into_id <> f.into_id)`;

/** Not of a number that was released. */
const HAS_FORMER_NUMBER = `f.identity_card = r.identity_card
  AND NOT EXISTS (SELECT 1 FROM main.members o
    WHERE o.cooperative_id = m.cooperative_id AND o.identity_card = r.identity_card)
  AND NOT ${wasReplacedSql('r.identity_card')}`;

/** The member who stays, in place of the former one, in rows that meet a condition. */
const FOUND = `staging.former_members f CROSS JOIN main.members m ON m.id = f.into_id
  WHERE f.cooperative_code = r.cooperative_code`;

/** Runs once, before references are derived; what changes afterwards is a fault of the repeated checks. */
export function readFormerMembers({ db, kind }: FileScope): void {
  if (!stagedColumns(kind).some(({ name }) => name === 'member_code')) return;
  if (!db.has('main.former_members')) return;
  findFormerMembers(db);
  if (kind === 'members') {
    // The code as well: the person may join with the number of another cooperative.
    const isFormer = `${HAS_FORMER_NUMBER} AND f.member_code = r.member_code`;
    db.exec(`INSERT OR IGNORE INTO staging.replaced_numbers (line, number)
        SELECT r.line, r.identity_card FROM staging.rows r CROSS JOIN ${FOUND} AND ${isFormer};
      UPDATE staging.rows AS r SET identity_card = m.identity_card FROM ${FOUND} AND ${isFormer}`);
    return;
  }
  db.exec(`UPDATE staging.rows AS r SET member_code = m.member_code,
      identity_card = iif(r.identity_card = f.identity_card, m.identity_card, r.identity_card)
    FROM ${FOUND} AND ${HAS_FORMER_CODE}`);
  db.exec(`UPDATE staging.rows AS r SET member_code = m.member_code, identity_card = m.identity_card
    FROM ${FOUND} AND ${HAS_FORMER_NUMBER} AND r.member_code IS NULL`);
}

/** By the cooperative of the member who stays: a merge of cooperatives takes members from another one. */
function findFormerMembers(db: Connection): void {
  db.exec(`DELETE FROM staging.former_members;
    INSERT INTO staging.former_members (cooperative_code, member_code, identity_card, into_id)
    SELECT c.code, ${lastOf('member_code')}, ${lastOf('identity_card')}, g.into_id
    FROM main.former_members g CROSS JOIN main.members m ON m.id = g.into_id
    CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
    WHERE m.status <> '${ERASED_STATUS}'`);
}

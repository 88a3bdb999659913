/** Members by what people call them: ids, member codes, national IDs, words of their names. */
import { MOST_FOUND } from '../../../domain/values/search-words.ts';
import type { FoundMember, MemberName, NamedMember } from '../../ports/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { currentNumberSql } from '../identity/former-keys.ts';
import { letOthersWrite } from '../read-model/refresh.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { indexLeftNames } from '../search/index-names.ts';
import { openMemberSearch } from '../search/member-search.ts';

/** Codes are unique in a cooperative: one seek in each is as good as an index of codes. */
const FOUND = `SELECT id FROM main.members WHERE id = @id
  UNION SELECT m.id FROM main.cooperatives c
    CROSS JOIN main.members m ON m.cooperative_id = c.id AND m.member_code = @memberCode
  UNION SELECT id FROM main.members WHERE identity_card = ${currentNumberSql('@identityCard')}`;

export const findMembers = (db: Connection, name: MemberName): FoundMember[] =>
  db.raw
    .prepare(
      `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName
       FROM (${FOUND}) f CROSS JOIN main.members m ON m.id = f.id
       CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
       WHERE c.code = coalesce(@cooperativeCode, c.code) AND m.status <> '${ERASED_STATUS}' ORDER BY m.id`,
    )
    .all({ id: null, memberCode: null, identityCard: null, cooperativeCode: null, ...name }) as FoundMember[];

export function searchMembers(db: Connection, search: readonly string[]): NamedMember[] {
  indexLeftNames(db, { pause: letOthersWrite });
  const request = { page: 1, pageSize: MOST_FOUND };
  const { rows } = openMemberSearch(db)({ filter: { search }, request, visible: null });
  return rows.map(({ id, json, cooperative }) => {
    const { member_code: memberCode, full_name: fullName, status } = JSON.parse(json);
    return { id, cooperativeCode: cooperative.code, memberCode, fullName, status };
  });
}

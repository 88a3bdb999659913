/** Pages of the long lists of members, in order of id. */
import { MEMBER_STATUSES, type MemberStatus } from '../../../domain/membership/members.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../identity/erased-rows.ts';
import { LISTED_ROW, type ListedRow } from '../rows/member-rows.ts';
import type { SeekPosition } from './count-index.ts';

const LIMIT = 'LIMIT ?';

/** Of the rows of erased persons, of which there are few. */
const IS_LISTED = `status <> '${ERASED_STATUS}'`;

const ONE_PAGE = 'one page and less than one small block before it';
const ONE_COOPERATIVE = 'an entry of the covering index for each row before the page, inside one cooperative';

/** A page of ids, then their rows: the rows before the page are never read. */
const rowsOf = (ids: string): string =>
  `SELECT ${LISTED_ROW} FROM (${ids}) page CROSS JOIN members m ON m.id = page.id ORDER BY page.id`;

export function openMemberPages(db: Connection) {
  // Without a filter the rows follow each other: one search for the first, and no join.
  const all = db.prepareTuples<[firstId: number, skip: number, limit: number], ListedRow>(
    `SELECT ${LISTED_ROW} FROM members m
     WHERE m.id >= (SELECT id FROM members WHERE id >= ? AND ${IS_LISTED} ORDER BY id LIMIT 1 OFFSET ?)
       AND ${IS_LISTED} ORDER BY m.id ${LIMIT}`,
    ONE_PAGE,
  );
  const withStatus = db.prepareTuples<
    [MemberStatus, firstId: number, limit: number, skip: number],
    ListedRow
  >(rowsOf(`SELECT id FROM members WHERE status = ? AND id >= ? ORDER BY id ${LIMIT} OFFSET ?`), ONE_PAGE);
  const inCooperativeWithStatus = db.prepareTuples<
    [number, MemberStatus, limit: number, offset: number],
    ListedRow
  >(
    rowsOf(`SELECT id FROM members WHERE cooperative_id = ? AND status = ? ORDER BY id ${LIMIT} OFFSET ?`),
    ONE_COOPERATIVE,
  );
  // The index orders by id within a status, so the list of all statuses is a merge of theirs.
  const eachStatus = MEMBER_STATUSES.map(
    (status) => `SELECT id FROM members WHERE cooperative_id = @id AND status = '${status}'`,
  );
  const inCooperative = db.prepareTuples<[{ id: number; limit: number; offset: number }], ListedRow>(
    rowsOf(`${eachStatus.join(' UNION ALL ')} ORDER BY id LIMIT @limit OFFSET @offset`),
    ONE_COOPERATIVE,
  );

  return {
    ofAll: (status: MemberStatus | undefined, position: SeekPosition, limit: number): ListedRow[] =>
      status === undefined
        ? all.all(position.firstId, position.skip, limit)
        : withStatus.all(status, position.firstId, limit, position.skip),

    ofCooperative: (
      id: number,
      status: MemberStatus | undefined,
      offset: number,
      limit: number,
    ): ListedRow[] =>
      status === undefined
        ? inCooperative.all({ id, limit, offset })
        : inCooperativeWithStatus.all(id, status, limit, offset),
  };
}

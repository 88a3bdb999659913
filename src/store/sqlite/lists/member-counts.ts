/**
 * Counters of members, kept in the transaction of every write, so that neither `count` nor a deep page walks
 * the table: per cooperative and status, and per block of ids and status (or any).
 */
import type { MemberStatus } from '../../../domain/members.ts';
import type { Connection } from '../connection/connection.ts';
import { LARGE_BLOCK, SMALL_BLOCK } from './blocks.ts';

const ANY = 'any';

interface Block {
  block: number;
  members: number;
}

/** Where the n-th row of a list begins: `skip` rows after the first of those with an id from `firstId`. */
export interface SeekPosition {
  readonly firstId: number;
  /** Fewer than SMALL_BLOCK. */
  readonly skip: number;
}

export function openMemberCounts(db: Connection) {
  const addToBlock = db.prepare<[number, string, number, number]>(
    `INSERT INTO member_blocks (span, status, block, members) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET members = members + excluded.members`,
  );
  const addToCooperative = db.prepare<[number, string, number]>(
    `INSERT INTO member_counts (cooperative_id, status, members) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET members = members + excluded.members`,
  );
  const countAll = db.prepare<[string], { members: number }>(
    `SELECT coalesce(sum(members), 0) AS members FROM member_blocks WHERE span = ${LARGE_BLOCK} AND status = ?`,
    `one row per ${LARGE_BLOCK} members`,
  );
  const countInCooperative = db.prepare<[{ id: number; status: string | null }], { members: number }>(
    `SELECT coalesce(sum(members), 0) AS members FROM member_counts
     WHERE cooperative_id = @id AND (@status IS NULL OR status = @status)`,
    'one row per status',
  );
  const listLargeBlocks = db.prepare<[string], Block>(
    `SELECT block, members FROM member_blocks WHERE span = ${LARGE_BLOCK} AND status = ? ORDER BY block`,
  );
  const listSmallBlocks = db.prepare<[string, number, number], Block>(
    `SELECT block, members FROM member_blocks
     WHERE span = ${SMALL_BLOCK} AND status = ? AND block >= ? AND block < ? ORDER BY block`,
  );

  function addToBlocks(status: string, memberId: number, delta: number): void {
    addToBlock.run(SMALL_BLOCK, status, Math.floor(memberId / SMALL_BLOCK), delta);
    addToBlock.run(LARGE_BLOCK, status, Math.floor(memberId / LARGE_BLOCK), delta);
  }

  function addStatus(cooperativeId: number, status: MemberStatus, memberId: number, delta: 1 | -1): void {
    addToCooperative.run(cooperativeId, status, delta);
    addToBlocks(status, memberId, delta);
  }

  return {
    memberAdded(cooperativeId: number, status: MemberStatus, memberId: number): void {
      addStatus(cooperativeId, status, memberId, 1);
      addToBlocks(ANY, memberId, 1);
    },

    statusChanged(cooperativeId: number, from: MemberStatus, to: MemberStatus, memberId: number): void {
      addStatus(cooperativeId, from, memberId, -1);
      addStatus(cooperativeId, to, memberId, 1);
    },

    count(cooperativeId: number | undefined, status: MemberStatus | undefined): number {
      const row =
        cooperativeId === undefined
          ? countAll.get(status ?? ANY)
          : countInCooperative.get({ id: cooperativeId, status: status ?? null });
      return (row as { members: number }).members;
    },

    /**
     * Finds the row that has `offset` rows before it, over all cooperatives in order of id.
     * @param offset less than the count
     */
    seek(status: MemberStatus | undefined, offset: number): SeekPosition {
      const counted = status ?? ANY;
      const large = locate(listLargeBlocks.all(counted), offset);
      const firstSmall = (large.block * LARGE_BLOCK) / SMALL_BLOCK;
      const smallBlocks = listSmallBlocks.all(counted, firstSmall, firstSmall + LARGE_BLOCK / SMALL_BLOCK);
      const small = locate(smallBlocks, large.skip);
      return { firstId: small.block * SMALL_BLOCK, skip: small.skip };
    },
  };
}

export type MemberCounts = ReturnType<typeof openMemberCounts>;

function locate(blocks: readonly Block[], offset: number): { block: number; skip: number } {
  let skip = offset;
  for (const { block, members } of blocks) {
    if (skip < members) return { block, skip };
    skip -= members;
  }
  throw new Error('The member counters do not match their blocks: run the check command.');
}

const difference = (actual: string, kept: string): string =>
  `SELECT * FROM (SELECT * FROM (${actual}) EXCEPT SELECT * FROM (${kept}))
   UNION ALL SELECT * FROM (SELECT * FROM (${kept}) EXCEPT SELECT * FROM (${actual})) LIMIT 1`;

const blockDifference = (span: number): string =>
  difference(
    `SELECT status, id / ${span} AS block, count(*) AS members FROM members GROUP BY 1, 2
     UNION ALL SELECT '${ANY}', id / ${span}, count(*) FROM members GROUP BY 2`,
    `SELECT status, block, members FROM member_blocks WHERE span = ${span} AND members <> 0`,
  );

/** Recounts the members; each query gives a row that differs, or none. They walk the table: for the operator. */
export const COUNTER_CHECKS: readonly { readonly name: string; readonly sql: string }[] = [
  {
    name: 'counters of members by cooperative',
    sql: difference(
      'SELECT cooperative_id, status, count(*) AS members FROM members GROUP BY 1, 2',
      'SELECT cooperative_id, status, members FROM member_counts WHERE members <> 0',
    ),
  },
  { name: `counters of members by ${SMALL_BLOCK} ids`, sql: blockDifference(SMALL_BLOCK) },
  { name: `counters of members by ${LARGE_BLOCK} ids`, sql: blockDifference(LARGE_BLOCK) },
];

/**
 * Adds what an import brings, set by set instead of row by row.
 * @param changes a SELECT giving `id, cooperative_id, status, delta` for each change of a status
 * @param isNew whether the changes are new members, which count under any status as well
 */
export function addChangesSql(changes: string, isNew: boolean): string[] {
  const added = 'ON CONFLICT DO UPDATE SET members = members + excluded.members';
  const blocks = (span: number, status: string) =>
    `INSERT INTO main.member_blocks (span, status, block, members)
     SELECT ${span}, ${status}, block / ${span / SMALL_BLOCK}, sum(delta) FROM temp.changed_blocks WHERE true
     GROUP BY 2, 3 ${added}`;
  return [
    `INSERT INTO main.member_counts (cooperative_id, status, members)
     SELECT cooperative_id, status, sum(delta) FROM (${changes}) WHERE true GROUP BY 1, 2 ${added}`,
    // The changes, a million of them perhaps, are read once for all blocks; the rest are sums of the small ones.
    `CREATE TEMP TABLE changed_blocks AS
     SELECT status, id / ${SMALL_BLOCK} AS block, sum(delta) AS delta FROM (${changes}) GROUP BY 1, 2`,
    ...[SMALL_BLOCK, LARGE_BLOCK].flatMap((span) => [
      blocks(span, 'status'),
      ...(isNew ? [blocks(span, `'${ANY}'`)] : []),
    ]),
    'DROP TABLE temp.changed_blocks',
  ];
}

/**
 * Exact counts of a table's rows, and the place of the n-th, in time that does not grow with the table, from
 * the counts that triggers keep (../schema/counts.ts). The n-th row is found by adding up large blocks, then
 * the small ones of one of them, and stepping inside that; inside a cooperative by its rows in large blocks,
 * from which its pages step over a covering index.
 */
import type { Connection } from '../engine/connection.ts';
import { type CountedTable, LARGE_BLOCK } from '../schema/counts.ts';
import { currentSql } from '../schema/declared-totals.ts';
import { blocksSql, isWantedSql, openSeek, type SeekPosition, type SeekRange } from './count-seek.ts';

export interface CountFilter {
  /** Cooperatives; all when undefined. */
  readonly groups?: readonly number[] | undefined;
  /** A status; any when undefined. */
  readonly value?: string | undefined;
}

/** The rows of a page, fewer than the list has. */
export interface RowsWanted {
  readonly offset: number;
  readonly limit: number;
}

export interface CountIndex {
  count(filter: CountFilter): number;
  /**
   * Finds the row that has `offset` rows before it, over all groups in order of id.
   * @param offset less than the count
   */
  seek(value: string | undefined, offset: number): SeekPosition;
  /** The same inside a group. */
  seekInGroup(group: number, value: string | undefined, offset: number): SeekPosition;
  /** A page inside several groups. */
  seekInGroups(groups: readonly number[], value: string | undefined, page: RowsWanted): SeekRange;
}

export function openCountIndex(db: Connection, counted: CountedTable): CountIndex {
  const isWanted = isWantedSql(counted);
  const countAll = db.prepare<[{ value: string | null }], { count: number }>(
    `SELECT coalesce(sum(rows), 0) AS count FROM (${currentSql(counted.large, isWanted)})`,
    `one row per status and ${LARGE_BLOCK} ids`,
  );
  const ofGroup = `FROM (${currentSql(counted.ofCooperatives, `cooperative_id = @group AND ${isWanted}`)})`;
  const bound = `one row per status and ${LARGE_BLOCK} ids, of one cooperative`;
  const countInGroup = db.prepare<[{ group: number; value: string | null }], { count: number }>(
    `SELECT coalesce(sum(rows), 0) AS count ${ofGroup}`,
    bound,
  );
  const listGroup = db.prepare<[{ group: number; value: string | null }], { blocks: string }>(
    `SELECT ${blocksSql} FROM (SELECT block, sum(rows) AS rows ${ofGroup} GROUP BY block)`,
    bound,
  );
  const seek = openSeek(db, counted);
  const blocksOf = (group: number, value: string | undefined): string =>
    (listGroup.get({ group, value: value ?? null }) as { blocks: string }).blocks;

  return {
    count({ groups, value = null }) {
      if (groups === undefined) return (countAll.get({ value }) as { count: number }).count;
      const countOf = (group: number): number =>
        (countInGroup.get({ group, value }) as { count: number }).count;
      return groups.reduce((sum, group) => sum + countOf(group), 0);
    },

    // Page 1 is asked for most, and needs no counts to be found.
    seek: (value, offset) => (offset === 0 ? FIRST : seek.ofAll(value, offset)),

    seekInGroup: (group, value, offset) =>
      offset === 0 ? FIRST : seek.inGroup(blocksOf(group, value), value, offset),

    seekInGroups: (groups, value, { offset, limit }) =>
      seek.inGroups(
        groups.map((group) => blocksOf(group, value)),
        offset,
        limit,
      ),
  };
}

const FIRST: SeekPosition = { firstId: 0, skip: 0 };

/** Finds the n-th row of a list by the counts of blocks of ids, from large blocks to small ones. */
import type { Connection } from '../engine/connection.ts';
import { BLOCK_SPANS, LARGE_BLOCK } from '../schema/block-sizes.ts';
import { type CountDeclaration, wrongCounts } from './counted-tables.ts';

/** Where the n-th row of a list is: `skip` rows after the first of those with an id from `firstId`. */
export interface SeekPosition {
  readonly firstId: number;
  /** Fewer than SMALL_BLOCK; inside a group fewer than LARGE_BLOCK. */
  readonly skip: number;
}

/** Where a page inside several groups is: `skip` rows after the first of theirs with an id from `firstId`. */
export interface SeekRange extends SeekPosition {
  /** The first id after the blocks that the page is in. */
  readonly untilId: number;
}

/** JSON of blocks and the counts in them: the driver takes longer for 16 rows than SQLite for the text. */
export const blocksSql = (count: string): string => `json_group_object(block, ${count}) AS blocks`;

interface Blocks {
  readonly blocks: string;
}

/** Rows by block: its keys are integers, which come in ascending order. */
type Counts = Readonly<Record<string, number>>;

const parse = (blocks: string): Counts => JSON.parse(blocks);

/** The rows of several groups together. */
function sumOf(groups: readonly string[]): Counts {
  const sums: Record<string, number> = {};
  for (const blocks of groups)
    for (const [block, rows] of Object.entries(parse(blocks))) sums[block] = (sums[block] ?? 0) + rows;
  return sums;
}

/** The block that holds a row, and how many of its rows come before. */
interface Located {
  readonly block: number;
  readonly count: number;
  readonly skip: number;
}

export function openSeek(db: Connection, declaration: CountDeclaration) {
  const { table, dimension, blockTable, count } = declaration;
  const listBlocks = db.prepare<[span: number, value: string, from: number, until: number], Blocks>(
    `SELECT ${blocksSql(count)} FROM ${blockTable}
     WHERE span = ? AND ${dimension} = ? AND block >= ? AND block < ?`,
    `one row per ${LARGE_BLOCK} ids, or 16`,
  );
  const list = (span: number, value: string, from = 0, until = Number.MAX_SAFE_INTEGER): string =>
    (listBlocks.get(span, value, from, until) as Blocks).blocks;

  function locate(blocks: Counts, offset: number): Located {
    let skip = offset;
    for (const [block, rows] of Object.entries(blocks)) {
      if (skip < rows) return { block: Number(block), count: rows, skip };
      skip -= rows;
    }
    throw wrongCounts(table);
  }

  function seekInside(value: string, span: number, { block, count, skip }: Located): SeekPosition {
    const firstId = block * span;
    // Every id of a full block is in the list.
    if (count === span) return { firstId: firstId + skip, skip: 0 };
    const smaller = BLOCK_SPANS.find((each) => each < span);
    if (smaller === undefined) return { firstId, skip };
    const inside = list(smaller, value, firstId / smaller, (firstId + span) / smaller);
    return seekInside(value, smaller, locate(parse(inside), skip));
  }

  return {
    /** @param offset less than the count of the value */
    ofAll: (value: string, offset: number): SeekPosition =>
      seekInside(value, LARGE_BLOCK, locate(parse(list(LARGE_BLOCK, value)), offset)),

    /** @param blocks the large blocks of a group, with its rows of the value */
    inGroup(blocks: string, value: string, offset: number): SeekPosition {
      const found = locate(parse(blocks), offset);
      const { block, count: own, skip } = found;
      // The rows of an imported file have successive ids: where no other group has any, the smaller blocks
      // count those of this group.
      const all = parse(list(LARGE_BLOCK, value, block, block + 1))[block];
      return all === own ? seekInside(value, LARGE_BLOCK, found) : { firstId: block * LARGE_BLOCK, skip };
    },

    /**
     * @param blocks the large blocks of each group, with its rows of the value
     * @param offset less than the count of the groups
     */
    inGroups(blocks: readonly string[], offset: number, limit: number): SeekRange {
      const sums = sumOf(blocks);
      const { block: first, skip } = locate(sums, offset);
      let last = first;
      let found = 0;
      for (const [block, rows] of Object.entries(sums)) {
        if (Number(block) < first) continue;
        last = Number(block);
        found += rows;
        if (found >= skip + limit) break;
      }
      return { firstId: first * LARGE_BLOCK, skip, untilId: (last + 1) * LARGE_BLOCK };
    },
  };
}

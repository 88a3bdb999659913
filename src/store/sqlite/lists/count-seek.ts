/** Finds the n-th row of a list by the counts of blocks of ids, from large blocks to small ones. */
import type { Connection } from '../engine/connection.ts';
import { type CountedTable, LARGE_BLOCK, SMALL_BLOCK } from '../schema/counts.ts';
import { currentSql, type Totals } from '../schema/declared-totals.ts';

/** The error of counts that do not match the rows. */
export const wrongCounts = (table: string): Error =>
  new Error(`The counters of ${table} do not match their blocks: run the check command.`);

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

/** JSON of blocks and the rows in them: the driver takes longer for 16 rows than SQLite for the text. */
export const blocksSql = 'json_group_object(block, rows) AS blocks';

/** Rows of a status, or of any that is listed. */
export const isWantedSql = ({ excluded }: CountedTable): string =>
  `(@value IS NULL OR status = @value)${excluded === undefined ? '' : ` AND status <> '${excluded}'`}`;

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

export function openSeek(db: Connection, counted: CountedTable) {
  const { table, large, small } = counted;
  const isWanted = `block >= @from AND block < @until AND ${isWantedSql(counted)}`;
  const open = (blocks: Totals, bound: string) => {
    const list = db.prepare<[{ value: string | null; from: number; until: number }], Blocks>(
      `SELECT ${blocksSql} FROM (SELECT block, sum(rows) AS rows FROM (${currentSql(blocks, isWanted)})
       GROUP BY block)`,
      bound,
    );
    return (value: string | undefined, from = 0, until = Number.MAX_SAFE_INTEGER): Counts =>
      JSON.parse((list.get({ value: value ?? null, from, until }) as Blocks).blocks);
  };
  const listLarge = open(large, `one row per status and ${LARGE_BLOCK} ids`);
  const listSmall = open(small, 'one row per status and small block of a large one');

  function locate(blocks: Counts, offset: number): Located {
    let skip = offset;
    for (const [block, rows] of Object.entries(blocks)) {
      if (skip < rows) return { block: Number(block), count: rows, skip };
      skip -= rows;
    }
    throw wrongCounts(table);
  }

  function seekInside(value: string | undefined, { block, count, skip }: Located): SeekPosition {
    const firstId = block * LARGE_BLOCK;
    // Every id of a full block is in the list.
    if (count === LARGE_BLOCK) return { firstId: firstId + skip, skip: 0 };
    const smallBlocks = listSmall(value, firstId / SMALL_BLOCK, (firstId + LARGE_BLOCK) / SMALL_BLOCK);
    const found = locate(smallBlocks, skip);
    const first = found.block * SMALL_BLOCK;
    return found.count === SMALL_BLOCK
      ? { firstId: first + found.skip, skip: 0 }
      : { firstId: first, skip: found.skip };
  }

  return {
    /** @param offset less than the count of the value */
    ofAll: (value: string | undefined, offset: number): SeekPosition =>
      seekInside(value, locate(listLarge(value), offset)),

    /** @param blocks the large blocks of a group, with its rows of the value */
    inGroup(blocks: string, value: string | undefined, offset: number): SeekPosition {
      const found = locate(parse(blocks), offset);
      const { block, count: own, skip } = found;
      // The rows of an imported file have successive ids: where no other group has any, the smaller blocks
      // count those of this group.
      const all = listLarge(value, block, block + 1)[block];
      return all === own ? seekInside(value, found) : { firstId: block * LARGE_BLOCK, skip };
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

/**
 * Exact counts of a table's rows, and the place of the n-th, in time that does not grow with the table. An
 * entity declares by which of its columns it is counted; every write, over HTTP or of an import, keeps the
 * counts in its own transaction; the check compares them with the rows.
 *
 * There are two kinds of counts. By block: how many rows with an id in each block of 16, 256, 4,096 and
 * 65,536 ids have a value of the dimension, and how many have any; the n-th row is found by adding up large
 * blocks, then the smaller ones of one of them, and stepping inside one of 16. By group: how many rows of a
 * group have a value, in all and in each large block, from which its pages step over a covering index.
 */
import type { Connection } from '../engine/connection.ts';
import { BLOCK_SPANS, LARGE_BLOCK } from '../schema/block-sizes.ts';
import { blocksSql, openSeek, type SeekPosition, type SeekRange } from './count-seek.ts';
import { ANY, added, type CountDeclaration } from './counted-tables.ts';

/** What a row is counted by. */
export interface Counted {
  readonly group: number;
  readonly value: string;
}

export interface CountFilter {
  /** All groups when undefined. */
  readonly groups?: readonly number[] | undefined;
  readonly value?: string | undefined;
}

/** The rows of a page, fewer than the list has. */
export interface RowsWanted {
  readonly offset: number;
  readonly limit: number;
}

export interface CountIndex {
  /**
   * Called by every write of a row, in its transaction.
   * @param before what the row was counted by; undefined for a new one
   * @param after what it is counted by now; undefined for a deleted one
   */
  change(id: number, before: Counted | undefined, after: Counted | undefined): void;
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

/**
 * Opened once for each declaration and connection: another one would not see what this one has collected of
 * a transaction.
 */
export function openCountIndex(db: Connection, declaration: CountDeclaration): CountIndex {
  const { dimension, group, blockTable, groupTable, count } = declaration;
  const addToGroup = db.prepare<[group: number, value: string, delta: number]>(
    `INSERT INTO ${groupTable} (${group}, ${dimension}, ${count}) VALUES (?, ?, ?) ${added(declaration)}`,
  );
  const countAll = db.prepare<[string], { count: number }>(
    `SELECT coalesce(sum(${count}), 0) AS count FROM ${blockTable}
     WHERE span = ${LARGE_BLOCK} AND ${dimension} = ?`,
    `one row per ${LARGE_BLOCK} ids`,
  );
  const countInGroup = db.prepare<[{ group: number; value: string | null }], { count: number }>(
    `SELECT coalesce(sum(${count}), 0) AS count FROM ${groupTable}
     WHERE ${group} = @group AND (@value IS NULL OR ${dimension} = @value)`,
    'one row per value',
  );
  const groupBlocks = openGroupBlocks(db, declaration);
  const blocks = openBlockChanges(db, declaration);
  const seek = openSeek(db, declaration);

  function add(id: number, value: string, delta: 1 | -1): void {
    for (const span of BLOCK_SPANS) blocks.add(span, value, Math.floor(id / span), delta);
  }

  return {
    change(id, before, after) {
      if (before?.group === after?.group && before?.value === after?.value) return;
      for (const [counted, delta] of [[before, -1] as const, [after, 1] as const]) {
        if (counted === undefined) continue;
        addToGroup.run(counted.group, counted.value, delta);
        groupBlocks.add(id, counted, delta);
        if (before?.value !== after?.value) add(id, counted.value, delta);
      }
      if (before === undefined) add(id, ANY, 1);
      if (after === undefined) add(id, ANY, -1);
    },

    count({ groups, value }) {
      db.transaction.writeCollected();
      if (groups === undefined) return (countAll.get(value ?? ANY) as { count: number }).count;
      const countOf = (within: number): number =>
        (countInGroup.get({ group: within, value: value ?? null }) as { count: number }).count;
      return groups.reduce((sum, within) => sum + countOf(within), 0);
    },

    // Page 1 is asked for most, and needs no counts to be found.
    seek(value = ANY, offset) {
      if (offset === 0) return FIRST;
      db.transaction.writeCollected();
      return seek.ofAll(value, offset);
    },

    seekInGroup(within, value, offset) {
      if (offset === 0) return FIRST;
      db.transaction.writeCollected();
      return seek.inGroup(groupBlocks.list(within, value), value ?? ANY, offset);
    },

    seekInGroups(groups, value, { offset, limit }) {
      db.transaction.writeCollected();
      return seek.inGroups(
        groups.map((within) => groupBlocks.list(within, value)),
        offset,
        limit,
      );
    },
  };
}

const FIRST: SeekPosition = { firstId: 0, skip: 0 };

type BlockChange = [span: number, value: string, block: number, delta: number];

/**
 * The new rows of a transaction are in the same few blocks: their changes are added up, and written before it
 * ends. Whoever reads counts inside it has them written first.
 */
function openBlockChanges(db: Connection, declaration: CountDeclaration) {
  const { dimension, blockTable, count } = declaration;
  const addToBlock = db.prepare<BlockChange>(
    `INSERT INTO ${blockTable} (span, ${dimension}, block, ${count}) VALUES (?, ?, ?, ?)
     ${added(declaration)}`,
  );
  const changes = new Map<string, BlockChange>();
  const collected = {
    write(): void {
      for (const change of changes.values()) if (change[3] !== 0) addToBlock.run(...change);
      changes.clear();
    },
    discard: () => changes.clear(),
  };
  return {
    add(span: number, value: string, block: number, delta: 1 | -1): void {
      const key = `${span} ${block} ${value}`;
      const change = changes.get(key);
      if (change === undefined) changes.set(key, [span, value, block, delta]);
      else change[3] += delta;
      db.transaction.collect(collected);
    },
  };
}

/** The large blocks of a group. */
function openGroupBlocks(db: Connection, declaration: CountDeclaration) {
  const { dimension, group, groupBlockTable, count } = declaration;
  const addTo = db.prepare<[group: number, value: string, block: number, delta: number]>(
    `INSERT INTO ${groupBlockTable} (${group}, ${dimension}, block, ${count}) VALUES (?, ?, ?, ?)
     ${added(declaration)}`,
  );
  const list = db.prepare<[{ group: number; value: string | null }], { blocks: string }>(
    `SELECT ${blocksSql('rows')} FROM (SELECT block, sum(${count}) AS rows FROM ${groupBlockTable}
     WHERE ${group} = @group AND (@value IS NULL OR ${dimension} = @value) GROUP BY block)`,
    `one row per value and ${LARGE_BLOCK} ids`,
  );
  return {
    add: (id: number, { group: within, value }: Counted, delta: number) =>
      addTo.run(within, value, Math.floor(id / LARGE_BLOCK), delta),
    list: (within: number, value: string | undefined): string =>
      (list.get({ group: within, value: value ?? null }) as { blocks: string }).blocks,
  };
}

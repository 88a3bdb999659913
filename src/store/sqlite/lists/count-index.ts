/**
 * Exact counts of a table's rows, and the place of the n-th, in time that does not grow with the table. An
 * entity declares by which of its columns it is counted; every write, over HTTP or of an import, keeps the
 * counts in its own transaction; the check compares them with the rows.
 *
 * There are two kinds of counts. By block: how many rows with an id in each block of 256 and of 65,536 ids
 * have a value of the dimension, and how many have any; the n-th row is found by adding up large blocks, then
 * the small ones of one of them, and stepping inside one. By group: how many rows of a group have a value;
 * its pages step over a covering index, from the start of the group or, where groups are large, from a large
 * block: then the rows of a group are counted by these, too.
 */
import type { Connection } from '../engine/connection.ts';
import { LARGE_BLOCK, SMALL_BLOCK } from '../schema/block-sizes.ts';

export interface CountDeclaration {
  /** Table that is counted; it has an integer `id`. */
  readonly table: string;
  /** Column whose values are counted: few of them, none called `any`. */
  readonly dimension: string;
  /** Column of the groups within which values are counted as well. */
  readonly group: string;
  /**
   * Tables of the counts, `(span, <dimension>, block, <count>)` and `(<group>, <dimension>, <count>)`, each
   * with this key.
   */
  readonly blockTable: string;
  readonly groupTable: string;
  /** Of an entity with large groups: counts by large block, `(<group>, <dimension>, block, <count>)`. */
  readonly groupBlockTable?: string;
  /** Column of the counts in all of them. */
  readonly count: string;
  /** Value of the dimension whose rows are in no list, and so in no count. */
  readonly excluded?: string;
}

/** What a row is counted by. */
export interface Counted {
  readonly group: number;
  readonly value: string;
}

export interface CountFilter {
  readonly group?: number | undefined;
  readonly value?: string | undefined;
}

/** Where the n-th row of a list begins: `skip` rows after the first of those with an id from `firstId`. */
export interface SeekPosition {
  readonly firstId: number;
  /** Fewer than SMALL_BLOCK; inside a group fewer than LARGE_BLOCK. */
  readonly skip: number;
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
  /** The same inside a group, of an entity that has `groupBlockTable`. */
  seekInGroup(group: number, value: string | undefined, offset: number): SeekPosition;
}

/** Counts rows of every value. */
export const ANY = 'any';

interface Block {
  block: number;
  count: number;
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
  const listLargeBlocks = db.prepare<[string], Block>(
    `SELECT block, ${count} AS count FROM ${blockTable}
     WHERE span = ${LARGE_BLOCK} AND ${dimension} = ? ORDER BY block`,
  );
  const listSmallBlocks = db.prepare<[value: string, from: number, until: number], Block>(
    `SELECT block, ${count} AS count FROM ${blockTable}
     WHERE span = ${SMALL_BLOCK} AND ${dimension} = ? AND block >= ? AND block < ? ORDER BY block`,
  );

  const countInLarge = db.prepare<[value: string, block: number], { count: number }>(
    `SELECT ${count} AS count FROM ${blockTable}
     WHERE span = ${LARGE_BLOCK} AND ${dimension} = ? AND block = ?`,
  );
  const groupBlocks = openGroupBlocks(db, declaration);

  function seekInLarge(value: string, large: Located): SeekPosition {
    const first = (large.block * LARGE_BLOCK) / SMALL_BLOCK;
    const blocks = listSmallBlocks.all(value, first, first + LARGE_BLOCK / SMALL_BLOCK);
    const small = locate(declaration, blocks, large.skip);
    return { firstId: small.block * SMALL_BLOCK, skip: small.skip };
  }

  const blocks = openBlockChanges(db, declaration);

  function add(id: number, value: string, delta: 1 | -1): void {
    blocks.add(SMALL_BLOCK, value, Math.floor(id / SMALL_BLOCK), delta);
    blocks.add(LARGE_BLOCK, value, Math.floor(id / LARGE_BLOCK), delta);
  }

  return {
    change(id, before, after) {
      for (const [counted, delta] of [[before, -1] as const, [after, 1] as const]) {
        if (counted === undefined || isSame(before, after)) continue;
        addToGroup.run(counted.group, counted.value, delta);
        groupBlocks?.add(id, counted, delta);
        if (before?.value !== after?.value) add(id, counted.value, delta);
      }
      if (before === undefined && after !== undefined) add(id, ANY, 1);
      if (before !== undefined && after === undefined) add(id, ANY, -1);
    },

    count({ group: within, value }) {
      db.transaction.writeCollected();
      const row =
        within === undefined
          ? countAll.get(value ?? ANY)
          : countInGroup.get({ group: within, value: value ?? null });
      return (row as { count: number }).count;
    },

    seek(value = ANY, offset) {
      // Page 1 is asked for most, and needs no counts to be found.
      if (offset === 0) return { firstId: 0, skip: 0 };
      db.transaction.writeCollected();
      return seekInLarge(value, locate(declaration, listLargeBlocks.all(value), offset));
    },

    seekInGroup(within, value, offset) {
      if (offset === 0) return { firstId: 0, skip: 0 };
      db.transaction.writeCollected();
      if (groupBlocks === undefined) throw new Error(`${declaration.table} has no blocks inside a group.`);
      const found = locate(declaration, groupBlocks.list(within, value), offset);
      // The rows of an imported file have successive ids: where no other group has any, the small blocks
      // count those of this group.
      const all = countInLarge.get(value ?? ANY, found.block)?.count;
      if (all === found.count) return seekInLarge(value ?? ANY, found);
      return { firstId: found.block * LARGE_BLOCK, skip: found.skip };
    },
  };
}

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

/** The large blocks of a group; undefined for an entity that is not counted by them. */
function openGroupBlocks(db: Connection, declaration: CountDeclaration) {
  const { dimension, group, groupBlockTable, count } = declaration;
  if (groupBlockTable === undefined) return undefined;
  const addTo = db.prepare<[group: number, value: string, block: number, delta: number]>(
    `INSERT INTO ${groupBlockTable} (${group}, ${dimension}, block, ${count}) VALUES (?, ?, ?, ?)
     ${added(declaration)}`,
  );
  const list = db.prepare<[{ group: number; value: string | null }], Block>(
    `SELECT block, sum(${count}) AS count FROM ${groupBlockTable}
     WHERE ${group} = @group AND (@value IS NULL OR ${dimension} = @value) GROUP BY block ORDER BY block`,
    `one row per value and ${LARGE_BLOCK} ids`,
  );
  return {
    add: (id: number, { group: within, value }: Counted, delta: number) =>
      addTo.run(within, value, Math.floor(id / LARGE_BLOCK), delta),
    list: (within: number, value: string | undefined) => list.all({ group: within, value: value ?? null }),
  };
}

/** The error of counts that do not match the rows. */
export const wrongCounts = (table: string): Error =>
  new Error(`The counters of ${table} do not match their blocks: run the check command.`);

const isSame = (a: Counted | undefined, b: Counted | undefined): boolean =>
  a?.group === b?.group && a?.value === b?.value;

const added = ({ count }: CountDeclaration): string =>
  `ON CONFLICT DO UPDATE SET ${count} = ${count} + excluded.${count}`;

/** The block that holds a row, and how many of its rows come before. */
interface Located extends Block {
  readonly skip: number;
}

function locate({ table }: CountDeclaration, blocks: readonly Block[], offset: number): Located {
  let skip = offset;
  for (const { block, count } of blocks) {
    if (skip < count) return { block, count, skip };
    skip -= count;
  }
  throw wrongCounts(table);
}

/**
 * The statements that count what an import changes, set by set instead of row by row; they run in its
 * transaction.
 * @param changes a SELECT giving `id`, the group, the dimension and `delta` (1 or -1) for each value that a
 * row gains or loses
 * @param isNew whether the changes are new rows, which count under any value as well
 */
export function countChangesSql(declaration: CountDeclaration, changes: string, isNew: boolean): string[] {
  const { dimension, group, blockTable, groupTable, groupBlockTable, count } = declaration;
  const addBlocks = (span: number, value: string) =>
    `INSERT INTO main.${blockTable} (span, ${dimension}, block, ${count})
     SELECT ${span}, ${value}, block / ${span / SMALL_BLOCK}, sum(delta) FROM temp.changed_blocks WHERE true
     GROUP BY 2, 3 ${added(declaration)}`;
  const addGroups = (table: string, key: string) =>
    `INSERT INTO main.${table} (${key}, ${count})
     SELECT ${key}, sum(delta) FROM temp.changed_groups WHERE true GROUP BY ${key} ${added(declaration)}`;
  return [
    // The changes may be millions: they are read twice, and the rest are sums of these.
    `CREATE TEMP TABLE changed_groups AS
     SELECT ${group}, ${dimension}, id / ${LARGE_BLOCK} AS block, sum(delta) AS delta FROM (${changes})
     GROUP BY 1, 2, 3`,
    `CREATE TEMP TABLE changed_blocks AS
     SELECT ${dimension}, id / ${SMALL_BLOCK} AS block, sum(delta) AS delta FROM (${changes}) GROUP BY 1, 2`,
    addGroups(groupTable, `${group}, ${dimension}`),
    ...(groupBlockTable === undefined ? [] : [addGroups(groupBlockTable, `${group}, ${dimension}, block`)]),
    ...[SMALL_BLOCK, LARGE_BLOCK].flatMap((span) => [
      addBlocks(span, dimension),
      ...(isNew ? [addBlocks(span, `'${ANY}'`)] : []),
    ]),
    'DROP TABLE temp.changed_blocks',
    'DROP TABLE temp.changed_groups',
  ];
}

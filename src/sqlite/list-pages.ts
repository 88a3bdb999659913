/**
 * Pages of a list in order of id, with the count of all its rows. Either from a counted table, over all rows
 * or inside groups, with or without a status; or from the few rows that a filter finds.
 */

import { offsetOf, type Page, type PageRequest } from '../values/errors.ts';
import type { Connection, Statement } from './connection.ts';
import {
  blocksSql,
  type CountedTable,
  isWantedSql,
  LARGE_BLOCK,
  openSeek,
  type SeekPosition,
  type SeekRange,
  wrongCounts,
} from './counts.ts';
import { currentSql } from './declared-totals.ts';

// Exact counts and the position of the n-th row, in time independent of the table's size, from the counts
// that triggers maintain (./counts.ts). The n-th row is found by adding up large blocks, then the small ones
// of one of them, and stepping inside that. Inside a cooperative, it is found by its rows in large blocks,
// and its pages step over a covering index.

interface CountFilter {
  /** Cooperatives; undefined for all. */
  readonly groups?: readonly number[] | undefined;
  /** Status; undefined for any. */
  readonly value?: string | undefined;
}

/** The rows of a page, fewer than the list has. */
interface RowsWanted {
  readonly offset: number;
  readonly limit: number;
}

interface CountIndex {
  count(filter: CountFilter): number;
  /**
   * Finds the row with `offset` rows before it, over all groups in order of id.
   * @param offset less than the count
   */
  seek(value: string | undefined, offset: number): SeekPosition;
  /** Finds the row with `offset` rows before it inside a group. */
  seekInGroup(group: number, value: string | undefined, offset: number): SeekPosition;
  /** Finds a page inside several groups. */
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

    // Page 1 is requested most, and is found without counts.
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

/** Ids of a list's groups; undefined for all. */
export type Groups = readonly number[] | undefined;

/** The groups as an SQL parameter: a JSON array; null for all. */
export const toGroupsParameter = (groups: Groups): string | null =>
  groups === undefined ? null : JSON.stringify(groups);

/** SQL condition for rows in one of the groups of `@cooperatives`. */
export const isInGroupsSql = (column: string): string =>
  `(@cooperatives IS NULL OR ${column} IN (SELECT value FROM json_each(@cooperatives)))`;

export interface ListRows {
  readonly table: string;
  /** Alias of the table in `select` and `joins`. */
  readonly alias: string;
  /** `SELECT` and its columns. */
  readonly select: string;
  /** SQL after the table in FROM; empty for none. */
  readonly joins: string;
  readonly asTuples: boolean;
}

type OpenedList<Row, Filter> = (filter: Filter, request: PageRequest) => Page<Row>;

interface Window {
  readonly skip: number;
  readonly limit: number;
}
type WindowFrom = Window & { readonly firstId: number };
type WindowOfGroups = WindowFrom & {
  readonly untilId: number;
  /** JSON arrays. */
  readonly groups: string;
  readonly values: string;
};

const LIMIT = 'LIMIT @limit OFFSET @skip';
const ONE_PAGE = 'one page and less than one small block of rows before it';
const ONE_GROUP = 'one page and less than one large block of entries of the covering index before it';
const SOME_GROUPS = 'one page, and less than two large blocks of entries of the covering index';

/** @returns functions that prepare the query for a page of ids; rows before the page are never read */
function openRows<Row>(db: Connection, { table, alias, select, joins, asTuples }: ListRows) {
  const prepare = <Params extends unknown[]>(sql: string, bound: string) =>
    (asTuples ? db.prepareTuples(sql, bound) : db.prepare(sql, bound)) as Statement<Params, Row>;
  return {
    /** Prepares for rows in sequence, which need not be found by their ids. */
    following: <Params extends object>(condition: string, bound: string) =>
      prepare<[Params & WindowFrom]>(
        `${select} FROM ${table} ${alias} ${joins}
         WHERE ${alias}.id >= @firstId ${condition} ORDER BY ${alias}.id ${LIMIT}`,
        bound,
      ),
    /** @param ids SELECT of `id` */
    withIds: <Params extends object>(ids: string, bound: string) =>
      prepare<[Params & Window]>(
        `${select} FROM (${ids} ORDER BY id ${LIMIT}) page
         CROSS JOIN ${table} ${alias} ON ${alias}.id = page.id ${joins} ORDER BY page.id`,
        bound,
      ),
  };
}

/**
 * Opens a list of a counted table, which needs an index on the status, and one on cooperative and status
 * (`loans_cooperative_status`).
 * @param values all listed statuses: the rows of a cooperative are merged from those of each
 */
export function openCountedList<Row>(
  db: Connection,
  listed: ListRows,
  counted: CountedTable,
  values: readonly string[],
): OpenedList<Row, CountFilter> {
  const counts = openCountIndex(db, counted);
  const { table, excluded } = counted;
  const rows = openRows<Row>(db, listed);
  const isCounted = excluded === undefined ? '' : `AND ${listed.alias}.status <> '${excluded}'`;
  const all = rows.following<object>(isCounted, ONE_PAGE);
  const ofValue = rows.withIds<WindowFrom & { value: string }>(
    `SELECT id FROM ${table} WHERE status = @value AND id >= @firstId`,
    ONE_PAGE,
  );
  const index = `${table}_cooperative_status`;
  const inGroup = (value: string): string =>
    `SELECT id FROM ${table} INDEXED BY ${index}
     WHERE cooperative_id = @group AND status = ${value} AND id >= @firstId`;
  const ofGroupAndValue = rows.withIds<WindowFrom & { group: number; value: string }>(
    inGroup('@value'),
    ONE_GROUP,
  );
  const ofGroup = rows.withIds<WindowFrom & { group: number }>(
    values.map((value) => inGroup(`'${value}'`)).join(' UNION ALL '),
    ONE_GROUP,
  );

  const ofGroups = rows.withIds<WindowOfGroups>(
    `SELECT t.id AS id FROM json_each(@groups) g CROSS JOIN json_each(@values) v
       CROSS JOIN ${table} t INDEXED BY ${index}
       ON t.cooperative_id = g.value AND t.status = v.value AND t.id >= @firstId AND t.id < @untilId`,
    SOME_GROUPS,
  );

  function readInGroups(groups: readonly number[], value: string | undefined, page: RowsWanted): Row[] {
    return ofGroups.all({
      ...counts.seekInGroups(groups, value, page),
      limit: page.limit,
      groups: JSON.stringify(groups),
      values: JSON.stringify(value === undefined ? values : [value]),
    });
  }

  function read({ groups, value }: CountFilter, offset: number, limit: number): Row[] {
    if (groups === undefined) {
      const window = { ...counts.seek(value, offset), limit };
      return value === undefined ? all.all(window) : ofValue.all({ ...window, value });
    }
    const [within, ...others] = groups;
    if (within === undefined || others.length > 0) return readInGroups(groups, value, { offset, limit });
    const window = { ...counts.seekInGroup(within, value, offset), limit, group: within };
    return value === undefined ? ofGroup.all(window) : ofGroupAndValue.all({ ...window, value });
  }

  return (filter, request) => {
    const count = counts.count(filter);
    const offset = offsetOf(request);
    if (offset >= count) return { count, rows: [] };
    const found = read(filter, offset, request.pageSize);
    // Page 1 is found without counts, so the number of rows read is compared with them.
    if (found.length !== Math.min(request.pageSize, count - offset)) throw wrongCounts(table);
    return { count, rows: found };
  };
}

/**
 * Opens a list of few rows, which are counted each time.
 * @param ids SELECT of each `id`, without an order
 * @param bound reason why they are few
 */
export function openFewRows<Row, Filter extends object>(
  db: Connection,
  list: ListRows,
  ids: string,
  bound: string,
): OpenedList<Row, Filter> {
  const countAll = db.prepare<[Filter], { count: number }>(`SELECT count(*) AS count FROM (${ids})`, bound);
  const rows = openRows<Row>(db, list).withIds<Filter>(ids, bound);
  return (filter, request) => {
    const { count } = countAll.get(filter) as { count: number };
    const skip = offsetOf(request);
    return {
      count,
      rows: skip >= count ? [] : rows.all({ ...filter, limit: request.pageSize, skip }),
    };
  };
}

// A long result read page by page: between two pages the connection is free for other queries.

/** @param page returns the rows after the last one read, in order, at most `size` of them */
export function* readPages<Row>(
  size: number,
  page: (last: Row | undefined) => readonly Row[],
): Generator<Row, void> {
  let last: Row | undefined;
  for (;;) {
    const rows = page(last);
    yield* rows;
    if (rows.length < size) return;
    last = rows.at(-1);
  }
}

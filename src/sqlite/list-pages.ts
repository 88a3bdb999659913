/** Reads pages of lists in order of id, with the exact count of all rows. */

import { typedCommand } from '../runtime/typed-command.ts';
import { offsetOf, type Page, type PageRequest } from '../values/errors.ts';
import type { Connection, Statement } from './connection.ts';
import { type CountedTable, LARGE_BLOCK, SMALL_BLOCK } from './counts.ts';
import { currentSql } from './declared-totals.ts';

// Exact counts, and the position of the n-th row. Triggers maintain counts by block of ids (./counts.ts), so
// the time does not depend on the size of the table. The search for the n-th row adds up the counts of large
// blocks, then the counts of the small blocks in one large block, and then skips rows in one small block.
// Within a cooperative, the search adds up large blocks only, and skips rows in a covering index.

/** Ids of the cooperatives whose rows a list contains; undefined for all cooperatives. */
export type CooperativeIds = readonly number[] | undefined;

interface CountFilter {
  readonly cooperatives?: CooperativeIds;
  /** Status; undefined for any. */
  readonly value?: string | undefined;
}

/** Position of the n-th row of a list: `skip` rows after the first row with an id of at least `firstId`. */
interface SeekPosition {
  readonly firstId: number;
  readonly skip: number;
}

const FIRST: SeekPosition = { firstId: 0, skip: 0 };

/** Row counts by number of the block. JavaScript iterates over integer keys in ascending order. */
type Counts = Readonly<Record<string, number>>;

const wrongCounts = (table: string): Error =>
  new Error(`The counters of ${table} do not match their blocks. Run ${typedCommand('check')}`);

/** Finds the block of the row at `offset`, the count of the block, and the number of its rows to skip. */
function locate(table: string, blocks: Counts, offset: number) {
  let skip = offset;
  for (const [block, count] of Object.entries(blocks)) {
    if (skip < count) return { block: Number(block), count, skip };
    skip -= count;
  }
  throw wrongCounts(table);
}

type Value = { readonly value: string | null };
type InRange = Value & { readonly from: number; readonly until: number };
type InCooperative = Value & { readonly cooperativeId: number };

function openCounts(db: Connection, { excluded, large, small, ofCooperatives }: CountedTable) {
  const isListed = excluded === undefined ? '' : `AND status <> '${excluded}'`;
  const isWanted = `(@value IS NULL OR status = @value) ${isListed}`;
  const inRange = `block >= @from AND block < @until AND ${isWanted}`;
  const inCooperative = currentSql(ofCooperatives, `cooperative_id = @cooperativeId AND ${isWanted}`);
  const perLarge = `one row per status and ${LARGE_BLOCK} ids`;
  const perCooperative = `${perLarge}, of one cooperative`;
  const perSmall = 'one row per status and small block of a large one';

  const sum = <Params extends Value>(rows: string, bound: string) => {
    const sql = `SELECT coalesce(sum(rows), 0) AS count FROM (${rows})`;
    const statement = db.prepare<[Params], { count: number }>(sql, bound);
    return (params: Params): number => (statement.get(params) as { count: number }).count;
  };
  // JSON, because the driver takes longer to return 16 rows than SQLite takes to compose the text.
  const list = <Params extends Value>(rows: string, bound: string) => {
    const sql = `SELECT json_group_object(block, rows) AS blocks
      FROM (SELECT block, sum(rows) AS rows FROM (${rows}) GROUP BY block)`;
    const statement = db.prepare<[Params], { blocks: string }>(sql, bound);
    return (params: Params): Counts => JSON.parse((statement.get(params) as { blocks: string }).blocks);
  };
  return {
    countAll: sum<Value>(currentSql(large, isWanted), perLarge),
    countInCooperative: sum<InCooperative>(inCooperative, perCooperative),
    listLarge: list<InRange>(currentSql(large, inRange), perLarge),
    listSmall: list<InRange>(currentSql(small, inRange), perSmall),
    listCooperative: list<InCooperative>(inCooperative, perCooperative),
  };
}

export function openCountIndex(db: Connection, counted: CountedTable) {
  const { table } = counted;
  const { countAll, countInCooperative, listLarge, listSmall, listCooperative } = openCounts(db, counted);

  function seekInside(value: string | null, { block, count, skip }: ReturnType<typeof locate>): SeekPosition {
    const firstId = block * LARGE_BLOCK;
    // The ids of a full block have no gaps.
    if (count === LARGE_BLOCK) return { firstId: firstId + skip, skip: 0 };
    const [from, until] = [firstId / SMALL_BLOCK, (firstId + LARGE_BLOCK) / SMALL_BLOCK];
    const inSmall = locate(table, listSmall({ value, from, until }), skip);
    const first = inSmall.block * SMALL_BLOCK;
    return inSmall.count === SMALL_BLOCK
      ? { firstId: first + inSmall.skip, skip: 0 }
      : { firstId: first, skip: inSmall.skip };
  }

  return {
    count({ cooperatives, value: status }: CountFilter): number {
      const value = status ?? null;
      if (cooperatives === undefined) return countAll({ value });
      return cooperatives.reduce((total, id) => total + countInCooperative({ cooperativeId: id, value }), 0);
    },

    /** @param offset less than the count, as in the functions below */
    seek(value: string | null, offset: number): SeekPosition {
      // Page 1 is the most frequent request and needs no counts.
      if (offset === 0) return FIRST;
      const blocks = listLarge({ value, from: 0, until: Number.MAX_SAFE_INTEGER });
      return seekInside(value, locate(table, blocks, offset));
    },

    seekInCooperative(cooperativeId: number, value: string | null, offset: number): SeekPosition {
      if (offset === 0) return FIRST;
      const located = locate(table, listCooperative({ cooperativeId, value }), offset);
      const { block, count, skip } = located;
      // An import gives consecutive ids to the rows of a cooperative. Small blocks have only counts of all
      // cooperatives, which can be used if all rows in the large block belong to this cooperative.
      const ofAll = listLarge({ value, from: block, until: block + 1 })[block];
      return ofAll === count ? seekInside(value, located) : { firstId: block * LARGE_BLOCK, skip };
    },

    /** @returns the position of the page, and the first id after the blocks that contain the page */
    seekInCooperatives(cooperatives: readonly number[], value: string | null, offset: number, limit: number) {
      const sums: Record<string, number> = {};
      for (const cooperativeId of cooperatives)
        for (const [block, rows] of Object.entries(listCooperative({ cooperativeId, value })))
          sums[block] = (sums[block] ?? 0) + rows;
      const { block: first, skip } = locate(table, sums, offset);
      let last = first;
      let rows = 0;
      for (const [block, count] of Object.entries(sums)) {
        if (Number(block) < first) continue;
        last = Number(block);
        rows += count;
        if (rows >= skip + limit) break;
      }
      return { firstId: first * LARGE_BLOCK, skip, untilId: (last + 1) * LARGE_BLOCK };
    },
  };
}

/** Returns the ids as a JSON array; null, for all cooperatives, if `ids` is undefined. */
export const toIdsParameter = (ids: readonly number[] | undefined): string | null =>
  ids === undefined ? null : JSON.stringify(ids);

export const isInCooperativesSql = (column: string): string =>
  `(@cooperatives IS NULL OR ${column} IN (SELECT value FROM json_each(@cooperatives)))`;

export interface ListRows {
  readonly table: string;
  readonly alias: string;
  /** `SELECT` and its columns. */
  readonly select: string;
  /** SQL after the table in FROM; may be empty. */
  readonly joins: string;
  readonly asTuples: boolean;
}

type OpenedList<Row, Filter> = (filter: Filter, request: PageRequest) => Page<Row>;

interface Window {
  readonly skip: number;
  readonly limit: number;
}
type WindowFrom = Window & SeekPosition;

const LIMIT = 'LIMIT @limit OFFSET @skip';
const ONE_PAGE = 'one page and less than one small block of rows before it';
const ONE_COOPERATIVE = 'one page and less than one large block of entries of the covering index before it';
const SOME_COOPERATIVES = 'one page, and less than two large blocks of entries of the covering index';

function openRows<Row>(db: Connection, { table, alias, select, joins, asTuples }: ListRows) {
  const prepare = <Params extends unknown[]>(sql: string, bound: string) =>
    (asTuples ? db.prepareTuples(sql, bound) : db.prepare(sql, bound)) as Statement<Params, Row>;
  return {
    /** Prepares a query for consecutive ids from `@firstId`, which SQLite reads in one scan. */
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
 * Opens a list of a counted table. The table needs an index on the status, and an index on cooperative and
 * status (such as `loans_cooperative_status`).
 * @param values all statuses that the list shows. The rows of a cooperative are merged from several ranges of
 *   the index, one for each status.
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
  const inCooperative = (value: string): string =>
    `SELECT id FROM ${table} INDEXED BY ${index}
     WHERE cooperative_id = @cooperativeId AND status = ${value} AND id >= @firstId`;
  const ofCooperativeAndValue = rows.withIds<WindowFrom & { cooperativeId: number; value: string }>(
    inCooperative('@value'),
    ONE_COOPERATIVE,
  );
  const ofCooperative = rows.withIds<WindowFrom & { cooperativeId: number }>(
    values.map((value) => inCooperative(`'${value}'`)).join(' UNION ALL '),
    ONE_COOPERATIVE,
  );

  // `cooperatives` and `values` are JSON arrays.
  const ofCooperatives = rows.withIds<WindowFrom & { untilId: number; cooperatives: string; values: string }>(
    `SELECT t.id AS id FROM json_each(@cooperatives) g CROSS JOIN json_each(@values) v
       CROSS JOIN ${table} t INDEXED BY ${index}
       ON t.cooperative_id = g.value AND t.status = v.value AND t.id >= @firstId AND t.id < @untilId`,
    SOME_COOPERATIVES,
  );

  function read({ cooperatives, value }: CountFilter, offset: number, limit: number): Row[] {
    const status = value ?? null;
    if (cooperatives === undefined) {
      const window = { ...counts.seek(status, offset), limit };
      return value === undefined ? all.all(window) : ofValue.all({ ...window, value });
    }
    const [cooperativeId] = cooperatives;
    if (cooperativeId === undefined || cooperatives.length > 1)
      return ofCooperatives.all({
        ...counts.seekInCooperatives(cooperatives, status, offset, limit),
        limit,
        cooperatives: JSON.stringify(cooperatives),
        values: JSON.stringify(value === undefined ? values : [value]),
      });
    const window = { ...counts.seekInCooperative(cooperativeId, status, offset), limit, cooperativeId };
    return value === undefined ? ofCooperative.all(window) : ofCooperativeAndValue.all({ ...window, value });
  }

  return (filter, request) => {
    const count = counts.count(filter);
    const offset = offsetOf(request);
    if (offset >= count) return { count, rows: [] };
    const page = read(filter, offset, request.pageSize);
    // Detects wrong counts even on page 1, which is found without counts of blocks.
    if (page.length !== Math.min(request.pageSize, count - offset)) throw wrongCounts(table);
    return { count, rows: page };
  };
}

/** Opens a list of few rows. Each page counts all rows. @param ids SELECT of all ids, without an order */
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

// A long result is read page by page, so that the connection can run other queries between two pages.

/** @param page returns up to `size` rows in order, beginning after the row `last` */
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

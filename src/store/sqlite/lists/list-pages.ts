/**
 * Pages of a list in order of id, with the count of all its rows: of a table that is counted, over all rows
 * or inside a group, with one value of the declared dimension or with any; or of the few rows that a filter
 * finds.
 */
import { offsetOf, type Page, type PageRequest } from '../../../domain/values/page.ts';
import type { Connection, Statement } from '../engine/connection.ts';
import type { CountedTable } from '../schema/counts.ts';
import { type CountFilter, openCountIndex, type RowsWanted } from './count-index.ts';
import { wrongCounts } from './count-seek.ts';

/** Ids of the groups of a list; undefined for all. */
export type Groups = readonly number[] | undefined;

/** The groups as a parameter of SQL: a JSON array; null for all. */
export const toGroupsParameter = (groups: Groups): string | null =>
  groups === undefined ? null : JSON.stringify(groups);

/** SQL of whether a row is in one of the groups of `@cooperatives`. */
export const isInGroupsSql = (column: string): string =>
  `(@cooperatives IS NULL OR ${column} IN (SELECT value FROM json_each(@cooperatives)))`;

/** What is read of the rows of a page. */
export interface ListRows {
  readonly table: string;
  /** Of the table, in the next two. */
  readonly alias: string;
  /** `SELECT` and its columns. */
  readonly select: string;
  /** What follows the table in FROM; empty for nothing. */
  readonly joins: string;
  readonly asTuples: boolean;
}

/** A page of a list, by what selects its rows. */
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

/** @returns what prepares the rows of a page of ids: those before the page are never read */
function openRows<Row>(db: Connection, { table, alias, select, joins, asTuples }: ListRows) {
  const prepare = <Params extends unknown[]>(sql: string, bound: string) =>
    (asTuples ? db.prepareTuples(sql, bound) : db.prepare(sql, bound)) as Statement<Params, Row>;
  return {
    /** Where the rows follow each other they need not be found by their ids. */
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
 * The table needs an index on the status, and one on cooperative and status: `loans_cooperative_status`.
 * @param values statuses, all that are listed: the rows of a cooperative are a merge of those of each
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
    // Page 1 is found without counts, so what was read is compared with them.
    if (found.length !== Math.min(request.pageSize, count - offset)) throw wrongCounts(table);
    return { count, rows: found };
  };
}

/**
 * A list of few rows, which are counted each time.
 * @param ids SELECT of the `id` of each, without an order
 * @param bound why they are few
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

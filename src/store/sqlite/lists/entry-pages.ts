/**
 * The ids of a page of loans or payments: over all of them, or inside a cooperative, with one status or with
 * any. Complete rows are then read for the page only.
 */
import type { PageRequest } from '../../../domain/page.ts';
import { offsetOf } from '../../../domain/page.ts';
import type { Connection } from '../connection/connection.ts';
import { type CountDeclaration, openCountIndex, wrongCounts } from './count-index.ts';

// Without the cast SQLite looks at the bound value when it plans, and plans again for every execution.
const LIMIT = 'LIMIT CAST(@limit AS INTEGER) OFFSET @skip';

const ONE_PAGE = 'one page and less than one small block before it';
const ONE_GROUP = 'one page and less than one large block of entries of the covering index before it';

export interface EntryFilter {
  readonly cooperativeId?: number | undefined;
  readonly status?: string | undefined;
}

export interface IdPage {
  readonly count: number;
  readonly ids: readonly number[];
}

interface Window {
  firstId: number;
  skip: number;
  limit: number;
}
type Id = readonly [number];

/** @param statuses all that there are: the rows of a cooperative are a merge of those of each */
export function openEntryPages(db: Connection, declaration: CountDeclaration, statuses: readonly string[]) {
  const { table, dimension, group } = declaration;
  const counts = openCountIndex(db, declaration);
  const all = db.prepareTuples<[Window], Id>(
    `SELECT id FROM ${table} WHERE id >= @firstId ORDER BY id ${LIMIT}`,
    ONE_PAGE,
  );
  const ofStatus = db.prepareTuples<[Window & { status: string }], Id>(
    `SELECT id FROM ${table} WHERE ${dimension} = @status AND id >= @firstId ORDER BY id ${LIMIT}`,
    ONE_PAGE,
  );
  const inGroup = (status: string): string =>
    `SELECT id FROM ${table} INDEXED BY ${table}_cooperative_status
     WHERE ${group} = @group AND ${dimension} = ${status} AND id >= @firstId`;
  const ofGroupAndStatus = db.prepareTuples<[Window & { group: number; status: string }], Id>(
    `${inGroup('@status')} ORDER BY id ${LIMIT}`,
    ONE_GROUP,
  );
  const ofGroup = db.prepareTuples<[Window & { group: number }], Id>(
    `${statuses.map((status) => inGroup(`'${status}'`)).join(' UNION ALL ')} ORDER BY id ${LIMIT}`,
    ONE_GROUP,
  );

  function read({ cooperativeId, status }: EntryFilter, offset: number, limit: number): Id[] {
    if (cooperativeId === undefined) {
      const window = { ...counts.seek(status, offset), limit };
      return status === undefined ? all.all(window) : ofStatus.all({ ...window, status });
    }
    const window = { ...counts.seekInGroup(cooperativeId, status, offset), limit, group: cooperativeId };
    return status === undefined ? ofGroup.all(window) : ofGroupAndStatus.all({ ...window, status });
  }

  return {
    counts,

    page(filter: EntryFilter, request: PageRequest): IdPage {
      const count = counts.count({ group: filter.cooperativeId, value: filter.status });
      const offset = offsetOf(request);
      if (offset >= count) return { count, ids: [] };
      const ids = read(filter, offset, request.pageSize).map(([id]) => id);
      // Page 1 is found without counts, so what was read is compared with them.
      if (ids.length !== Math.min(request.pageSize, count - offset)) throw wrongCounts(table);
      return { count, ids };
    },
  };
}

/** A page of rows of which every id was read, as those of one person are. */
export const pageOfIds = (ids: readonly Id[], request: PageRequest): IdPage => ({
  count: ids.length,
  ids: ids.slice(offsetOf(request), offsetOf(request) + request.pageSize).map(([id]) => id),
});

/**
 * The ids of a page of loans or payments: over all of them, or inside a cooperative, with one value of the
 * declared dimension or with any. Complete rows are then read for the page only.
 */
import type { PageRequest } from '../../../domain/values/page.ts';
import { offsetOf } from '../../../domain/values/page.ts';
import type { Connection } from '../engine/connection.ts';
import { type CountDeclaration, type CountFilter, openCountIndex, wrongCounts } from './count-index.ts';

const LIMIT = 'LIMIT @limit OFFSET @skip';

const ONE_PAGE = 'one page and less than one small block before it';
const ONE_GROUP = 'one page and less than one large block of entries of the covering index before it';

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

/**
 * The table needs an index on the dimension, and one on the group and the dimension that is named after both:
 * `loans_cooperative_status` for the group `cooperative_id` and the dimension `status`.
 * @param values of the dimension, all that there are: the rows of a group are a merge of those of each
 */
export function openEntryPages(db: Connection, declaration: CountDeclaration, values: readonly string[]) {
  const { table, dimension, group } = declaration;
  const counts = openCountIndex(db, declaration);
  const all = db.prepareTuples<[Window], Id>(
    `SELECT id FROM ${table} WHERE id >= @firstId ORDER BY id ${LIMIT}`,
    ONE_PAGE,
  );
  const ofValue = db.prepareTuples<[Window & { value: string }], Id>(
    `SELECT id FROM ${table} WHERE ${dimension} = @value AND id >= @firstId ORDER BY id ${LIMIT}`,
    ONE_PAGE,
  );
  const index = `${table}_${group.replace(/_id$/, '')}_${dimension}`;
  const inGroup = (value: string): string =>
    `SELECT id FROM ${table} INDEXED BY ${index}
     WHERE ${group} = @group AND ${dimension} = ${value} AND id >= @firstId`;
  const ofGroupAndValue = db.prepareTuples<[Window & { group: number; value: string }], Id>(
    `${inGroup('@value')} ORDER BY id ${LIMIT}`,
    ONE_GROUP,
  );
  const ofGroup = db.prepareTuples<[Window & { group: number }], Id>(
    `${values.map((value) => inGroup(`'${value}'`)).join(' UNION ALL ')} ORDER BY id ${LIMIT}`,
    ONE_GROUP,
  );

  function read({ group: within, value }: CountFilter, offset: number, limit: number): Id[] {
    if (within === undefined) {
      const window = { ...counts.seek(value, offset), limit };
      return value === undefined ? all.all(window) : ofValue.all({ ...window, value });
    }
    const window = { ...counts.seekInGroup(within, value, offset), limit, group: within };
    return value === undefined ? ofGroup.all(window) : ofGroupAndValue.all({ ...window, value });
  }

  return {
    counts,

    page(filter: CountFilter, request: PageRequest): IdPage {
      const count = counts.count(filter);
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

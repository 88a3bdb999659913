/** Cooperatives in SQLite. There are only a few thousand, so scanning and counting them is acceptable. */

import { isVisible, type Visible } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { FEW_BLOCKS } from '../../sqlite/counts.ts';
import { offsetOf, type Page, type PageRequest, refuseFields } from '../../values/errors.ts';
import { isSameIgnoringCase } from '../../values/text.ts';
import {
  COOPERATIVE_FIELDS,
  type Cooperative,
  type CooperativeFilter,
  type CooperativeValues,
} from '../cooperatives.ts';
import type { CooperativeStore } from '../registry-store.ts';
import { matchOfWords, orNothing } from './member-filters.ts';
import { openRowStore, type StoreDependencies } from './row-store.ts';
import { COOPERATIVE_ROW } from './rows.ts';

interface Filters {
  code: string | null;
  status: string | null;
  sector: string | null;
  /** JSON array of the stored spellings to list; null for all. */
  districts: string | null;
  /** JSON array of ids; null for all. */
  visible: string | null;
  /** Query of the full-text index of names. */
  match: string | null;
}

const MATCHES = `(@code IS NULL OR c.code = @code) AND (@status IS NULL OR c.status = @status)
  AND (@sector IS NULL OR c.sector = @sector)
  AND (@districts IS NULL OR c.district IN (SELECT value FROM json_each(@districts)))
  AND (@visible IS NULL OR c.id IN (SELECT value FROM json_each(@visible)))
  AND (@match IS NULL
    OR c.id IN (SELECT rowid FROM cooperative_names WHERE cooperative_names MATCH @match))`;
const FEW = 'a few thousand cooperatives';

/** @returns a function that gives a page of the matching cooperatives */
function openList(db: Connection) {
  const count = db.prepare<[Filters], { count: number }>(
    `SELECT count(*) AS count FROM cooperatives c WHERE ${MATCHES}`,
    FEW,
  );
  const selectPage = db.prepare<[Filters & { limit: number; offset: number }], Cooperative>(
    `SELECT ${COOPERATIVE_ROW} FROM cooperatives c WHERE ${MATCHES}
     ORDER BY c.id LIMIT @limit OFFSET @offset`,
    FEW,
  );
  const selectDistricts = db.prepare<[], { district: string }>(
    'SELECT DISTINCT district FROM cooperatives WHERE district IS NOT NULL',
    FEW,
  );

  /** SQLite ignores the case of ASCII letters only, so the stored spellings are matched here. */
  function toFilters({ code, status, sector, district, search }: CooperativeFilter, seen: Visible): Filters {
    const visible = seen === null ? null : JSON.stringify(seen);
    const match = search === undefined ? null : matchOfWords(search);
    const filters = { code: code ?? null, status: status ?? null, sector: sector ?? null, visible, match };
    if (district === undefined) return { ...filters, districts: null };
    const stored = selectDistricts.all().map((row) => row.district);
    const wanted = stored.filter((each) => isSameIgnoringCase(each, district));
    return { ...filters, districts: JSON.stringify(wanted) };
  }

  return function list(filter: CooperativeFilter, request: PageRequest, visible: Visible): Page<Cooperative> {
    const matches = toFilters(filter, visible);
    const window = { limit: request.pageSize, offset: offsetOf(request) };
    const read = () => ({
      count: (count.get(matches) as { count: number }).count,
      rows: selectPage.all({ ...matches, ...window }),
    });
    return orNothing(read, { count: 0, rows: [] });
  };
}

export function openCooperatives(
  db: Connection,
  { snapshot, cooperativeSummaries, responses }: StoreDependencies,
): (visible: Visible) => CooperativeStore {
  const selectOne = db.prepare<[number], Cooperative>(
    `SELECT ${COOPERATIVE_ROW} FROM cooperatives c WHERE c.id = ?`,
    FEW_BLOCKS,
  );
  const list = openList(db);
  const find = (id: number, visible: Visible) =>
    isVisible(visible, id) ? snapshot.read(() => selectOne.get(id)) : undefined;
  const rows = openRowStore<Cooperative, CooperativeValues>(db, {
    entity: 'cooperatives',
    fields: COOPERATIVE_FIELDS,
    find,
  });

  return (visible) => ({
    find: (id) => find(id, visible),
    conflicts: (values, exceptId) => snapshot.read(() => rows.conflicts(values, visible, exceptId)),

    list: (filter, request) => snapshot.read(() => list(filter, request, visible)),

    create: (values, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(rows.conflicts(values, visible));
        return selectOne.get(rows.insert(values, nowSeconds, actor)) as Cooperative;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () =>
        rows.update(
          id,
          visible,
          (stored) => ({ values: decide(stored), follow: cooperativeSummaries.invalidate }),
          nowSeconds,
          actor,
        ),
      ),
  });
}

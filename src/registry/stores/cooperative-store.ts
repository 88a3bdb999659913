/** Store of cooperatives. A registry has only a few thousand of them, so full scans are acceptable. */

import { isVisible, type Visible } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { FEW_BLOCKS } from '../../sqlite/counts.ts';
import { offsetOf, type Page, type PageRequest } from '../../values/errors.ts';
import { isSameIgnoringCase } from '../../values/text.ts';
import {
  COOPERATIVE_FIELDS,
  type Cooperative,
  type CooperativeFilter,
  type CooperativeValues,
} from '../cooperatives.ts';
import { matchOfWords, orNothing } from './name-index.ts';
import { openRowStore, type StoreDependencies } from './row-store.ts';
import { COOPERATIVE_ROW } from './rows.ts';

const MATCHES = `(@code IS NULL OR c.code = @code) AND (@status IS NULL OR c.status = @status)
  AND (@sector IS NULL OR c.sector = @sector)
  AND (@districts IS NULL OR c.district IN (SELECT value FROM json_each(@districts)))
  AND (@visible IS NULL OR c.id IN (SELECT value FROM json_each(@visible)))
  AND (@match IS NULL
    OR c.id IN (SELECT rowid FROM cooperative_names WHERE cooperative_names MATCH @match))`;
const FEW = 'a few thousand cooperatives';

function openList(db: Connection) {
  const count = db.prepare<[object], { count: number }>(
    `SELECT count(*) AS count FROM cooperatives c WHERE ${MATCHES}`,
    FEW,
  );
  const selectPage = db.prepare<[object], Cooperative>(
    `SELECT ${COOPERATIVE_ROW} FROM cooperatives c WHERE ${MATCHES}
     ORDER BY c.id LIMIT @limit OFFSET @offset`,
    FEW,
  );
  const selectDistricts = db.prepare<[], { district: string }>(
    'SELECT DISTINCT district FROM cooperatives WHERE district IS NOT NULL',
    FEW,
  );

  /** Compares districts here, because SQL ignores the case of ASCII letters only. */
  const spellingsOf = (name: string): string[] =>
    selectDistricts.all().flatMap(({ district }) => (isSameIgnoringCase(district, name) ? [district] : []));

  return (filter: CooperativeFilter, request: PageRequest, visible: Visible): Page<Cooperative> => {
    const { code = null, status = null, sector = null, district, search } = filter;
    const matches = {
      code,
      status,
      sector,
      districts: district === undefined ? null : JSON.stringify(spellingsOf(district)),
      visible: visible && JSON.stringify(visible),
      match: search === undefined ? null : matchOfWords(search),
    };
    const window = { limit: request.pageSize, offset: offsetOf(request) };
    const read = () => ({
      count: (count.get(matches) as { count: number }).count,
      rows: selectPage.all({ ...matches, ...window }),
    });
    return orNothing(read, { count: 0, rows: [] });
  };
}

export function openCooperatives(db: Connection, dependencies: StoreDependencies) {
  const { snapshot, cooperativeSummaries } = dependencies;
  const selectOne = db.prepare<[number], Cooperative>(
    `SELECT ${COOPERATIVE_ROW} FROM cooperatives c WHERE c.id = ?`,
    FEW_BLOCKS,
  );
  const list = openList(db);
  const rows = openRowStore<Cooperative, CooperativeValues>(db, dependencies, {
    entity: 'cooperatives',
    fields: COOPERATIVE_FIELDS,
    find: (id, visible) => (isVisible(visible, id) ? selectOne.get(id) : undefined),
    follow: cooperativeSummaries.invalidate,
  });
  return (visible: Visible) => ({
    ...rows.narrowedTo(visible),
    list: (filter: CooperativeFilter, request: PageRequest) =>
      snapshot.read(() => list(filter, request, visible)),
  });
}

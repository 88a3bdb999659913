/** Cooperatives in SQLite. There are a few thousand of them, so their list may be scanned and counted. */
import type {
  Cooperative,
  CooperativeFilter,
  CooperativeStatus,
  CooperativeValues,
  Sector,
} from '../../../domain/membership/cooperatives.ts';
import { FieldErrorList, type FieldMessages, notFound, refuseFields } from '../../../domain/values/errors.ts';
import { offsetOf, type Page, type PageRequest } from '../../../domain/values/page.ts';
import { isSameIgnoringCase } from '../../../domain/values/text.ts';
import type { CooperativeStore } from '../../ports/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { openChangeRecorder } from '../journal/recorder.ts';
import { newIdSql } from '../journal/removed-ids.ts';
import type { StoreDependencies } from './dependencies.ts';

interface CooperativeRow {
  id: number;
  code: string;
  name: string;
  sector: Sector | null;
  province: string | null;
  district: string | null;
  registration_date: string | null;
  status: CooperativeStatus;
  members_count: number;
  created_at: number;
  updated_at: number;
}

interface Filters {
  code: string | null;
  status: string | null;
  sector: string | null;
  /** JSON array of the spellings to list. */
  districts: string | null;
}
/** In the order of `Values`. */
const COLUMNS = ['code', 'name', 'sector', 'province', 'district', 'registration_date', 'status'];
type Values = [string, string, string | null, string | null, string | null, string | null, string];

const ROW = `c.id, c.code, c.name, c.sector, c.province, c.district, c.registration_date, c.status,
  coalesce((SELECT members FROM member_counts WHERE cooperative_id = c.id AND status = 'active'), 0)
    AS members_count,
  c.created_at, c.updated_at`;
const MATCHES = `(@code IS NULL OR c.code = @code) AND (@status IS NULL OR c.status = @status)
  AND (@sector IS NULL OR c.sector = @sector)
  AND (@districts IS NULL OR c.district IN (SELECT value FROM json_each(@districts)))`;
const FEW = 'a few thousand cooperatives';

/** @returns what gives a page of the cooperatives that match */
function openList(db: Connection) {
  const count = db.prepare<[Filters], { count: number }>(
    `SELECT count(*) AS count FROM cooperatives c WHERE ${MATCHES}`,
    FEW,
  );
  const selectPage = db.prepare<[Filters & { limit: number; offset: number }], CooperativeRow>(
    `SELECT ${ROW} FROM cooperatives c WHERE ${MATCHES}
     ORDER BY c.id LIMIT CAST(@limit AS INTEGER) OFFSET @offset`,
    FEW,
  );
  const selectDistricts = db.prepare<[], { district: string }>(
    'SELECT DISTINCT district FROM cooperatives WHERE district IS NOT NULL',
    FEW,
  );

  /** SQLite ignores the case of ASCII letters only, so it is given the spellings that are stored. */
  function toFilters({ code, status, sector, district }: CooperativeFilter): Filters {
    const filters = { code: code ?? null, status: status ?? null, sector: sector ?? null };
    if (district === undefined) return { ...filters, districts: null };
    const stored = selectDistricts.all().map((row) => row.district);
    const wanted = stored.filter((each) => isSameIgnoringCase(each, district));
    return { ...filters, districts: JSON.stringify(wanted) };
  }

  return function list(filter: CooperativeFilter, request: PageRequest): Page<Cooperative> {
    const matches = toFilters(filter);
    const rows = selectPage.all({ ...matches, limit: request.pageSize, offset: offsetOf(request) });
    return { count: (count.get(matches) as { count: number }).count, rows: rows.map(toCooperative) };
  };
}

export function openCooperatives(
  db: Connection,
  { snapshot, cooperativeSummaries, responses }: StoreDependencies,
): CooperativeStore {
  const selectOne = db.prepare<[number], CooperativeRow>(`SELECT ${ROW} FROM cooperatives c WHERE c.id = ?`);
  const selectIdByCode = db.prepare<[string], { id: number }>('SELECT id FROM cooperatives WHERE code = ?');
  const insert = db.prepare<[...Values, createdAt: number, updatedAt: number]>(
    `INSERT INTO cooperatives (id, ${COLUMNS.join(', ')}, created_at, updated_at)
     VALUES (${newIdSql('cooperatives')}, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const replace = db.prepare<[...Values, updatedAt: number, id: number]>(
    `UPDATE cooperatives SET ${COLUMNS.map((name) => `${name} = ?`).join(', ')}, updated_at = ?
     WHERE id = ?`,
  );
  const list = openList(db);
  const history = openChangeRecorder(db, 'cooperatives');

  function find(id: number): Cooperative | undefined {
    const row = snapshot.read(() => selectOne.get(id));
    return row && toCooperative(row);
  }

  function conflicts(values: Partial<CooperativeValues>, exceptId?: number): FieldMessages {
    const { code } = values;
    const faults = new FieldErrorList();
    const holder = code === undefined ? undefined : snapshot.read(() => selectIdByCode.get(code));
    if (holder !== undefined && holder.id !== exceptId) faults.add('code', 'This field must be unique.');
    return faults.fields;
  }

  return {
    find,
    conflicts,

    list: (filter, request) => snapshot.read(() => list(filter, request)),

    create: (values, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(conflicts(values));
        const { lastInsertRowid } = insert.run(...toColumns(values), nowSeconds, nowSeconds);
        const id = Number(lastInsertRowid);
        history.created({ id, cooperativeId: id }, nowSeconds, actor);
        return find(id) as Cooperative;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () => {
        const stored = find(id);
        if (stored === undefined) throw notFound();
        const values = decide(stored);
        refuseFields(conflicts(values, id));
        const columns = toColumns(values);
        const before = toColumns(stored);
        if (before.every((column, i) => column === columns[i])) return stored;
        replace.run(...columns, nowSeconds, id);
        const row = { id, cooperativeId: id };
        history.changed(row, { fields: COLUMNS, old: before, new: columns }, nowSeconds, actor);
        cooperativeSummaries.invalidate();
        return find(id) as Cooperative;
      }),
  };
}

const toColumns = (values: CooperativeValues): Values => [
  values.code,
  values.name,
  values.sector,
  values.province,
  values.district,
  values.registrationDate,
  values.status,
];

function toCooperative(row: CooperativeRow): Cooperative {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    sector: row.sector,
    province: row.province,
    district: row.district,
    registrationDate: row.registration_date,
    status: row.status,
    membersCount: row.members_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** What the registry holds, for commands: read from a connection of its own. */
import type { CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import { MOST_FOUND } from '../../../domain/values/search-words.ts';
import type {
  FoundMember,
  HeldDataStore,
  MemberName,
  NamedMember,
} from '../../contract/journal/held-data.ts';
import { findContradictions } from '../duplicates/find-contradictions.ts';
import { findDuplicates } from '../duplicates/find-duplicates.ts';
import type { Connection } from '../engine/connection.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { currentNumberSql, mergedByCodeSql } from '../identity/former-keys.ts';
import { letOthersWrite } from '../read-model/refresh.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { REGISTRY_SCHEMA } from '../schema/migrations/registry.ts';
import { memberSql, tableOf } from '../schema/tables.ts';
import { indexLeftNames } from '../search/index-names.ts';
import { openMemberSearch } from '../search/member-search.ts';
import { findSimilar } from '../search/similar-names.ts';
import { readEntries } from './entry-rows.ts';
import { listLateLoans, listRecorded, listWithoutDelivery } from './looked-after.ts';
import { findMembership, findPerson } from './person.ts';
import { findNumbers, findTraces, listNumbers } from './traces.ts';

const FOUND = `SELECT id FROM main.members WHERE id = @id
  UNION SELECT id FROM main.members WHERE member_code = @memberCode
  UNION SELECT id FROM main.members WHERE identity_card = ${currentNumberSql('@identityCard')}`;
const FOUND_BY_FORMER_CODE = `SELECT DISTINCT into_id AS id FROM (${mergedByCodeSql('@memberCode')})`;
/** One seek in each cooperative and table. */
const FOUND_BY_REFERENCE = (['production', 'savings', 'loans', 'payments'] as const)
  .map(
    (entity) => `UNION SELECT ${memberSql(entity, 'e')} FROM main.cooperatives o
      CROSS JOIN main.${tableOf(entity).table} e ON e.cooperative_id = o.id AND e.reference = @reference`,
  )
  .join(' ');

export function findMembers(db: Connection, { isTyped, ...name }: MemberName): FoundMember[] {
  const { memberCode, reference } = name;
  const by = `${FOUND} ${reference === undefined ? '' : FOUND_BY_REFERENCE}`;
  const found = readMembers(db, by, name);
  if (isTyped !== true || found.length > 0) return found;
  const upper = {
    ...name,
    ...(memberCode !== undefined && { memberCode: memberCode.toUpperCase() }),
    ...(reference !== undefined && { reference: reference.toUpperCase() }),
  };
  // Last the code of a member who was merged, as old papers and files have it.
  for (const [ids, given] of [
    [by, upper],
    [FOUND_BY_FORMER_CODE, name],
    [FOUND_BY_FORMER_CODE, upper],
  ] as const) {
    const others = readMembers(db, ids, given);
    if (others.length > 0) return others;
  }
  return [];
}

/** @param ids SELECT of them */
const readMembers = (db: Connection, ids: string, name: MemberName): FoundMember[] =>
  db.raw
    .prepare(
      `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode, m.full_name AS fullName
       FROM (${ids}) f CROSS JOIN main.members m ON m.id = f.id
       CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
       WHERE c.code = coalesce(@cooperativeCode, c.code) AND m.status <> '${ERASED_STATUS}' ORDER BY m.id`,
    )
    .all({ id: null, memberCode: null, identityCard: null, cooperativeCode: null, ...name }) as FoundMember[];

export function searchMembers(db: Connection, search: readonly string[]): NamedMember[] {
  indexLeftNames(db, { pause: letOthersWrite });
  const request = { page: 1, pageSize: MOST_FOUND };
  const { rows } = openMemberSearch(db)({ filter: { search }, request, visible: null });
  return rows.map(({ id, json, cooperative }) => {
    const { member_code: memberCode, full_name: fullName, status } = JSON.parse(json);
    return { id, cooperativeCode: cooperative.code, memberCode, fullName, status };
  });
}

const PRODUCTS = `SELECT DISTINCT product FROM main.production_entries
  INDEXED BY production_entries_reference WHERE cooperative_id = ? AND product IS NOT NULL ORDER BY 1`;

const HELD_NUMBERS = `SELECT value FROM json_each(?)
  WHERE EXISTS (SELECT 1 FROM main.members WHERE identity_card = value) ORDER BY 1`;

/** @throws StorageError `unusable` when there is no registry */
export function openHeldData(databaseFile: string): HeldDataStore {
  const db = openDatabase(databaseFile, { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  return {
    listCooperatives: () =>
      db.rows<CooperativeSummary>('SELECT id, code, name FROM cooperatives ORDER BY code'),
    listPlaces() {
      const valuesOf = (name: 'district' | 'province') =>
        db.values<string>(`SELECT DISTINCT ${name} FROM cooperatives WHERE ${name} IS NOT NULL ORDER BY 1`);
      return { district: valuesOf('district'), province: valuesOf('province') };
    },
    listProducts: (cooperativeId) => db.values<string>(PRODUCTS, [cooperativeId]),
    findPerson: (identityCard) => db.transaction.deferred(() => findPerson(db, identityCard)),
    findTraces: (identityCard) => db.transaction.deferred(() => findTraces(db, identityCard)),
    listNumbers: () => listNumbers(db),
    findNumbers: (memberIds) => findNumbers(db, memberIds),
    findMembers: (name) => findMembers(db, name),
    searchMembers: (words) => searchMembers(db, words),
    listSimilar(words, most) {
      indexLeftNames(db, { pause: letOthersWrite });
      return db.transaction.deferred(() => findSimilar(db, words, most));
    },
    listWithoutDelivery: (...given) => listWithoutDelivery(db, ...given),
    listLateLoans: (...given) => listLateLoans(db, ...given),
    listRecorded: (...given) => listRecorded(db, ...given),
    listHeldNumbers: (identityCards) => db.values<string>(HELD_NUMBERS, [JSON.stringify(identityCards)]),
    findMembership: (memberId) => db.transaction.deferred(() => findMembership(db, memberId)),
    listEntries: (kind, selection) => readEntries(db, kind, selection),
    findDuplicates: (cooperativeCode) => findDuplicates(db, cooperativeCode),
    findContradictions: (cooperativeCode) => findContradictions(db, cooperativeCode),
    close: () => db.close(),
  };
}

/** Searches members by words of their names, and counts matches up to a limit. */

import { visibleCooperatives } from '../access/api-keys.ts';
import type { ListedMember, MemberSearch } from '../registry/members.ts';
import type { Search } from '../registry/name-search.ts';
import type { NamedMember } from '../registry/stored/stored-data-types.ts';
import { LISTED_MEMBERS, openFewMembers } from '../registry/stores/member-store.ts';
import {
  FIRST_UNINDEXED,
  hitsSql,
  indexLeftNames,
  matchOf,
  matchOfSpellings,
  matchOfWords,
  openNewNames,
  orNothing,
} from '../registry/stores/name-index.ts';
import { letOthersWrite } from '../registry/stores/read-model.ts';
import { LISTED_ROW, type ListedRow } from '../registry/stores/rows.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import type { Storage } from '../sqlite/storage.ts';
import { offsetOf, type Page, type PageRequest, RegistryError } from '../values/errors.ts';
import { MOST_FOUND, mayHaveTypo, withOneTypo } from '../values/search-words-and-typos.ts';

const CACHED_COUNTS = 100;
const RETRY_AFTER_SECONDS = 5;

type FoundRow = readonly [...row: ListedRow, code: string, name: string];
const SELECT = `SELECT ${LISTED_ROW}, c.code, c.name`;
const COOPERATIVE = 'CROSS JOIN cooperatives c ON c.id = m.cooperative_id';
const HAS_NAME = `EXISTS (${hitsSql('1', 'AND rowid = m.id')})`;

const toFound = ([id, json, cooperativeId, registrationDate, code, name]: FoundRow): ListedMember => ({
  id,
  json,
  cooperative: { id: cooperativeId, code, name },
  registrationDate,
});

/** @returns a function that throws RegistryError `unavailable` if names are missing from the index */
export function openMemberSearch(db: Connection): (search: MemberSearch) => Page<ListedMember> {
  const readNewNames = openNewNames(db);
  const selectUnindexed = db.prepare<[], object>(FIRST_UNINDEXED);
  const selectRows = db.prepareTuples<[string], FoundRow>(
    `${SELECT} FROM json_each(?) page CROSS JOIN members m ON m.id = page.value ${COOPERATIVE}`,
    'one page',
  );
  const listFew = openFewMembers<FoundRow>(
    db,
    { ...LISTED_MEMBERS, select: SELECT, joins: COOPERATIVE },
    HAS_NAME,
  );
  const idsOf = openIds(db);

  function read({ filter, request, visible }: MemberSearch): Page<FoundRow> {
    if (selectUnindexed.get() !== undefined)
      throw new RegistryError('unavailable', 'The names of a large import are being indexed. Try again.', {
        reason: 'names_indexing',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    readNewNames();
    const cooperatives = visibleCooperatives(visible, filter.cooperativeId);
    if (cooperatives?.length === 0) return { count: 0, rows: [] };
    const few = listFew(filter, cooperatives, request, matchOfWords(filter.search));
    if (few !== undefined) return few;
    const { count, ids } = idsOf(matchOf(filter.search, cooperatives, filter.status), request);
    return { count, rows: selectRows.all(JSON.stringify(ids)) };
  }

  return (search) =>
    db.transaction.deferred(() => {
      const { count, rows } = orNothing(() => read(search), { count: 0, rows: [] });
      return { count, rows: rows.map(toFound) };
    });
}

/** For other pages of the same search, the number of all matches is cached until the next write. */
function openIds(db: Connection) {
  const version = db.prepare<[], { data_version: number }>('PRAGMA data_version');
  const selectIds = db.prepareTuples<[{ match: string; limit: number; from: number }], readonly [id: number]>(
    `${hitsSql('rowid')} ORDER BY rowid LIMIT @limit OFFSET @from`,
    'up to the limit, in order of id; reading past those that lack another word is why it has a thread',
  );
  const count = db.prepare<[{ match: string }], { count: number }>(
    `SELECT count(*) AS count FROM (${hitsSql('rowid')} ORDER BY rowid LIMIT ${MOST_FOUND})`,
    'up to the limit, as above',
  );
  const counts = new Map<string, number>();
  let countedVersion = -1;

  function countOf(match: string): number {
    const current = version.get()?.data_version ?? -1;
    if (current !== countedVersion) counts.clear();
    countedVersion = current;
    const cached = counts.get(match);
    if (cached !== undefined) return cached;
    const counted = (count.get({ match }) as { count: number }).count;
    const [oldest] = counts.keys();
    if (oldest !== undefined && counts.size === CACHED_COUNTS) counts.delete(oldest);
    counts.set(match, counted);
    return counted;
  }

  return (match: string, request: PageRequest) => {
    const from = offsetOf(request);
    const limit = Math.max(0, Math.min(request.pageSize, MOST_FOUND - from));
    const ids = selectIds.all({ match, limit, from }).map(([id]) => id);
    const isLast = ids.length < limit && (ids.length > 0 || from === 0);
    return { ids, count: isLast ? from + ids.length : countOf(match) };
  };
}

/**
 * @param words from `parseSearch`
 * @returns ids of members for whom each of `words` is the beginning of a name; one word may have one typo
 */
export function findSimilar(db: Connection, words: readonly string[], most: number): number[] {
  openNewNames(db)();
  const sql = `${hitsSql('rowid')} ORDER BY rowid LIMIT @most`;
  const ids = words.flatMap((word, place) => {
    if (!mayHaveTypo(word)) return [];
    const match = matchOfSpellings(words.map((other) => [other]).with(place, withOneTypo(word)));
    return orNothing(() => db.values<number>(sql, { match, most }), []);
  });
  return [...new Set(ids)].slice(0, most);
}

export function searchMembers(db: Connection, search: readonly string[]): NamedMember[] {
  indexLeftNames(db, { pause: letOthersWrite });
  const request = { page: 1, pageSize: MOST_FOUND };
  const { rows } = openMemberSearch(db)({ filter: { search }, request, visible: null });
  return rows.map(({ id, json, cooperative }) => {
    const { member_code: memberCode, full_name: fullName, status } = JSON.parse(json);
    return { id, cooperativeCode: cooperative.code, memberCode, fullName, status };
  });
}

function openNameSearch(storage: Storage) {
  const db = openDatabase(storage.pathForOpening(), { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA });
  return {
    searchMembers: (words: readonly string[]) => searchMembers(db, words),
    listSimilar(words: readonly string[], most: number) {
      indexLeftNames(db, { pause: letOthersWrite });
      return db.transaction.deferred(() => findSimilar(db, words, most));
    },
    close: () => db.close(),
  };
}

const MOST_WAITING = 32;

function openSearching(file: string) {
  const thread = new TaskThread<{ members: (search: MemberSearch) => Page<ListedMember> }>({
    module: moduleBeside(import.meta.url, 'search-thread'),
    setup: file,
    maxWaiting: MOST_WAITING,
  });
  return {
    members: (search: MemberSearch) => thread.run('members', search),
    waiting: () => thread.underWay,
    close: () => thread.close(),
  };
}

export const SEARCH: Search = { openSearching, openNameSearch };

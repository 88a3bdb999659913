/**
 * Members by words of their names. What a search finds, up to a limit, is kept until somebody writes, so that
 * its other pages cost nothing.
 */
import { type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import type { MemberFilter } from '../../../domain/membership/members.ts';
import { RegistryError } from '../../../domain/values/errors.ts';
import { offsetOf, type Page, type PageRequest } from '../../../domain/values/page.ts';
import { MOST_FOUND } from '../../../domain/values/search-words.ts';
import type { ListedMember } from '../../ports/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { openFewMembers } from '../lists/few-members.ts';
import { LISTED_MEMBERS } from '../lists/member-lists.ts';
import { LISTED_ROW, type ListedRow, toListedMember } from '../rows/member-rows.ts';
import { FIRST_UNINDEXED } from './index-names.ts';
import { matchOfWords, openMatch, orNothing } from './match.ts';

const KEPT_SEARCHES = 20;
const RETRY_AFTER_SECONDS = 5;

type SearchFilter = MemberFilter & { readonly search: readonly string[] };

export interface MemberSearch {
  readonly filter: SearchFilter;
  readonly request: PageRequest;
  readonly visible: Visible;
}

export const isSearch = (filter: MemberFilter): filter is SearchFilter => filter.search !== undefined;

type FoundRow = readonly [...row: ListedRow, code: string, name: string];
const SELECT = `SELECT ${LISTED_ROW}, c.code, c.name`;
const COOPERATIVE = 'CROSS JOIN cooperatives c ON c.id = m.cooperative_id';
const HAS_NAME = 'EXISTS (SELECT 1 FROM member_names WHERE member_names MATCH @match AND rowid = m.id)';

const prepareStatements = (db: Connection) => ({
  version: db.prepare<[], { data_version: number }>('PRAGMA data_version'),
  unindexed: db.prepare<[], object>(FIRST_UNINDEXED),
  selectIds: db.prepareTuples<[string], readonly [ids: string]>(
    `SELECT json_group_array(id) FROM (SELECT rowid AS id FROM member_names WHERE member_names MATCH ?
     ORDER BY rowid LIMIT ${MOST_FOUND})`,
    'up to the limit, in order of id; reading past those that lack another word is why it has a thread',
  ),
  selectRows: db.prepareTuples<[string], FoundRow>(
    `${SELECT} FROM json_each(?) page CROSS JOIN members m ON m.id = page.value ${COOPERATIVE}`,
    'one page',
  ),
});

const toFound = (row: FoundRow): ListedMember => {
  const [id, json, cooperativeId, registrationDate, code, name] = row;
  return toListedMember([id, json, cooperativeId, registrationDate], { id: cooperativeId, code, name });
};

/**
 * @returns what gives a page of members with their count, from one snapshot; it throws `unavailable` as long
 * as names are missing in the index
 */
export function openMemberSearch(db: Connection): (asked: MemberSearch) => Page<ListedMember> {
  const { unindexed, selectRows, ...statements } = prepareStatements(db);
  const matchOf = openMatch(db);
  const listFew = openFewMembers<FoundRow>(
    db,
    { ...LISTED_MEMBERS, select: SELECT, joins: COOPERATIVE },
    HAS_NAME,
  );
  const idsOf = openIds(statements);

  function read({ filter, request, visible }: MemberSearch): Page<FoundRow> {
    if (unindexed.get() !== undefined) throw missingNames();
    const groups = visibleGroups(visible, filter.cooperativeId);
    if (groups?.length === 0) return { count: 0, rows: [] };
    const few = listFew(filter, groups, request, matchOfWords(filter.search));
    if (few !== undefined) return few;
    const ids = idsOf(matchOf(filter.search, groups, filter.status));
    const from = offsetOf(request);
    const page = ids.slice(from, from + request.pageSize);
    return { count: ids.length, rows: selectRows.all(JSON.stringify(page)) };
  }

  return (asked) =>
    db.transaction.deferred(() => {
      const { count, rows } = orNothing(() => read(asked), { count: 0, rows: [] });
      return { count, rows: rows.map(toFound) };
    });
}

/** @returns what gives the ids that match, in order */
function openIds({
  version,
  selectIds,
}: Pick<ReturnType<typeof prepareStatements>, 'version' | 'selectIds'>) {
  const kept = new Map<string, readonly number[]>();
  let seenVersion = -1;
  return (match: string): readonly number[] => {
    const current = version.get()?.data_version ?? -1;
    if (current !== seenVersion) kept.clear();
    seenVersion = current;
    const known = kept.get(match);
    if (known !== undefined) return known;
    const ids = JSON.parse(selectIds.get(match)?.[0] ?? '[]') as number[];
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size === KEPT_SEARCHES) kept.delete(oldest);
    kept.set(match, ids);
    return ids;
  };
}

const missingNames = (): RegistryError =>
  new RegistryError('unavailable', 'The names of a large import are being indexed. Try again.', {
    reason: 'names_indexing',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

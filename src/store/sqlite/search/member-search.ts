/**
 * Members by words of their names, counted up to a limit. The count of a search is kept until somebody
 * writes, for its other pages; where a page is not full, nothing needs to be counted.
 */
import { type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import type { MemberFilter } from '../../../domain/membership/members.ts';
import { RegistryError } from '../../../domain/values/errors.ts';
import { offsetOf, type Page, type PageRequest } from '../../../domain/values/page.ts';
import { MOST_FOUND } from '../../../domain/values/search-words.ts';
import type { ListedMember } from '../../contract/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { openFewMembers } from '../lists/few-members.ts';
import { LISTED_MEMBERS } from '../lists/member-lists.ts';
import { LISTED_ROW, type ListedRow, toListedMember } from '../rows/rows.ts';
import { FIRST_UNINDEXED } from './index-names.ts';
import { matchOf, matchOfWords, orNothing } from './match.ts';
import { hitsSql, openNewNames } from './new-names.ts';

const KEPT_COUNTS = 100;
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
const HAS_NAME = `EXISTS (${hitsSql('1', 'AND rowid = m.id')})`;

const prepareStatements = (db: Connection) => ({
  version: db.prepare<[], { data_version: number }>('PRAGMA data_version'),
  unindexed: db.prepare<[], object>(FIRST_UNINDEXED),
  selectIds: db.prepareTuples<[{ match: string; limit: number; from: number }], readonly [id: number]>(
    `${hitsSql('rowid')} ORDER BY rowid LIMIT @limit OFFSET @from`,
    'up to the limit, in order of id; reading past those that lack another word is why it has a thread',
  ),
  count: db.prepare<[{ match: string }], { count: number }>(
    `SELECT count(*) AS count FROM (${hitsSql('rowid')} ORDER BY rowid LIMIT ${MOST_FOUND})`,
    'up to the limit, as above',
  ),
  selectRows: db.prepareTuples<[string], FoundRow>(
    `${SELECT} FROM json_each(?) page CROSS JOIN members m ON m.id = page.value ${COOPERATIVE}`,
    'one page',
  ),
});

type Statements = ReturnType<typeof prepareStatements>;

const toFound = (row: FoundRow): ListedMember => {
  const [id, json, cooperativeId, registrationDate, code, name] = row;
  return toListedMember([id, json, cooperativeId, registrationDate], { id: cooperativeId, code, name });
};

/**
 * @returns what gives a page of members with their count, from one snapshot; it throws `unavailable` as long
 * as names are missing in the index
 */
export function openMemberSearch(db: Connection): (asked: MemberSearch) => Page<ListedMember> {
  const readNewNames = openNewNames(db);
  const { unindexed, selectRows, ...statements } = prepareStatements(db);
  const listFew = openFewMembers<FoundRow>(
    db,
    { ...LISTED_MEMBERS, select: SELECT, joins: COOPERATIVE },
    HAS_NAME,
  );
  const find = openIds(statements);

  function read({ filter, request, visible }: MemberSearch): Page<FoundRow> {
    if (unindexed.get() !== undefined) throw missingNames();
    readNewNames();
    const groups = visibleGroups(visible, filter.cooperativeId);
    if (groups?.length === 0) return { count: 0, rows: [] };
    const few = listFew(filter, groups, request, matchOfWords(filter.search));
    if (few !== undefined) return few;
    const { count, ids } = find(matchOf(filter.search, groups, filter.status), request);
    return { count, rows: selectRows.all(JSON.stringify(ids)) };
  }

  return (asked) =>
    db.transaction.deferred(() => {
      const { count, rows } = orNothing(() => read(asked), { count: 0, rows: [] });
      return { count, rows: rows.map(toFound) };
    });
}

/** @returns what gives the ids of a page, in order, with the count of all that match */
function openIds({ version, selectIds, count }: Omit<Statements, 'unindexed' | 'selectRows'>) {
  const kept = new Map<string, number>();
  let seenVersion = -1;

  function countOf(match: string): number {
    const current = version.get()?.data_version ?? -1;
    if (current !== seenVersion) kept.clear();
    seenVersion = current;
    const known = kept.get(match) ?? (count.get({ match }) as { count: number }).count;
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size === KEPT_COUNTS) kept.delete(oldest);
    kept.set(match, known);
    return known;
  }

  return (match: string, request: PageRequest) => {
    const from = offsetOf(request);
    const limit = Math.max(0, Math.min(request.pageSize, MOST_FOUND - from));
    const ids = selectIds.all({ match, limit, from }).map(([id]) => id);
    const isLast = ids.length < limit && (ids.length > 0 || from === 0);
    return { ids, count: isLast ? from + ids.length : countOf(match) };
  };
}

const missingNames = (): RegistryError =>
  new RegistryError('unavailable', 'The names of a large import are being indexed. Try again.', {
    reason: 'names_indexing',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

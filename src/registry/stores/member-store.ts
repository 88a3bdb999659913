/** Store of members (one row per person and cooperative), and the filters of lists of members. */

import { type Visible, visibleCooperatives } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ERASED_STATUS, MEMBER_COUNTS } from '../../sqlite/counts.ts';
import {
  type CooperativeIds,
  isInCooperativesSql,
  type ListRows,
  openCountedList,
  openFewRows,
  toIdsParameter,
} from '../../sqlite/list-pages.ts';
import {
  type Awaitable,
  type Page,
  type PageRequest,
  RegistryError,
  refuseFields,
} from '../../values/errors.ts';
import {
  isSearch,
  type ListedMember,
  MEMBER_FIELDS,
  MEMBER_STATUSES,
  type Member,
  type MemberFilter,
  type MemberSearch,
  type MemberValues,
} from '../members.ts';
import { isErased } from '../stored/erasures.ts';
import { currentNumberSql, MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../stored/former-ids.ts';
import { byNewestRegistration, type Membership } from './consolidate.ts';
import { openReadModel, type StoredColumns } from './read-model.ts';
import { ifVisible, openRowStore, type StoreDependencies } from './row-store.ts';
import {
  type CooperativeSummaries,
  LISTED_ROW,
  type ListedRow,
  LOOKUP_ROW,
  type LookupRow,
  MEMBER_ROW,
  PERSON,
} from './rows.ts';

const isOrAny = (column: string, parameter: string): string =>
  `(@${parameter} IS NULL OR m.${column} = @${parameter})`;
const IS_PERSON = `m.identity_card = ${currentNumberSql('@identityCard')}`;

/** SQL condition of all filters on the member `m`. A null parameter matches every member. */
const ALL_FILTERS = [
  isOrAny('member_code', 'memberCode'),
  isOrAny('mobile', 'mobile'),
  isOrAny('status', 'status'),
  isInCooperativesSql('m.cooperative_id'),
].join(' AND ');

/**
 * FROM and WHERE of each selective filter. Each forces an index: without statistics, the planner may choose
 * the index on status and scan most of the table.
 */
const BY = {
  ids: {
    rows: `json_each(@ids) i CROSS JOIN members m ON m.id = i.value
      WHERE (@identityCard IS NULL OR ${IS_PERSON}) AND m.status <> '${ERASED_STATUS}'`,
    bound: 'the members with these ids',
  },
  person: {
    rows: `${PERSON} WHERE ${IS_PERSON}`,
    bound: 'the memberships of one person',
  },
  codeInCooperative: {
    rows: `members m INDEXED BY members_code
      WHERE m.cooperative_id = @cooperativeId AND m.member_code = @memberCode`,
    bound: 'one row: the code is unique there',
  },
  code: {
    rows: 'members m INDEXED BY members_code WHERE m.member_code = @memberCode',
    bound: 'one row for each of a few thousand cooperatives',
  },
  mobile: {
    rows: 'members m INDEXED BY members_mobile WHERE m.mobile = @mobile',
    bound: 'the members who share one telephone number',
  },
};

type Way = keyof typeof BY;

/** Finds the filter whose index finds the fewest rows; undefined if no filter is selective. */
function wayOf(filter: MemberFilter, cooperatives: CooperativeIds): Way | undefined {
  const { ids, identityCard, memberCode, mobile } = filter;
  if (ids !== undefined) return 'ids';
  if (identityCard !== undefined) return 'person';
  if (memberCode !== undefined) return cooperatives?.length === 1 ? 'codeInCooperative' : 'code';
  return mobile === undefined ? undefined : 'mobile';
}

/**
 * @param condition on the members `m`; may use `@match`, a query of the full-text index of names
 * @returns a function that returns a page of members, or undefined if no filter is selective
 */
export function openFewMembers<Row>(db: Connection, listed: ListRows, condition = 'true') {
  const open = ({ rows, bound }: (typeof BY)[Way]) => {
    const ids = `SELECT m.id AS id FROM ${rows} AND ${ALL_FILTERS} AND ${condition}`;
    return openFewRows<Row, object>(db, listed, ids, bound);
  };
  const few = Object.fromEntries(Object.entries(BY).map(([way, rows]) => [way, open(rows)])) as {
    readonly [way in Way]: ReturnType<typeof open>;
  };

  return (
    filter: MemberFilter,
    cooperatives: CooperativeIds,
    request: PageRequest,
    match: string | null = null,
  ): Page<Row> | undefined => {
    const way = wayOf(filter, cooperatives);
    if (way === undefined) return undefined;
    const { ids, identityCard = null, memberCode = null, mobile = null, status = null } = filter;
    const parameters = {
      ids: toIdsParameter(ids),
      identityCard,
      memberCode,
      mobile,
      cooperativeId: cooperatives?.[0] ?? null,
      cooperatives: toIdsParameter(cooperatives),
      status,
      match,
    };
    return few[way](parameters, request);
  };
}

export const LISTED_MEMBERS: ListRows = {
  table: 'members',
  alias: 'm',
  select: `SELECT ${LISTED_ROW}`,
  joins: '',
  asTuples: true,
};

function openMemberLists(db: Connection, cooperativeSummaries: CooperativeSummaries) {
  const listFew = openFewMembers<ListedRow>(db, LISTED_MEMBERS);
  const listCounted = openCountedList<ListedRow>(db, LISTED_MEMBERS, MEMBER_COUNTS, MEMBER_STATUSES);

  return (filter: MemberFilter, request: PageRequest, visible: Visible): Page<ListedMember> => {
    const cooperatives = visibleCooperatives(visible, filter.cooperativeId);
    const few = listFew(filter, cooperatives, request);
    const { count, rows } = few ?? listCounted({ cooperatives, value: filter.status }, request);
    const members = rows.map(([id, json, cooperativeId, registrationDate]) => ({
      id,
      json,
      cooperative: cooperativeSummaries.get(cooperativeId),
      registrationDate,
    }));
    return { count, rows: members };
  };
}

type Draft = { -readonly [property in keyof Membership]?: Membership[property] } & LookupRow;

/** @returns a function that returns a person's active memberships in the cooperatives, in no order */
function openLookups(db: Connection, { cooperativeSummaries, format }: StoreDependencies) {
  // No ORDER BY: SQLite's sorter would cost as much as the rest of the query, while sorting one or two rows
  // in JavaScript costs little. No LIMIT either: the caller may look for the membership in one cooperative.
  const activeOf = (columns: string) => `SELECT ${columns} FROM ${PERSON}
    WHERE m.identity_card = ? AND m.status = 'active'`;
  const select = db.prepare<[string], Draft>(activeOf(LOOKUP_ROW));
  const selectWithReadModel = db.prepare<[string], Draft>(
    activeOf(`${LOOKUP_ROW}, m.production, m.loans, m.savings`),
  );
  const financialsOf = openReadModel(db, format);

  return (identityCard: string, at: number | null, cooperatives: CooperativeIds): Membership[] => {
    const rows = (at === null ? select : selectWithReadModel).all(identityCard);
    const visibleRows =
      cooperatives === undefined ? rows : rows.filter((row) => cooperatives.includes(row.cooperativeId));
    // The row object of the database driver becomes the membership: a copy would make a lookup 2% slower.
    return visibleRows.map((row) => {
      row.identityCard = identityCard;
      row.status = 'active';
      row.cooperative = cooperativeSummaries.get(row.cooperativeId);
      row.financials = at === null ? null : financialsOf(row.id, row as Draft & StoredColumns, at);
      return row as Membership;
    });
  };
}

export type MemberStore = ReturnType<ReturnType<typeof openMembers>>;

export function openMembers(
  db: Connection,
  dependencies: StoreDependencies,
  searchMembers: (search: MemberSearch) => Promise<Page<ListedMember>>,
) {
  const { snapshot } = dependencies;
  const selectOne = db.prepare<[number], Member>(`SELECT ${MEMBER_ROW} FROM members m WHERE m.id = ?`);
  const selectCurrentNumber = db.prepare<[string], { to: string }>(redirectSql(REPLACED_NUMBERS));
  const selectFormerNumber = db.prepare<[string], { old: string }>(
    'SELECT old FROM former_identity_cards WHERE new = ? LIMIT 1',
  );
  const selectMergedInto = db.prepare<[number], { to: number }>(redirectSql(MERGED_MEMBERS));
  const list = openMemberLists(db, dependencies.cooperativeSummaries);
  const readActive = openLookups(db, dependencies);

  const selectVisible = (id: number, visible: Visible) => ifVisible(selectOne.get(id), visible);

  /** @throws RegistryError `gone` for an erased or merged member */
  function find(id: number, visible: Visible): Member | undefined {
    const row = selectVisible(id, visible);
    if (row !== undefined && !isErased(row)) return row;
    if (row !== undefined) throw new RegistryError('gone', 'Erased.');
    const into = selectMergedInto.get(id);
    if (into !== undefined && (visible === null || selectVisible(into.to, visible) !== undefined))
      throw new RegistryError('gone', `Merged into member ${into.to}.`);
    return undefined;
  }

  /** Refuses to change a national ID that replaced another: the redirect would not lead to the new ID. */
  function refuseChange(stored: Member, { identityCard }: MemberValues): void {
    if (identityCard !== stored.identityCard && selectFormerNumber.get(stored.identityCard) !== undefined)
      refuseFields({
        identity_card: ['This national ID has replaced another one. An operator can change it.'],
      });
  }

  const rows = openRowStore<Member, MemberValues>(db, dependencies, {
    entity: 'members',
    fields: MEMBER_FIELDS,
    otherConflict: {
      sql: redirectSql(REPLACED_NUMBERS, '@identity_card'),
      field: 'identity_card',
      message: 'This national ID was replaced and belongs to nobody any more.',
    },
    find,
    refuseChange,
  });

  return (visible: Visible) => ({
    ...rows.narrowedTo(visible),

    list: (filter: MemberFilter, request: PageRequest): Awaitable<Page<ListedMember>> =>
      isSearch(filter)
        ? searchMembers({ filter, request, visible })
        : snapshot.read(() => list(filter, request, visible)),

    /**
     * Newest registration first.
     * @param at epoch seconds at which the production window ends; null omits the financials
     */
    listActiveMemberships(identityCard: string, at: number | null): readonly Membership[] {
      const memberships = snapshot.read(() => readActive(identityCard, at, visible ?? undefined));
      return memberships.length < 2 ? memberships : memberships.sort(byNewestRegistration);
    },

    findActiveMembership: (
      cooperativeId: number,
      identityCard: string,
      at: number | null,
    ): Membership | undefined =>
      snapshot.read(() => readActive(identityCard, at, visibleCooperatives(visible, cooperativeId))[0]),

    findCurrentIdentityCard: (former: string): string | undefined =>
      snapshot.read(() => selectCurrentNumber.get(former)?.to),
  });
}

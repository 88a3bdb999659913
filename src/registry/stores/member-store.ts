/** Store of members: one row per person and cooperative. */

import { type Visible, visibleCooperatives } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import type { CooperativeIds } from '../../sqlite/list-pages.ts';
import {
  type Awaitable,
  type Page,
  type PageRequest,
  RegistryError,
  refuseFields,
} from '../../values/errors.ts';
import { byNewestRegistration, type Membership } from '../consolidate.ts';
import {
  isSearch,
  type ListedMember,
  MEMBER_FIELDS,
  type Member,
  type MemberFilter,
  type MemberSearch,
  type MemberValues,
} from '../members.ts';
import { isErased } from '../stored/erasures.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../stored/former-ids-and-transfers.ts';
import { openMemberLists } from './member-filters.ts';
import { openReadModel, type StoredColumns } from './read-model.ts';
import { ifVisible, openRowStore, type StoreDependencies } from './row-store.ts';
import { LOOKUP_ROW, type LookupRow, MEMBER_ROW, PERSON, toListedMember } from './rows.ts';

/** Row of a lookup, to which `openLookups` adds the missing properties of a membership. */
type Draft = { -readonly [property in keyof Membership]?: Membership[property] } & LookupRow;

/** @returns a function that returns the active memberships of a person, in no particular order */
function openLookups(db: Connection, { cooperativeSummaries, format }: StoreDependencies) {
  // No ORDER BY: SQLite's sorter would cost as much as the rest of the query, while sorting one or two rows
  // in JavaScript costs little.
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
    // The row of the driver becomes the membership, because a copy would add 2% to the time of a lookup.
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
  const { snapshot, cooperativeSummaries } = dependencies;
  const selectOne = db.prepare<[number], Member>(`SELECT ${MEMBER_ROW} FROM members m WHERE m.id = ?`);
  const selectCurrentNumber = db.prepare<[string], { to: string }>(redirectSql(REPLACED_NUMBERS));
  const selectFormerNumber = db.prepare<[string], { old: string }>(
    'SELECT old FROM former_identity_cards WHERE new = ? LIMIT 1',
  );
  const selectMergedInto = db.prepare<[number], { to: number }>(redirectSql(MERGED_MEMBERS));
  const listStored = openMemberLists(db);
  const readActive = openLookups(db, dependencies);

  const selectVisible = (id: number, visible: Visible) => ifVisible(selectOne.get(id), visible);

  /** @throws RegistryError `gone` for a member that was erased, or merged into another member */
  function find(id: number, visible: Visible): Member | undefined {
    const row = selectVisible(id, visible);
    if (row !== undefined && !isErased(row)) return row;
    if (row !== undefined) throw new RegistryError('gone', 'Erased.');
    const into = selectMergedInto.get(id);
    if (into !== undefined && (visible === null || selectVisible(into.to, visible) !== undefined))
      throw new RegistryError('gone', `Merged into member ${into.to}.`);
    return undefined;
  }

  /**
   * Refuses to change a national ID that has replaced a former one. Otherwise, the redirect of the former
   * number would lead to another person.
   */
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

  function list(filter: MemberFilter, request: PageRequest, visible: Visible): Page<ListedMember> {
    const { count, rows } = listStored(filter, request, visible);
    return { count, rows: rows.map((row) => toListedMember(row, cooperativeSummaries.get(row[2]))) };
  }

  return (visible: Visible) => ({
    ...rows.narrowedTo(visible),

    list: (filter: MemberFilter, request: PageRequest): Awaitable<Page<ListedMember>> =>
      isSearch(filter)
        ? searchMembers({ filter, request, visible })
        : snapshot.read(() => list(filter, request, visible)),

    /**
     * Lists the active memberships of a person, newest registration first.
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

    /** Returns the national ID that replaced the number `former`, or undefined if none did. */
    findCurrentIdentityCard: (former: string): string | undefined =>
      snapshot.read(() => selectCurrentNumber.get(former)?.to),
  });
}

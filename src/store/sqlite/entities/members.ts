/** Members in SQLite: one row per person and cooperative. */

import { isVisible, type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import { MEMBER_FIELDS, type Member, type MemberValues } from '../../../domain/membership/members.ts';
import { RegistryError, refuseFields } from '../../../domain/values/errors.ts';
import { byNewestRegistration, type Financials, type Membership } from '../../../lookup/consolidate.ts';
import type { MemberStore } from '../../contract/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { isErased } from '../identity/erased-rows.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../identity/former-keys.ts';
import { openMemberLists } from '../lists/member-lists.ts';
import type { ReadModelFormat, StoredColumns } from '../read-model/format.ts';
import { openReadModel } from '../read-model/read.ts';
import type { CooperativeSummaries } from '../rows/cooperative-summaries.ts';
import { LOOKUP_ROW, type LookupRow, MEMBER_ROW, PERSON, toListedMember } from '../rows/rows.ts';
import { isSearch } from '../search/member-search.ts';
import type { Searching } from '../search/search-in-thread.ts';
import type { OtherConflict } from './conflicts.ts';
import type { StoreDependencies } from './row-store.ts';
import { openRowStore } from './row-store.ts';

const prepareStatements = (db: Connection) => ({
  selectOne: db.prepare<[number], Member>(`SELECT ${MEMBER_ROW} FROM members m WHERE m.id = ?`),
  // No ORDER BY: the one or two rows of a person are sorted faster here, and the sorter costs as much as the
  // rest.
  selectActive: db.prepare<[string], LookupRow>(
    `SELECT ${LOOKUP_ROW} FROM ${PERSON} WHERE m.identity_card = ? AND m.status = 'active'`,
  ),
  selectActiveWithReadModel: db.prepare<[string], LookupRow & StoredColumns>(
    `SELECT ${LOOKUP_ROW}, m.production, m.loans, m.savings FROM ${PERSON}
     WHERE m.identity_card = ? AND m.status = 'active'`,
  ),
  selectCurrentNumber: db.prepare<[string], { to: string }>(redirectSql(REPLACED_NUMBERS)),
  selectFormerNumber: db.prepare<[string], { old: string }>(
    'SELECT old FROM former_identity_cards WHERE new = ? LIMIT 1',
  ),
  selectMergedInto: db.prepare<[number], { to: number }>(redirectSql(MERGED_MEMBERS)),
});

type Statements = ReturnType<typeof prepareStatements>;

/** What a lookup adds to a row. */
type Draft = { -readonly [property in Exclude<keyof Membership, keyof LookupRow>]?: Membership[property] };

/** @returns what gives the active memberships of a person, in no order */
function openLookups(
  { selectActive, selectActiveWithReadModel }: Statements,
  cooperativeSummaries: CooperativeSummaries,
  financialsOf: ReturnType<typeof openReadModel>,
) {
  return function activeOf(
    identityCard: string,
    at: number | null,
    wantedGroups: readonly number[] | undefined,
  ): Membership[] {
    const wanted = <Row extends LookupRow>(rows: Row[]): Row[] =>
      wantedGroups === undefined ? rows : rows.filter((row) => wantedGroups.includes(row.cooperativeId));
    // The driver's row becomes the membership: a copy of it would cost a fiftieth of a lookup.
    const toMembership = (row: LookupRow & Draft, financials: Financials | null): Membership => {
      row.identityCard = identityCard;
      row.status = 'active';
      row.cooperative = cooperativeSummaries.get(row.cooperativeId);
      row.financials = financials;
      return row as Membership;
    };
    if (at === null) return wanted(selectActive.all(identityCard)).map((row) => toMembership(row, null));
    const rows = wanted(selectActiveWithReadModel.all(identityCard));
    return rows.map((row) => toMembership(row, financialsOf(row.id, row, at)));
  };
}

export function openMembers(
  db: Connection,
  { snapshot, cooperativeSummaries, responses }: StoreDependencies,
  format: ReadModelFormat,
  searching: Pick<Searching, 'members'>,
): (visible: Visible) => MemberStore {
  const statements = prepareStatements(db);
  const { selectOne, selectMergedInto, selectCurrentNumber, selectFormerNumber } = statements;
  const list = openMemberLists(db);
  const activeOf = openLookups(statements, cooperativeSummaries, openReadModel(db, format));

  const selectVisible = (id: number, visible: Visible): Member | undefined => {
    const row = selectOne.get(id);
    return row !== undefined && isVisible(visible, row.cooperativeId) ? row : undefined;
  };

  function find(id: number, visible: Visible): Member | undefined {
    return snapshot.read(() => {
      const row = selectVisible(id, visible);
      if (row !== undefined && !isErased(row)) return row;
      if (row !== undefined) throw new RegistryError('gone', 'Erased.');
      const into = selectMergedInto.get(id);
      if (into !== undefined && (visible === null || selectVisible(into.to, visible) !== undefined))
        throw new RegistryError('gone', `Merged into member ${into.to}.`);
      return undefined;
    });
  }

  const rows = openRowStore<Member, MemberValues>(db, {
    entity: 'members',
    fields: MEMBER_FIELDS,
    otherConflict: REPLACED_NUMBER,
    find,
  });

  return (visible) => ({
    find: (id) => find(id, visible),
    conflicts: (values, exceptId) => snapshot.read(() => rows.conflicts(values, visible, exceptId)),

    list: (filter, request) =>
      isSearch(filter)
        ? searching.members({ filter, request, visible })
        : snapshot.read(() => {
            const page = list(filter, request, visible);
            return {
              ...page,
              rows: page.rows.map((row) => toListedMember(row, cooperativeSummaries.get(row[2]))),
            };
          }),

    listActiveMemberships(identityCard, at) {
      const memberships = snapshot.read(() => activeOf(identityCard, at, visible ?? undefined));
      return memberships.length < 2 ? memberships : memberships.sort(byNewestRegistration);
    },

    findActiveMembership: (cooperativeId, identityCard, at) =>
      snapshot.read(() => activeOf(identityCard, at, visibleGroups(visible, cooperativeId))[0]),

    findCurrentIdentityCard: (former) => snapshot.read(() => selectCurrentNumber.get(former)?.to),

    create: (values, nowSeconds, actor, keep) =>
      responses.create(keep, nowSeconds, () => {
        refuseFields(rows.conflicts(values, visible));
        return find(rows.insert(values, nowSeconds, actor), visible) as Member;
      }),

    update(id, decide, nowSeconds, actor) {
      const decideNumber = (stored: Member) => {
        const values = decide(stored);
        if (values.identityCard !== stored.identityCard)
          refuseSplit(selectFormerNumber.get(stored.identityCard));
        return { values };
      };
      return responses.update(nowSeconds, () => rows.update(id, visible, decideNumber, nowSeconds, actor));
    },
  });
}

const REPLACED_NUMBER: OtherConflict = {
  sql: redirectSql(REPLACED_NUMBERS, '@identity_card'),
  field: 'identity_card',
  message: 'This national ID was replaced and belongs to nobody any more.',
};

/**
 * Who asks by the former number must not find somebody else.
 * @param former a number that leads to the stored one
 */
function refuseSplit(former: unknown): void {
  if (former !== undefined)
    refuseFields({
      identity_card: ['This national ID has replaced another one. An operator can change it.'],
    });
}

/** Members in SQLite: one row per person and cooperative. */

import { isVisible, type Visible, visibleGroups } from '../../access/api-keys.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { RegistryError, refuseFields } from '../../values/errors.ts';
import { byNewestRegistration, type Financials, type Membership } from '../consolidate.ts';
import { isSearch, MEMBER_FIELDS, type Member, type MemberValues } from '../members.ts';
import type { MemberStore, Searching } from '../registry-store.ts';
import { isErased } from '../stored/erasures.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../stored/former-identifiers.ts';
import { openMemberLists } from './member-filters.ts';
import { openReadModel, type ReadModelFormat, type StoredColumns } from './read-model.ts';
import { type OtherConflict, openRowStore, type StoreDependencies } from './row-store.ts';
import {
  type CooperativeSummaries,
  LOOKUP_ROW,
  type LookupRow,
  MEMBER_ROW,
  PERSON,
  toListedMember,
} from './rows.ts';

const prepareStatements = (db: Connection) => ({
  selectOne: db.prepare<[number], Member>(`SELECT ${MEMBER_ROW} FROM members m WHERE m.id = ?`),
  // No ORDER BY: the one or two rows of a person are sorted faster here, and SQLite's sorter costs as much as
  // the rest of the query.
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

/** Properties that a lookup adds to a row. */
type Draft = { -readonly [property in Exclude<keyof Membership, keyof LookupRow>]?: Membership[property] };

/** @returns a function that gives the active memberships of a person, in no particular order */
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
    // The driver's row becomes the membership: copying it would cost a fiftieth of a lookup.
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
 * Refuses to change a national ID that has replaced another: lookups of the former number would find someone
 * else.
 * @param former a number that leads to the stored one
 */
function refuseSplit(former: unknown): void {
  if (former !== undefined)
    refuseFields({
      identity_card: ['This national ID has replaced another one. An operator can change it.'],
    });
}

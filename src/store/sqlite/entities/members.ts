/** Members in SQLite: one row per person and cooperative. */

import { isVisible, type Visible, visibleGroups } from '../../../domain/access/visible.ts';
import { MEMBER_FIELDS, type Member, type MemberValues } from '../../../domain/membership/members.ts';
import {
  FieldErrorList,
  type FieldMessages,
  NON_FIELD_ERRORS,
  notFound,
  RegistryError,
  refuseFields,
  unknownReference,
} from '../../../domain/values/errors.ts';
import { byNewestRegistration, type Financials, type Membership } from '../../../lookup/consolidate.ts';
import type { MemberStore } from '../../ports/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { isErased } from '../identity/erased-rows.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectSql } from '../identity/former-keys.ts';
import { openMemberLists } from '../lists/member-lists.ts';
import type { ReadModelFormat, StoredColumns } from '../read-model/columns.ts';
import { openReadModel } from '../read-model/read.ts';
import type { CooperativeSummaries } from '../rows/cooperative-summaries.ts';
import { LOOKUP_ROW, type LookupRow, MEMBER_ROW, PERSON, toListedMember } from '../rows/member-rows.ts';
import type { StoreDependencies } from './dependencies.ts';
import { openRowWriter } from './row-writer.ts';

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
  // One statement: each takes longer to call than to run.
  selectConflicts: db.prepare<[Conflicting], Conflicts>(
    `SELECT (SELECT id FROM cooperatives WHERE id = @cooperativeId) AS cooperative,
       (SELECT id FROM members WHERE identity_card = @identityCard AND cooperative_id = @cooperativeId)
         AS samePerson,
       (SELECT id FROM members WHERE cooperative_id = @cooperativeId AND member_code = @memberCode)
         AS sameCode,
       (${redirectSql(REPLACED_NUMBERS, '@identityCard')}) AS currentNumber`,
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

/** Values of a member that others may have; null for those that are not given. */
interface Conflicting {
  readonly cooperativeId: number;
  readonly identityCard: string | null;
  readonly memberCode: string | null;
}

/** What they meet; null for nothing. */
interface Conflicts {
  readonly cooperative: number | null;
  readonly samePerson: number | null;
  readonly sameCode: number | null;
  readonly currentNumber: string | null;
}

/** @returns what gives the messages for values that other rows have */
function openConflicts({ selectConflicts }: Statements) {
  return function findConflicts(
    values: Partial<MemberValues>,
    visible: Visible,
    exceptId?: number,
  ): FieldMessages {
    const faults = new FieldErrorList();
    const { cooperativeId, identityCard = null, memberCode = null } = values;
    if (cooperativeId === undefined) return faults.fields;
    // Nothing is said of what is there.
    if (!isVisible(visible, cooperativeId)) {
      faults.add('cooperative_id', unknownReference(cooperativeId));
      return faults.fields;
    }
    const found = selectConflicts.get({ cooperativeId, identityCard, memberCode });
    const { cooperative, samePerson, sameCode, currentNumber } = found as Conflicts;
    const isAnother = (id: number | null): boolean => id !== null && id !== exceptId;
    if (cooperative === null) faults.add('cooperative_id', unknownReference(cooperativeId));
    if (isAnother(samePerson))
      faults.add(NON_FIELD_ERRORS, 'The fields cooperative_id, identity_card must make a unique set.');
    if (currentNumber !== null)
      faults.add('identity_card', 'This national ID was replaced and belongs to nobody any more.');
    if (isAnother(sameCode)) faults.add('member_code', 'This field must be unique.');
    return faults.fields;
  };
}

export function openMembers(
  db: Connection,
  { snapshot, cooperativeSummaries, responses }: StoreDependencies,
  format: ReadModelFormat,
): (visible: Visible) => MemberStore {
  const statements = prepareStatements(db);
  const { selectOne, selectMergedInto, selectCurrentNumber, selectFormerNumber } = statements;
  const { counts, list } = openMemberLists(db);
  const rows = openRowWriter<MemberValues>(db, 'members', MEMBER_FIELDS, counts);
  const activeOf = openLookups(statements, cooperativeSummaries, openReadModel(db, format));
  const findConflicts = openConflicts(statements);

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

  const conflicts: typeof findConflicts = (values, visible, exceptId) =>
    snapshot.read(() => findConflicts(values, visible, exceptId));

  return (visible) => ({
    find: (id) => find(id, visible),
    conflicts: (values, exceptId) => conflicts(values, visible, exceptId),

    list: (filter, request) =>
      snapshot.read(() => {
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
        refuseFields(conflicts(values, visible));
        return find(rows.insert(values, nowSeconds, actor), visible) as Member;
      }),

    update: (id, decide, nowSeconds, actor) =>
      responses.update(nowSeconds, () => {
        const stored = find(id, visible);
        if (stored === undefined) throw notFound();
        const values = decide(stored);
        refuseMove(stored, values);
        if (values.identityCard !== stored.identityCard)
          refuseSplit(selectFormerNumber.get(stored.identityCard));
        refuseFields(conflicts(values, visible, id));
        if (!rows.replace(stored, values, nowSeconds, actor)) return stored;
        return find(id, visible) as Member;
      }),
  });
}

/** The entries of a member belong to its cooperative, too. */
function refuseMove(stored: Member, values: MemberValues): void {
  if (values.cooperativeId !== stored.cooperativeId)
    refuseFields({ cooperative_id: ['This field cannot be changed.'] });
}

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

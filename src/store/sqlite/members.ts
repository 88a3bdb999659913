/** Members in SQLite: one row per person and cooperative. */

import type { CooperativeSummary } from '../../domain/cooperatives.ts';
import {
  FieldErrorList,
  type FieldMessages,
  NON_FIELD_ERRORS,
  notFound,
  unknownReference,
} from '../../domain/errors.ts';
import type { BlockTexts, LookedUpMember, Membership } from '../../domain/lookup.ts';
import type {
  Gender,
  ListedMember,
  Member,
  MemberFilter,
  MemberStatus,
  MemberValues,
  Role,
} from '../../domain/members.ts';
import { offsetOf, type Page, type PageRequest } from '../../domain/page.ts';
import type { MemberStore } from '../ports.ts';
import type { Connection } from './connection/connection.ts';
import { openMemberCounts, wrongCounters } from './lists/member-counts.ts';
import { type ListRow, openMemberPages } from './lists/member-pages.ts';
import type { StoredParts } from './read-model/columns.ts';
import { openSummaries } from './read-model/read.ts';
import type { StoreDependencies } from './storage.ts';

interface MemberRow {
  id: number;
  cooperative_id: number;
  cooperative_code: string;
  cooperative_name: string;
  identity_card: string;
  member_code: string;
  full_name: string;
  first_name: string | null;
  last_name: string | null;
  gender: Gender | null;
  date_of_birth: string | null;
  mobile: string | null;
  role: Role;
  status: MemberStatus;
  registration_date: number;
  created_at: number;
  updated_at: number;
}

/** What a lookup reads: the person and the status are known, and every column costs. */
type LookupRow = Omit<
  MemberRow,
  'cooperative_code' | 'cooperative_name' | 'identity_card' | 'status' | 'created_at' | 'updated_at'
>;

/** The column of each value: a value without one does not compile. */
const COLUMNS = {
  cooperativeId: 'cooperative_id',
  identityCard: 'identity_card',
  memberCode: 'member_code',
  fullName: 'full_name',
  firstName: 'first_name',
  lastName: 'last_name',
  gender: 'gender',
  dateOfBirth: 'date_of_birth',
  mobile: 'mobile',
  role: 'role',
  status: 'status',
  registrationDate: 'registration_date',
} as const satisfies { readonly [value in keyof MemberValues]: keyof MemberRow };
const VALUES = Object.keys(COLUMNS) as (keyof MemberValues)[];
const NAMES = Object.values(COLUMNS);

const ofM = (names: readonly string[]): string => names.map((name) => `m.${name}`).join(', ');
// Not a join: the driver takes several microseconds more for each execution of a statement over two tables.
const MEMBER_ROW = `m.id, ${ofM(NAMES)}, m.created_at, m.updated_at,
  (SELECT code FROM cooperatives WHERE id = m.cooperative_id) AS cooperative_code,
  (SELECT name FROM cooperatives WHERE id = m.cooperative_id) AS cooperative_name`;
const LOOKUP_ROW = `m.id, ${ofM(NAMES.filter((name) => name !== 'identity_card' && name !== 'status'))}`;
// Said aloud: without statistics the planner may take the index on status instead, and walk every active member.
const PERSON = 'members m INDEXED BY members_person';

type Column = string | number | null;

export function openMembers(
  db: Connection,
  { commits, snapshot, cooperativeSummaries }: StoreDependencies,
  blocks: BlockTexts,
): MemberStore {
  const counts = openMemberCounts(db);
  const pages = openMemberPages(db);
  const financialsOf = openSummaries(db, blocks);

  const selectOne = db.prepare<[number], MemberRow>(`SELECT ${MEMBER_ROW} FROM members m WHERE m.id = ?`);
  // No ORDER BY: the one or two rows of a person are sorted faster here, and the sorter costs as much as the rest.
  const selectActive = db.prepare<[string], LookupRow>(
    `SELECT ${LOOKUP_ROW} FROM ${PERSON} WHERE m.identity_card = ? AND m.status = 'active'`,
  );
  const selectActiveWithParts = db.prepare<[string], LookupRow & StoredParts>(
    `SELECT ${LOOKUP_ROW}, m.production, m.loans, m.savings FROM ${PERSON}
     WHERE m.identity_card = ? AND m.status = 'active'`,
  );
  const selectCooperative = db.prepare<[number], { id: number }>('SELECT id FROM cooperatives WHERE id = ?');
  const selectByPerson = db.prepare<[string, number], { id: number }>(
    'SELECT id FROM members WHERE identity_card = ? AND cooperative_id = ?',
  );
  const selectByCode = db.prepare<[number, string], { id: number }>(
    'SELECT id FROM members WHERE cooperative_id = ? AND member_code = ?',
  );
  const insert = db.prepare<Column[]>(
    `INSERT INTO members (${NAMES.join(', ')}, created_at, updated_at)
     VALUES (${NAMES.map(() => '?').join(', ')}, ?, ?)`,
  );
  const replace = db.prepare<Column[]>(
    `UPDATE members SET ${NAMES.map((name) => `${name} = ?`).join(', ')}, updated_at = ? WHERE id = ?`,
  );

  function find(id: number): Member | undefined {
    snapshot.begin();
    const row = selectOne.get(id);
    return row && toMember(row);
  }

  const toListed = (row: ListRow): ListedMember => ({
    id: row[0],
    memberCode: row[1],
    fullName: row[2],
    identityCard: row[3],
    mobile: row[4],
    gender: row[5],
    role: row[6],
    status: row[7],
    cooperative: cooperativeSummaries.get(row[8]),
    registrationDate: row[9],
  });

  /** In no order. */
  function activeOf(identityCard: string, at: number | null, cooperativeId?: number): Membership[] {
    snapshot.begin();
    const wanted = <Row extends LookupRow>(rows: Row[]): Row[] =>
      cooperativeId === undefined ? rows : rows.filter((row) => row.cooperative_id === cooperativeId);
    const lookedUp = (row: LookupRow) =>
      toLookedUpMember(row, identityCard, cooperativeSummaries.get(row.cooperative_id));
    if (at === null) {
      const rows = selectActive.all(identityCard);
      return wanted(rows).map((row) => ({ member: lookedUp(row), financials: null }));
    }
    const rows = selectActiveWithParts.all(identityCard);
    return wanted(rows).map((row) => ({ member: lookedUp(row), financials: financialsOf(row.id, row, at) }));
  }

  function conflicts(values: Partial<MemberValues>, exceptId?: number): FieldMessages {
    snapshot.begin();
    const faults = new FieldErrorList();
    const { cooperativeId, identityCard, memberCode } = values;
    if (cooperativeId === undefined) return faults.fields;
    if (selectCooperative.get(cooperativeId) === undefined) {
      faults.add('cooperative_id', unknownReference(cooperativeId));
    }
    const samePerson =
      identityCard === undefined ? undefined : selectByPerson.get(identityCard, cooperativeId);
    if (samePerson !== undefined && samePerson.id !== exceptId) {
      faults.add(NON_FIELD_ERRORS, 'The fields cooperative_id, identity_card must make a unique set.');
    }
    const sameCode = memberCode === undefined ? undefined : selectByCode.get(cooperativeId, memberCode);
    if (sameCode !== undefined && sameCode.id !== exceptId)
      faults.add('member_code', 'This field must be unique.');
    return faults.fields;
  }

  function refuseConflicts(values: MemberValues, exceptId?: number): void {
    const faults = new FieldErrorList();
    faults.addAll(conflicts(values, exceptId));
    faults.throwIfAny();
  }

  return {
    find,
    conflicts,

    list(filter: MemberFilter, request: PageRequest): Page<ListedMember> {
      snapshot.begin();
      if (filter.identityCard !== undefined) {
        const rows = pages.ofPerson(filter.identityCard, filter.cooperativeId, filter.status);
        const offset = offsetOf(request);
        return {
          count: rows.length,
          rows: rows.slice(offset, offset + request.pageSize).map(toListed),
        };
      }
      const { cooperativeId, status } = filter;
      const count = counts.count(cooperativeId, status);
      const offset = offsetOf(request);
      if (offset >= count) return { count, rows: [] };
      const rows =
        cooperativeId === undefined
          ? pages.ofAll(status, counts.seek(status, offset), request.pageSize)
          : pages.ofCooperative(cooperativeId, status, offset, request.pageSize);
      // Page 1 is read without the counters of its place, so what was read is compared with the count.
      if (rows.length !== Math.min(request.pageSize, count - offset)) throw wrongCounters();
      return { count, rows: rows.map(toListed) };
    },

    listActiveMemberships(identityCard, at) {
      const memberships = activeOf(identityCard, at);
      return memberships.length < 2 ? memberships : memberships.sort(newestFirst);
    },

    findActiveMembership: (cooperativeId, identityCard, at) => activeOf(identityCard, at, cooperativeId)[0],

    create: (values, nowSeconds) =>
      commits.write(() => {
        refuseConflicts(values);
        const id = Number(insert.run(...toColumns(values), nowSeconds, nowSeconds).lastInsertRowid);
        counts.memberAdded(values.cooperativeId, values.status, id);
        return find(id) as Member;
      }),

    update: (id, decide, nowSeconds) =>
      commits.write(() => {
        const stored = find(id);
        if (stored === undefined) throw notFound();
        const values = decide(stored);
        refuseConflicts(values, id);
        const columns = toColumns(values);
        const before = toColumns({ ...stored, cooperativeId: stored.cooperative.id });
        if (before.every((column, i) => column === columns[i])) return stored;
        replace.run(...columns, nowSeconds, id);
        if (values.status !== stored.status) {
          counts.statusChanged(values.cooperativeId, stored.status, values.status, id);
        }
        return find(id) as Member;
      }),
  };
}

const toColumns = (values: MemberValues): Column[] => VALUES.map((value) => values[value]);

const referenceOf = (row: MemberRow): CooperativeSummary => ({
  id: row.cooperative_id,
  code: row.cooperative_code,
  name: row.cooperative_name,
});

/** Newest registration first; of equal ones, the higher id. */
const newestFirst = ({ member: a }: Membership, { member: b }: Membership): number =>
  b.registrationDate - a.registrationDate || b.id - a.id;

const toMember = (row: MemberRow): Member => ({
  ...toLookedUpMember(row, row.identity_card, referenceOf(row)),
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** An active one. */
const toLookedUpMember = (
  row: LookupRow,
  identityCard: string,
  cooperative: CooperativeSummary,
): LookedUpMember => ({
  id: row.id,
  cooperative,
  identityCard,
  memberCode: row.member_code,
  fullName: row.full_name,
  firstName: row.first_name,
  lastName: row.last_name,
  gender: row.gender,
  dateOfBirth: row.date_of_birth,
  mobile: row.mobile,
  role: row.role,
  status: 'active',
  registrationDate: row.registration_date,
});

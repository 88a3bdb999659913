/** Members in SQLite: one row per person and cooperative. */
import type { Membership } from '../../domain/consolidated-member.ts';
import type { CooperativeReference } from '../../domain/cooperatives.ts';
import { FaultList, type FieldMessages, NON_FIELD_ERRORS, notFound } from '../../domain/errors.ts';
import type { Gender, Member, MemberFilter, MemberStatus, MemberValues, Role } from '../../domain/members.ts';
import { offsetOf, type Page, type PageRequest } from '../../domain/page.ts';
import type { MemberStore } from '../port.ts';
import type { Connection } from './database.ts';
import { openMemberCounts } from './member-counts.ts';
import { openMemberPages } from './member-pages.ts';
import type { StoreParts } from './store.ts';
import { openSummaries } from './summaries.ts';
import type { StoredParts } from './summary-parts.ts';

/** A member without its cooperative's name. */
interface MembershipRow {
  id: number;
  cooperative_id: number;
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

export interface MemberRow extends MembershipRow {
  cooperative_code: string;
  cooperative_name: string;
}

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

const COLUMNS_OF_M = `m.id, ${NAMES.map((name) => `m.${name}`).join(', ')}, m.created_at, m.updated_at`;
export const MEMBER_ROW = `${COLUMNS_OF_M}, c.code AS cooperative_code, c.name AS cooperative_name`;
const JOINED = 'members m JOIN cooperatives c ON c.id = m.cooperative_id';
// Said aloud: without statistics the planner may take the index on status instead, and walk every active member.
const PERSON = 'members m INDEXED BY members_person';

type Column = string | number | null;

export function openMembers(db: Connection, { queue, turn, references }: StoreParts): MemberStore {
  const counts = openMemberCounts(db);
  const pages = openMemberPages(db);
  const financialsOf = openSummaries(db);

  const selectOne = db.prepare<[number], MemberRow>(`SELECT ${MEMBER_ROW} FROM ${JOINED} WHERE m.id = ?`);
  // No ORDER BY: the one or two rows of a person are sorted faster here, and the sorter costs as much as the rest.
  const selectActive = db.prepare<[string], MembershipRow & StoredParts>(
    `SELECT ${COLUMNS_OF_M}, m.production, m.loans, m.savings FROM ${PERSON}
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
    turn.begin();
    const row = selectOne.get(id);
    return row && toMember(row, referenceOf(row));
  }

  const toMembership = (row: MembershipRow & StoredParts, at: number | null): Membership => ({
    member: toMember(row, references.get(row.cooperative_id)),
    financials: at === null ? null : financialsOf(row.id, row, at),
  });

  function conflicts(values: Partial<MemberValues>, exceptId?: number): FieldMessages {
    turn.begin();
    const faults = new FaultList();
    const { cooperativeId, identityCard, memberCode } = values;
    if (cooperativeId === undefined) return faults.fields;
    if (selectCooperative.get(cooperativeId) === undefined) {
      faults.add('cooperative_id', `Invalid pk "${cooperativeId}" - object does not exist.`);
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
    const faults = new FaultList();
    faults.addAll(conflicts(values, exceptId));
    faults.throwIfAny();
  }

  return {
    find,
    conflicts,

    list(filter: MemberFilter, request: PageRequest): Page<Member> {
      turn.begin();
      if (filter.identityCard !== undefined) {
        const rows = pages.ofPerson(filter.identityCard, filter.cooperativeId, filter.status);
        const offset = offsetOf(request);
        return {
          count: rows.length,
          rows: rows.slice(offset, offset + request.pageSize).map((row) => toMember(row, referenceOf(row))),
        };
      }
      const { cooperativeId, status } = filter;
      const count = counts.count(cooperativeId, status);
      const offset = offsetOf(request);
      if (offset >= count) return { count, rows: [] };
      const rows =
        cooperativeId === undefined
          ? pages.ofAll(status, counts.findAnchor(status, offset), request.pageSize)
          : pages.ofCooperative(cooperativeId, status, offset, request.pageSize);
      return { count, rows: rows.map((row) => toMember(row, referenceOf(row))) };
    },

    listActiveMemberships(identityCard, at) {
      turn.begin();
      const memberships = selectActive.all(identityCard).map((row) => toMembership(row, at));
      return memberships.length < 2 ? memberships : memberships.sort(newestFirst);
    },

    findActiveMembership(cooperativeId, identityCard, at) {
      turn.begin();
      const row = selectActive.all(identityCard).find((each) => each.cooperative_id === cooperativeId);
      return row && toMembership(row, at);
    },

    create: (values, nowSeconds) =>
      queue.write(() => {
        refuseConflicts(values);
        const id = Number(insert.run(...toColumns(values), nowSeconds, nowSeconds).lastInsertRowid);
        counts.memberAdded(values.cooperativeId, values.status, id);
        return find(id) as Member;
      }),

    update: (id, decide, nowSeconds) =>
      queue.write(() => {
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

const referenceOf = (row: MemberRow): CooperativeReference => ({
  id: row.cooperative_id,
  code: row.cooperative_code,
  name: row.cooperative_name,
});

/** Newest registration first; of equal ones, the higher id. */
const newestFirst = ({ member: a }: Membership, { member: b }: Membership): number =>
  b.registrationDate - a.registrationDate || b.id - a.id;

function toMember(row: MembershipRow, cooperative: CooperativeReference): Member {
  return {
    id: row.id,
    cooperative,
    identityCard: row.identity_card,
    memberCode: row.member_code,
    fullName: row.full_name,
    firstName: row.first_name,
    lastName: row.last_name,
    gender: row.gender,
    dateOfBirth: row.date_of_birth,
    mobile: row.mobile,
    role: row.role,
    status: row.status,
    registrationDate: row.registration_date,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

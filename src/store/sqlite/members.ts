/** Members in SQLite: one row per person and cooperative. */
import type { Membership } from '../../domain/consolidated-member.ts';
import { FaultList, type FieldMessages, NON_FIELD_ERRORS, notFound } from '../../domain/errors.ts';
import type { Gender, Member, MemberFilter, MemberStatus, MemberValues, Role } from '../../domain/members.ts';
import { offsetOf, type Page, type PageRequest } from '../../domain/page.ts';
import type { MemberStore, Window } from '../port.ts';
import type { Connection } from './database.ts';
import { openFinancials } from './financials.ts';
import { openMemberCounts } from './member-counts.ts';
import { openMemberPages } from './member-pages.ts';
import type { WriteQueue } from './write-queue.ts';

export interface MemberRow {
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

export const MEMBER_ROW = `m.id, c.code AS cooperative_code, c.name AS cooperative_name,
  ${NAMES.map((name) => `m.${name}`).join(', ')}, m.created_at, m.updated_at`;
const JOINED = 'members m JOIN cooperatives c ON c.id = m.cooperative_id';
// Said aloud: without statistics the planner may take the index on status instead, and walk every active member.
const PERSON = 'members m INDEXED BY members_person JOIN cooperatives c ON c.id = m.cooperative_id';

type Column = string | number | null;

export function openMembers(db: Connection, queue: WriteQueue): MemberStore {
  const counts = openMemberCounts(db);
  const pages = openMemberPages(db);
  const financialsOf = openFinancials(db);

  const selectOne = db.prepare<[number], MemberRow>(`SELECT ${MEMBER_ROW} FROM ${JOINED} WHERE m.id = ?`);
  const selectActive = db.prepare<[string], MemberRow>(
    `SELECT ${MEMBER_ROW} FROM ${PERSON} WHERE m.identity_card = ? AND m.status = 'active'
     ORDER BY m.registration_date DESC, m.id DESC`,
    'the memberships of one person',
  );
  const selectActiveInCooperative = db.prepare<[string, number], MemberRow>(
    `SELECT ${MEMBER_ROW} FROM ${PERSON}
     WHERE m.identity_card = ? AND m.cooperative_id = ? AND m.status = 'active'`,
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
    const row = selectOne.get(id);
    return row && toMember(row);
  }

  const toMembership = (row: MemberRow, window: Window | null): Membership => ({
    member: toMember(row),
    financials: window && financialsOf(row.id, window),
  });

  function conflicts(values: Partial<MemberValues>, exceptId?: number): FieldMessages {
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
      if (filter.identityCard !== undefined) {
        const rows = pages.ofPerson(filter.identityCard, filter.cooperativeId, filter.status);
        const offset = offsetOf(request);
        return { count: rows.length, rows: rows.slice(offset, offset + request.pageSize).map(toMember) };
      }
      const { cooperativeId, status } = filter;
      const count = counts.count(cooperativeId, status);
      const offset = offsetOf(request);
      if (offset >= count) return { count, rows: [] };
      const rows =
        cooperativeId === undefined
          ? pages.ofAll(status, counts.findAnchor(status, offset), request.pageSize)
          : pages.ofCooperative(cooperativeId, status, offset, request.pageSize);
      return { count, rows: rows.map(toMember) };
    },

    listActiveMemberships: (identityCard, window) =>
      selectActive.all(identityCard).map((row) => toMembership(row, window)),

    findActiveMembership(cooperativeId, identityCard, window) {
      const row = selectActiveInCooperative.get(identityCard, cooperativeId);
      return row && toMembership(row, window);
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

function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    cooperative: { id: row.cooperative_id, code: row.cooperative_code, name: row.cooperative_name },
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

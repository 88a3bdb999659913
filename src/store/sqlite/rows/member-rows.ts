/** The rows of members: their columns, and what they are as entities. */
import type { CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import type { Gender, Member, MemberStatus, MemberValues, Role } from '../../../domain/membership/members.ts';
import type { LookedUpMember } from '../../../lookup/consolidate.ts';
import { LISTED_FIELDS, type ListedMember } from '../../ports/registry.ts';

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

/** Columns that a lookup does not read: they are known or not shown, and every column costs. */
const NOT_LOOKED_UP = ['identity_card', 'status'] as const;
export type LookupRow = Omit<
  MemberRow,
  (typeof NOT_LOOKED_UP)[number] | 'cooperative_code' | 'cooperative_name' | 'created_at' | 'updated_at'
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
export const MEMBER_COLUMNS = Object.values(COLUMNS);

const ofM = (names: readonly string[]): string => names.map((name) => `m.${name}`).join(', ');
// Not a join: the driver takes several microseconds more for each execution of a statement over two tables.
export const MEMBER_ROW = `m.id, ${ofM(MEMBER_COLUMNS)}, m.created_at, m.updated_at,
  (SELECT code FROM cooperatives WHERE id = m.cooperative_id) AS cooperative_code,
  (SELECT name FROM cooperatives WHERE id = m.cooperative_id) AS cooperative_name`;
const isLookedUp = (name: string): boolean => !NOT_LOOKED_UP.some((other) => other === name);
export const LOOKUP_ROW = `m.id, ${ofM(MEMBER_COLUMNS.filter(isLookedUp))}`;
// Named: without statistics the planner may take the index on status instead, and walk every active member.
export const PERSON = 'members m INDEXED BY members_person';

/** What a list shows, as an array: the names of cooperatives are cached. */
export type ListedRow = readonly [id: number, json: string, cooperativeId: number, registrationDate: number];
const JSON_FIELDS = LISTED_FIELDS.map(
  (name) => `'${name}', ${name === 'id' ? 'CAST(m.id AS TEXT)' : `m.${name}`}`,
);
const JSON_OBJECT = `json_object(${JSON_FIELDS.join(', ')})`;
export const LISTED_ROW = `m.id, ${JSON_OBJECT}, m.cooperative_id, m.registration_date`;

export type Column = string | number | null;

export const toColumns = (values: MemberValues): Column[] => VALUES.map((value) => values[value]);

const summaryOf = (row: MemberRow): CooperativeSummary => ({
  id: row.cooperative_id,
  code: row.cooperative_code,
  name: row.cooperative_name,
});

export const toMember = (row: MemberRow): Member => ({
  ...toMemberWithStatus(row, row.status, row.identity_card, summaryOf(row)),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export const toListedMember = (
  [id, json, , registrationDate]: ListedRow,
  cooperative: CooperativeSummary,
): ListedMember => ({ id, json, cooperative, registrationDate });

/** @param row of an active member: lookups read no others */
export const toLookedUpMember = (
  row: LookupRow,
  identityCard: string,
  cooperative: CooperativeSummary,
): LookedUpMember => toMemberWithStatus(row, 'active', identityCard, cooperative);

const toMemberWithStatus = (
  row: LookupRow,
  status: MemberStatus,
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
  status,
  registrationDate: row.registration_date,
});

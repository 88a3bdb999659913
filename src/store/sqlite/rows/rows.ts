/** What statements select of rows, under the names that entities have. */

import { LOAN_FIELDS, LOAN_HISTORY } from '../../../domain/lending/loans.ts';
import { PAYMENT_FIELDS } from '../../../domain/lending/payments.ts';
import { COOPERATIVE_FIELDS, type CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import { CONSOLIDATED, LISTED_TEXTS, LOOKED_UP, MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import { isGiven, listFields, type NamedField } from '../../../domain/values/declared-fields.ts';
import type { LookedUpMember } from '../../../lookup/consolidate.ts';
import type { ListedMember } from '../../contract/registry.ts';
import { activeMembersSql, ERASED_STATUS } from '../schema/counts.ts';

/** Columns as the properties of an entity, so that no row is converted. @param table its alias */
export const selected = (table: string, fields: readonly NamedField[]): string =>
  fields.map(({ column, property }) => `${table}.${column} AS ${property}`).join(', ');

/** What loans and payments show of the member `m` and the cooperative `c`. */
export const OWNER = `l.member_id AS memberId, iif(m.status = '${ERASED_STATUS}', NULL, m.identity_card)
  AS identityCard, m.full_name AS fullName, c.code AS cooperativeCode, c.name AS cooperativeName`;

const LOAN = listFields(LOAN_FIELDS);
export const LOAN_ROW = `SELECT l.id, ${OWNER}, ${selected('l', LOAN)}, l.created_at AS createdAt,
  l.updated_at AS updatedAt`;
/** Behind whatever names the rows `l`. */
export const LOAN_OWNER = `CROSS JOIN members m ON m.id = l.member_id
  CROSS JOIN cooperatives c ON c.id = l.cooperative_id`;

/** What a lookup shows of the loan `l`. */
export const LOAN_HISTORY_ROW = `l.id, ${selected(
  'l',
  LOAN.filter(({ property }) => LOAN_HISTORY.some((shown) => shown === property)),
)}`;

export const PAYMENT_ROW = `SELECT p.id, ${OWNER}, ${selected('p', listFields(PAYMENT_FIELDS))},
  p.created_at AS createdAt, p.updated_at AS updatedAt`;
/** Behind whatever names the rows `p`. */
export const PAYMENT_OWNER = `CROSS JOIN loans l ON l.id = p.loan_id
  CROSS JOIN members m ON m.id = l.member_id CROSS JOIN cooperatives c ON c.id = p.cooperative_id`;

export const COOPERATIVE_ROW = `c.id, ${selected('c', listFields(COOPERATIVE_FIELDS))},
  ${activeMembersSql('c.id')} AS membersCount,
  c.created_at AS createdAt, c.updated_at AS updatedAt`;

const MEMBER = listFields(MEMBER_FIELDS);
const some = (properties: readonly string[]) =>
  MEMBER.filter(({ property }) => properties.includes(property));

/** All but the code and name of the cooperative. */
export const MEMBER_VALUES = `m.id, ${selected('m', MEMBER.filter(isGiven))},
  m.created_at AS createdAt, m.updated_at AS updatedAt`;
// Not a join: the driver takes several microseconds more for each execution of a statement over two tables.
export const MEMBER_ROW = `${MEMBER_VALUES},
  (SELECT code FROM cooperatives WHERE id = m.cooperative_id) AS cooperativeCode,
  (SELECT name FROM cooperatives WHERE id = m.cooperative_id) AS cooperativeName`;

/** What a lookup reads; every column costs, and what it knows already is not read. */
export type LookupRow = Omit<LookedUpMember, 'identityCard' | 'status'>;
const KNOWN: readonly string[] = ['identityCard', 'status'] satisfies readonly (keyof LookedUpMember)[];
const READ = ['cooperativeId', 'registrationDate', ...LOOKED_UP, ...CONSOLIDATED].filter(
  (property) => !KNOWN.includes(property),
);
export const LOOKUP_ROW = `m.id, ${selected('m', some(READ))}`;
// Named: without statistics the planner may take the index on status instead, and walk every active member.
export const PERSON = 'members m INDEXED BY members_person';

/** What a list shows, as an array: the names of cooperatives are cached. */
export type ListedRow = readonly [id: number, json: string, cooperativeId: number, registrationDate: number];
const TEXTS = LISTED_TEXTS.flatMap((each) => some([each])).map(
  ({ name, column }) => `'${name}', m.${column}`,
);
export const LISTED_ROW = `m.id, json_object('id', CAST(m.id AS TEXT), ${TEXTS.join(', ')}), m.cooperative_id,
  m.registration_date`;

export const toListedMember = (
  [id, json, , registrationDate]: ListedRow,
  cooperative: CooperativeSummary,
): ListedMember => ({ id, json, cooperative, registrationDate });

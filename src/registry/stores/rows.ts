/** Column lists and joins of SELECTs. Columns have the property names of entities as aliases. */

import type { Connection } from '../../sqlite/connection.ts';
import { activeMembersSql, ERASED_STATUS } from '../../sqlite/counts.ts';
import type { ReadSnapshot } from '../../sqlite/group-commit.ts';
import { isGiven, listFields, type NamedField } from '../../values/declared-fields.ts';
import { COOPERATIVE_FIELDS, type CooperativeSummary } from '../cooperatives.ts';
import { LOAN_FIELDS, LOAN_HISTORY } from '../loans.ts';
import { CONSOLIDATED, LISTED_TEXTS, LOOKED_UP, MEMBER_FIELDS } from '../members.ts';
import { PAYMENT_FIELDS } from '../payments.ts';
import type { LookedUpMember } from './consolidate.ts';

/** @param table alias */
export const selected = (table: string, fields: readonly NamedField[]): string =>
  fields.map(({ column, property }) => `${table}.${column} AS ${property}`).join(', ');

const only = (fields: readonly NamedField[], properties: readonly string[]): NamedField[] =>
  fields.filter(({ property }) => properties.includes(property));

/** Columns of an `Owner` from the loan `l`, the member `m` and the cooperative `c`. */
export const OWNER = `l.member_id AS memberId, iif(m.status = '${ERASED_STATUS}', NULL, m.identity_card)
  AS identityCard, m.full_name AS fullName, c.code AS cooperativeCode, c.name AS cooperativeName`;

const LOAN = listFields(LOAN_FIELDS);
export const LOAN_ROW = `SELECT l.id, ${OWNER}, ${selected('l', LOAN)}, l.created_at AS createdAt,
  l.updated_at AS updatedAt`;
/** Joins to append after the loans `l`. */
export const LOAN_OWNER = `CROSS JOIN members m ON m.id = l.member_id
  CROSS JOIN cooperatives c ON c.id = l.cooperative_id`;

export const LOAN_HISTORY_ROW = `l.id, ${selected('l', only(LOAN, LOAN_HISTORY))}`;

export const PAYMENT_ROW = `SELECT p.id, ${OWNER}, ${selected('p', listFields(PAYMENT_FIELDS))},
  p.created_at AS createdAt, p.updated_at AS updatedAt`;
/** Joins to append after the payments `p`. */
export const PAYMENT_OWNER = `CROSS JOIN loans l ON l.id = p.loan_id
  CROSS JOIN members m ON m.id = l.member_id CROSS JOIN cooperatives c ON c.id = p.cooperative_id`;

export const COOPERATIVE_ROW = `c.id, ${selected('c', listFields(COOPERATIVE_FIELDS))},
  ${activeMembersSql('c.id')} AS membersCount,
  c.created_at AS createdAt, c.updated_at AS updatedAt`;

const MEMBER = listFields(MEMBER_FIELDS);

/** Columns of a member `m` except the cooperative's code and name, and fields that requests cannot set. */
export const MEMBER_VALUES = `m.id, ${selected('m', MEMBER.filter(isGiven))},
  m.created_at AS createdAt, m.updated_at AS updatedAt`;
// Subqueries instead of a join: the driver takes several microseconds longer to execute a statement over two
// tables.
export const MEMBER_ROW = `${MEMBER_VALUES},
  (SELECT code FROM cooperatives WHERE id = m.cooperative_id) AS cooperativeCode,
  (SELECT name FROM cooperatives WHERE id = m.cooperative_id) AS cooperativeName`;

/** Values that a lookup reads. A lookup already knows the national ID and the status. */
export type LookupRow = Omit<LookedUpMember, 'identityCard' | 'status'>;
const READ = ['cooperativeId', 'registrationDate', ...LOOKED_UP, ...CONSOLIDATED];
const LOOKUP_FIELDS = only(MEMBER, READ).filter(({ property }) => property !== 'status');
export const LOOKUP_ROW = `m.id, ${selected('m', LOOKUP_FIELDS)}`;
/** FROM clause that forces an index. Without statistics, the planner might scan every active member. */
export const PERSON = 'members m INDEXED BY members_person';

/** Member in a list. The name of the cooperative comes from a cache. */
export type ListedRow = readonly [id: number, json: string, cooperativeId: number, registrationDate: number];
const TEXTS = LISTED_TEXTS.flatMap((each) => only(MEMBER, [each])).map(
  ({ name, column }) => `'${name}', m.${column}`,
);
export const LISTED_ROW = `m.id, json_object('id', CAST(m.id AS TEXT), ${TEXTS.join(', ')}), m.cooperative_id,
  m.registration_date`;

// Cache of cooperatives for lookups. A registry has a few thousand cooperatives.

export type CooperativeSummaries = ReturnType<typeof openCooperativeSummaries>;

export function openCooperativeSummaries(db: Connection, snapshot: ReadSnapshot) {
  const select = db.prepare<[number], CooperativeSummary>(
    'SELECT id, code, name FROM cooperatives WHERE id = ?',
  );
  const cached = new Map<number, CooperativeSummary>();
  const invalidate = (): void => cached.clear();
  snapshot.onOutsideCommit(invalidate);
  return {
    /** Call this on each write of a cooperative. */
    invalidate,
    /** Call this in a read of the snapshot, not in a write. */
    get(id: number): CooperativeSummary {
      let summary = cached.get(id);
      if (summary === undefined) {
        summary = select.get(id) as CooperativeSummary;
        cached.set(id, summary);
      }
      return summary;
    },
  };
}

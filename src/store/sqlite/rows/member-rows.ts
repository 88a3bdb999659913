/** The rows of members: what statements select of them, under the names that entities have. */

import type { CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import { CONSOLIDATED, LISTED_TEXTS, LOOKED_UP, MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import { isGiven, listFields } from '../../../domain/values/declared-fields.ts';
import type { LookedUpMember } from '../../../lookup/consolidate.ts';
import type { ListedMember } from '../../ports/registry.ts';
import { selected } from './columns.ts';

const FIELDS = listFields(MEMBER_FIELDS);
const some = (properties: readonly string[]) =>
  FIELDS.filter(({ property }) => properties.includes(property));

/** All but the code and name of the cooperative. */
export const MEMBER_VALUES = `m.id, ${selected('m', FIELDS.filter(isGiven))},
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

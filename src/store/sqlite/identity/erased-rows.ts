/**
 * The rows of erased persons: they stay for the sums of their cooperatives, without a person. They are in no
 * list, count or lookup (docs/decisions/0022-erasure.md).
 */

import { MEMBER_FIELDS, type MemberField } from '../../../domain/membership/members.ts';
import { listFields, type NamedField } from '../../../domain/values/declared-fields.ts';
import { ERASED_STATUS } from '../schema/counts.ts';

/** Field of the history of an erased row. */
export const ERASED_FIELD = 'erased';

/** SQL of why a row with the later change `c` keeps an undo from being done. */
export const CHANGED_OR_ERASED = `iif(c.field = '${ERASED_FIELD}', 'erased', 'changed')`;

/** SQL of the correction that erased the member `m`. */
export const ERASED_BY = `(SELECT h.actor FROM main.changes h
  WHERE h.entity = 'members' AND h.row_id = m.id AND h.field = '${ERASED_FIELD}')`;

/** Order of what an undo is refused for: nothing else matters then. */
export const ERASED_FIRST = "ORDER BY reason <> 'erased'";

/** Whether a row that was read is one of them. */
export const isErased = ({ status }: { readonly status: string }): boolean => status === ERASED_STATUS;

type Replaced = {
  [property in keyof typeof MEMBER_FIELDS]: (typeof MEMBER_FIELDS)[property]['erasure'] extends 'replace'
    ? property
    : never;
}[keyof typeof MEMBER_FIELDS];

/** In SQL. Neither the number nor the code, with its two spaces, can be entered. */
const REPLACEMENTS: { readonly [property in Replaced]: string } = {
  identityCard: "'e' || printf('%015d', id)",
  memberCode: "'erased  ' || id",
  status: `'${ERASED_STATUS}'`,
};

/** SQL of what a field becomes; undefined for one that stays. */
function erased({ property, erasure }: NamedField<MemberField>): string | undefined {
  if (erasure === 'keep') return undefined;
  if (erasure === 'clear') return 'NULL';
  return erasure === 'replace' ? REPLACEMENTS[property as Replaced] : `'${erasure.becomes}'`;
}

/** The values of their columns, in SQL; the other columns stay, as sums need them. */
export const ERASED_VALUES: { readonly [column: string]: string } = Object.fromEntries(
  listFields<MemberField>(MEMBER_FIELDS).flatMap((field) => {
    const value = erased(field);
    return value === undefined ? [] : [[field.column, value]];
  }),
);

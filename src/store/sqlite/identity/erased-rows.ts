/**
 * The rows of erased persons: they stay for the sums of their cooperatives, without a person. They are in no
 * list, count or lookup (docs/decisions/0022-erasure.md).
 */

import { READ_MODEL_COLUMNS } from '../schema/stale-flag.ts';

/** Internal: no member of the API has this status. */
export const ERASED_STATUS = 'erased';

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

/** Their values, in SQL. Neither the number nor the code, with its two spaces, can be entered. */
export const ERASED_VALUES: { readonly [column: string]: string } = {
  identity_card: "'e' || printf('%015d', id)",
  member_code: "'erased  ' || id",
  full_name: "'(erased)'",
  first_name: 'NULL',
  last_name: 'NULL',
  gender: 'NULL',
  date_of_birth: 'NULL',
  date_of_death: 'NULL',
  mobile: 'NULL',
  role: "'MEMBER'",
  status: `'${ERASED_STATUS}'`,
};

/** What stays: sums need it, and it names nobody. Every column is in one of the two lists. */
export const KEPT_COLUMNS: readonly string[] = [
  ...['id', 'cooperative_id', 'registration_date', 'created_at', 'updated_at'],
  ...READ_MODEL_COLUMNS,
];

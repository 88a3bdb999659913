/**
 * The rows of erased persons: they stay for the sums of their cooperatives, without a person. They are in no
 * list, count or lookup (docs/decisions/0022-erasure.md).
 */

/** Internal: no member of the API has this status. */
export const ERASED_STATUS = 'erased';

/** Whether a row that was read is one of them. */
export const isErased = ({ status }: { readonly status: string }): boolean => status === ERASED_STATUS;

/** Their values. Neither the number nor the code, with its two spaces, can be entered. */
export const ERASED_VALUES = `identity_card = 'e' || printf('%015d', id), member_code = 'erased  ' || id,
  full_name = '(erased)', first_name = NULL, last_name = NULL, gender = NULL, date_of_birth = NULL,
  date_of_death = NULL, mobile = NULL, role = 'MEMBER', status = '${ERASED_STATUS}'`;

/** The rows of loans: what statements select of them, under the names that entities have. */

import { LOAN_FIELDS, LOAN_HISTORY } from '../../../domain/lending/loans.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { selected } from './columns.ts';

/** What loans and payments show of the member `m` and the cooperative `c`. */
export const OWNER = `l.member_id AS memberId, iif(m.status = '${ERASED_STATUS}', NULL, m.identity_card)
  AS identityCard, m.full_name AS fullName, c.code AS cooperativeCode, c.name AS cooperativeName`;

const FIELDS = listFields(LOAN_FIELDS);
export const LOAN_ROW = `SELECT l.id, ${OWNER}, ${selected('l', FIELDS)}, l.created_at AS createdAt,
  l.updated_at AS updatedAt`;
/** Behind whatever names the rows `l`. */
export const LOAN_OWNER = `CROSS JOIN members m ON m.id = l.member_id
  CROSS JOIN cooperatives c ON c.id = l.cooperative_id`;

/** What a lookup shows of the loan `l`. */
export const LOAN_HISTORY_ROW = `l.id, ${selected(
  'l',
  FIELDS.filter(({ property }) => LOAN_HISTORY.some((shown) => shown === property)),
)}`;

/** The rows of payments: what statements select of them, under the names that entities have. */

import { PAYMENT_FIELDS } from '../../../domain/lending/payments.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { selected } from './columns.ts';
import { OWNER } from './loan-rows.ts';

export const PAYMENT_ROW = `SELECT p.id, ${OWNER}, ${selected('p', listFields(PAYMENT_FIELDS))},
  p.created_at AS createdAt, p.updated_at AS updatedAt`;
/** Behind whatever names the rows `p`. */
export const PAYMENT_OWNER = `CROSS JOIN loans l ON l.id = p.loan_id
  CROSS JOIN members m ON m.id = l.member_id CROSS JOIN cooperatives c ON c.id = p.cooperative_id`;

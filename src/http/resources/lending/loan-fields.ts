/** A loan in bodies and responses, from the declarations of its fields. */

import { LOAN_FIELDS } from '../../../domain/lending/loans.ts';
import { SHOWN_LOAN } from '../../../json/shown/rows.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { declareResource } from '../resource.ts';
import { LOAN_BODY_EXAMPLE, LOAN_EXAMPLE, LOAN_PATCH_EXAMPLE } from './loan-examples.ts';

export const LOAN = declareResource(LOAN_FIELDS, {
  tag: 'loans',
  title: 'Loan',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_LOAN,
  memberIdOf: ({ memberId }) => memberId,
  example: LOAN_EXAMPLE,
  examples: { body: LOAN_BODY_EXAMPLE, patch: LOAN_PATCH_EXAMPLE },
});

/** A loan in bodies and responses, from the declarations of its fields. */

import { LOAN_FIELDS } from '../../../domain/lending/loans.ts';
import { SHOWN_LOAN } from '../../../json/shown/rows.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { declareResource } from '../resource.ts';

export const LOAN = declareResource(LOAN_FIELDS, {
  tag: 'loans',
  title: 'Loan',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_LOAN,
  memberIdOf: ({ memberId }) => memberId,
});

/** A loan in bodies and responses, from the declarations of its fields. */

import { LOAN_FIELDS, LOAN_HISTORY, type LoanRecord } from '../../../domain/lending/loans.ts';
import { otherFields, shownFields } from '../../../json/declared-fields.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { declareResource } from '../resource.ts';
import { SHOWN_ID, SHOWN_OWNER, SHOWN_TIMES } from '../row-properties.ts';
import { LOAN_BODY_EXAMPLE, LOAN_EXAMPLE, LOAN_PATCH_EXAMPLE } from './loan-examples.ts';

export const LOAN = declareResource(LOAN_FIELDS, {
  tag: 'loans',
  title: 'Loan',
  narrowed: SHOWS_PERSONS,
  properties: {
    ...SHOWN_ID,
    ...shownFields<LoanRecord>(LOAN_FIELDS, LOAN_HISTORY),
    ...SHOWN_OWNER,
    ...otherFields<LoanRecord>(LOAN_FIELDS, LOAN_HISTORY),
    ...SHOWN_TIMES,
  },
  example: LOAN_EXAMPLE,
  examples: { body: LOAN_BODY_EXAMPLE, patch: LOAN_PATCH_EXAMPLE },
});

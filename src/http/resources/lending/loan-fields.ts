/** A loan in bodies and responses, from the declarations of its fields. */
import { LOAN_FIELDS, LOAN_HISTORY, type LoanRecord } from '../../../domain/lending/loans.ts';
import { otherFields, shownFields, shownObject } from '../../../json/declared-fields.ts';
import { declareBodies } from '../../declare/declared-bodies.ts';
import { SHOWN_ID, SHOWN_OWNER, SHOWN_TIMES } from '../row-properties.ts';
import { LOAN_BODY_EXAMPLE, LOAN_PATCH_EXAMPLE } from './loan-examples.ts';

export const { schema: LOAN, serialize: serializeLoan } = shownObject<LoanRecord>('Loan', {
  ...SHOWN_ID,
  ...shownFields(LOAN_FIELDS, LOAN_HISTORY),
  ...SHOWN_OWNER,
  ...otherFields(LOAN_FIELDS, LOAN_HISTORY),
  ...SHOWN_TIMES,
});

export const LOAN_BODIES = declareBodies(LOAN_FIELDS, {
  title: 'Loan',
  response: LOAN,
  examples: { body: LOAN_BODY_EXAMPLE, patch: LOAN_PATCH_EXAMPLE },
});

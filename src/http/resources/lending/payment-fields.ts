/** A payment in bodies and responses, from the declarations of its fields. */

import { PAYMENT_FIELDS, type PaymentRecord } from '../../../domain/lending/payments.ts';
import { otherFields } from '../../../json/declared-fields.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { declareResource } from '../resource.ts';
import { SHOWN_ID, SHOWN_OWNER, SHOWN_TIMES } from '../row-properties.ts';
import { PAYMENT_BODY_EXAMPLE, PAYMENT_EXAMPLE, PAYMENT_PATCH_EXAMPLE } from './loan-examples.ts';

export const PAYMENT = declareResource(PAYMENT_FIELDS, {
  tag: 'payments',
  title: 'Payment',
  narrowed: SHOWS_PERSONS,
  properties: {
    ...SHOWN_ID,
    ...otherFields<PaymentRecord>(PAYMENT_FIELDS, []),
    ...SHOWN_TIMES,
    ...SHOWN_OWNER,
  },
  example: PAYMENT_EXAMPLE,
  examples: { body: PAYMENT_BODY_EXAMPLE, patch: PAYMENT_PATCH_EXAMPLE },
});

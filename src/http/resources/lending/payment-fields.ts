/** A payment in bodies and responses, from the declarations of its fields. */
import { PAYMENT_FIELDS, type PaymentRecord } from '../../../domain/lending/payments.ts';
import { otherFields, shownObject } from '../../../json/declared-fields.ts';
import { declareBodies } from '../../declare/declared-bodies.ts';
import { SHOWN_ID, SHOWN_OWNER, SHOWN_TIMES } from '../row-properties.ts';
import { PAYMENT_BODY_EXAMPLE, PAYMENT_PATCH_EXAMPLE } from './loan-examples.ts';

export const { schema: PAYMENT, serialize: serializePayment } = shownObject<PaymentRecord>('Payment', {
  ...SHOWN_ID,
  ...otherFields(PAYMENT_FIELDS, []),
  ...SHOWN_TIMES,
  ...SHOWN_OWNER,
});

export const PAYMENT_BODIES = declareBodies(PAYMENT_FIELDS, {
  title: 'Payment',
  response: PAYMENT,
  examples: { body: PAYMENT_BODY_EXAMPLE, patch: PAYMENT_PATCH_EXAMPLE },
});

/** A payment in bodies and responses, from the declarations of its fields. */

import { PAYMENT_FIELDS } from '../../../domain/lending/payments.ts';
import { SHOWN_PAYMENT } from '../../../json/shown/rows.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { declareResource } from '../resource.ts';
import { PAYMENT_BODY_EXAMPLE, PAYMENT_EXAMPLE, PAYMENT_PATCH_EXAMPLE } from './loan-examples.ts';

export const PAYMENT = declareResource(PAYMENT_FIELDS, {
  tag: 'payments',
  title: 'Payment',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_PAYMENT,
  memberIdOf: ({ memberId }) => memberId,
  example: PAYMENT_EXAMPLE,
  examples: { body: PAYMENT_BODY_EXAMPLE, patch: PAYMENT_PATCH_EXAMPLE },
});

/** A payment in bodies and responses, from the declarations of its fields. */

import { PAYMENT_FIELDS } from '../../../domain/lending/payments.ts';
import { SHOWN_PAYMENT } from '../../../json/shown/rows.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { declareResource } from '../resource.ts';

export const PAYMENT = declareResource(PAYMENT_FIELDS, {
  tag: 'payments',
  title: 'Payment',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_PAYMENT,
  memberIdOf: ({ memberId }) => memberId,
});

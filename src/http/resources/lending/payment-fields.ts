/** The fields of a payment: one declaration each for bodies, responses and OpenAPI. */

import {
  DEFAULT_PAYMENT_STATUS,
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  type PaymentRecord,
} from '../../../domain/lending/payments.ts';
import { MONEY } from '../../../domain/values/decimal.ts';
import { ID } from '../../../domain/values/ids.ts';
import { MAX_LENGTH } from '../../../domain/values/text.ts';
import { decimal, decimalField } from '../../../json/decimal-fields.ts';
import { choice, pastDateTime, plainText, reference } from '../../../json/fields.ts';
import { object, type Static, string } from '../../../json/schema.ts';
import { instant, plain, serializeObject, text } from '../../../json/serializer.ts';
import { defaulting, type ParsedBody, patchOf, required } from '../../declare/body-fields.ts';
import { pathId } from '../../declare/path-id.ts';
import { COOPERATIVE_SUMMARY, serializeCooperativeSummary } from '../cooperative-fields.ts';
import { PAYMENT_BODY_EXAMPLE, PAYMENT_PATCH_EXAMPLE } from './loan-examples.ts';
import { LOAN_MEMBER, serializeLoanMember } from './loan-fields.ts';

export const PAYMENT_ID = pathId("A payment's id; opaque.");

export const PAYMENT_FIELDS = {
  amount: decimalField(MONEY, 'Rwandan francs, more than 0.'),
  method: choice(PAYMENT_METHODS, 'How it was paid.'),
  reference: plainText(
    MAX_LENGTH.reference,
    "The cooperative's own number of the payment; unique there, void ones included.",
  ),
  status: choice(PAYMENT_STATUSES, 'Only recorded ones count; a void one is not changed any more.'),
  paid_at: pastDateTime('When it was paid; now, if a new payment does not say.'),
};

const F = PAYMENT_FIELDS;

const BODY_FIELDS = {
  loan_id: required(reference('The loan that is paid back.')),
  amount: required(F.amount),
  method: required(F.method),
  reference: required(F.reference),
  // The fallback is now on POST, the stored one on PUT.
  paid_at: defaulting(F.paid_at),
};

/** The body of POST. */
export const PAYMENT_BODY = {
  title: 'PaymentBody',
  fields: {
    ...BODY_FIELDS,
    status: defaulting(choice([DEFAULT_PAYMENT_STATUS], 'Of a new payment.'), DEFAULT_PAYMENT_STATUS),
  },
  example: PAYMENT_BODY_EXAMPLE,
};

/** The body of PUT: the loan cannot change, so it may be left out. */
export const PAYMENT_UPDATE_BODY = {
  ...PAYMENT_BODY,
  title: 'PaymentUpdateBody',
  fields: {
    ...BODY_FIELDS,
    loan_id: defaulting(reference('Cannot be changed.')),
    // The fallback is the stored one.
    status: defaulting(F.status),
  },
  readOnly: ['id', 'member', 'cooperative', 'created_at', 'updated_at'],
};
/** The body of PATCH. */
export const PAYMENT_PATCH_BODY = patchOf(PAYMENT_UPDATE_BODY, 'PaymentPatchBody', PAYMENT_PATCH_EXAMPLE);
export type PaymentBody = ParsedBody<typeof PAYMENT_UPDATE_BODY.fields>;

export const PAYMENT = object(
  {
    id: string({ description: 'Opaque.' }),
    loan_id: string({ pattern: ID.source, description: 'The loan that is paid back.' }),
    amount: F.amount.schema,
    method: F.method.schema,
    reference: F.reference.schema,
    status: F.status.schema,
    paid_at: F.paid_at.schema,
    created_at: string({ format: 'date-time', description: 'When the row was created.' }),
    updated_at: string({ format: 'date-time', description: 'When the row last changed.' }),
    member: LOAN_MEMBER,
    cooperative: COOPERATIVE_SUMMARY,
  },
  { title: 'Payment' },
);

export const serializePayment = serializeObject<Static<typeof PAYMENT>, PaymentRecord>({
  id: plain(({ id }) => String(id)),
  loan_id: plain(({ loanId }) => String(loanId)),
  amount: decimal(({ amountMinor }) => amountMinor, 2),
  method: plain(({ method }) => method),
  reference: text(({ reference }) => reference),
  status: plain(({ status }) => status),
  paid_at: instant(({ paidAt }) => paidAt),
  created_at: instant(({ createdAt }) => createdAt),
  updated_at: instant(({ updatedAt }) => updatedAt),
  member: ({ member }, zone) => serializeLoanMember(member, zone),
  cooperative: ({ cooperative }) => serializeCooperativeSummary(cooperative),
});

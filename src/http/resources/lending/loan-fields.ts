/** The fields of a loan: one declaration each for bodies, responses and OpenAPI. */

import {
  DEFAULT_LOAN_STATUS,
  LOAN_STATUSES,
  type LoanMember,
  type LoanRecord,
  NEW_LOAN_STATUSES,
} from '../../../domain/lending/loans.ts';
import { MONEY, RATE } from '../../../domain/values/decimal.ts';
import { MAX_LENGTH } from '../../../domain/values/text.ts';
import { decimalField } from '../../../json/decimal-fields.ts';
import { choice, dateTime, plainText, reference } from '../../../json/fields.ts';
import { nullable, object, type Static, string } from '../../../json/schema.ts';
import { instant, plain, serializeObject, text } from '../../../json/serializer.ts';
import { LOAN_PROPERTIES, LOAN_SERIALIZERS } from '../../../lookup/financial-blocks.ts';
import { defaulting, optional, type ParsedBody, patchOf, required } from '../../declare/body-fields.ts';
import { pathId } from '../../declare/path-id.ts';
import { COOPERATIVE_SUMMARY, serializeCooperativeSummary } from '../cooperative-fields.ts';
import { MEMBER_FIELDS } from '../members/member-fields.ts';
import { LOAN_BODY_EXAMPLE, LOAN_PATCH_EXAMPLE } from './loan-examples.ts';

export const LOAN_ID = pathId("A loan's id; opaque.");

export const LOAN_FIELDS = {
  reference: plainText(MAX_LENGTH.reference, "The cooperative's own number of the loan; unique there."),
  status: choice(LOAN_STATUSES, 'How far the loan is.'),
};

const F = LOAN_FIELDS;

const BODY_FIELDS = {
  member_id: required(reference('The member who borrows.')),
  reference: required(F.reference),
  amount: required(decimalField(MONEY, 'Rwandan francs, more than 0.')),
  interest_rate: required(decimalField(RATE, 'Per cent a year, from 0 to 100.')),
  loan_start_date: optional(dateTime('When it starts or started.')),
  loan_end_date: optional(dateTime('When it is to end or ended.')),
};

/** The body of POST. */
export const LOAN_BODY = {
  title: 'LoanBody',
  fields: {
    ...BODY_FIELDS,
    status: defaulting(choice(NEW_LOAN_STATUSES, 'Of a new loan.'), DEFAULT_LOAN_STATUS),
  },
  example: LOAN_BODY_EXAMPLE,
};

/** The body of PUT: the member cannot change, so it may be left out, as it is in what GET gives. */
export const LOAN_UPDATE_BODY = {
  ...LOAN_BODY,
  title: 'LoanUpdateBody',
  fields: {
    ...BODY_FIELDS,
    member_id: defaulting(reference('Cannot be changed.')),
    // The fallback is the stored one.
    status: defaulting(F.status),
  },
  readOnly: ['id', 'member', 'cooperative', 'paid_amount', 'approved_at', 'created_at', 'updated_at'],
};
/** The body of PATCH. */
export const LOAN_PATCH_BODY = patchOf(LOAN_UPDATE_BODY, 'LoanPatchBody', LOAN_PATCH_EXAMPLE);
export type LoanBody = ParsedBody<typeof LOAN_UPDATE_BODY.fields>;

/** What loans and payments show of the member. */
export const LOAN_MEMBER = object(
  {
    id: string({ description: 'Opaque.' }),
    identity_card: nullable(MEMBER_FIELDS.identity_card.schema),
    full_name: MEMBER_FIELDS.full_name.schema,
  },
  { title: 'LoanMember' },
);

export const LOAN = object(
  {
    ...LOAN_PROPERTIES,
    member: LOAN_MEMBER,
    cooperative: COOPERATIVE_SUMMARY,
    reference: F.reference.schema,
    created_at: string({ format: 'date-time', description: 'When the row was created.' }),
    updated_at: string({ format: 'date-time', description: 'When the row last changed.' }),
  },
  { title: 'Loan' },
);

export const serializeLoanMember = serializeObject<Static<typeof LOAN_MEMBER>, LoanMember>({
  id: plain(({ id }) => String(id)),
  identity_card: plain(({ identityCard }) => identityCard),
  full_name: text(({ fullName }) => fullName),
});

export const serializeLoan = serializeObject<Static<typeof LOAN>, LoanRecord>({
  ...LOAN_SERIALIZERS,
  member: ({ member }, zone) => serializeLoanMember(member, zone),
  cooperative: ({ cooperative }) => serializeCooperativeSummary(cooperative),
  reference: text(({ reference }) => reference),
  created_at: instant(({ createdAt }) => createdAt),
  updated_at: instant(({ updatedAt }) => updatedAt),
});

/** Properties of rows in responses and exports, derived from the declared fields of each entity. */

import {
  financials,
  kindOf,
  otherFields,
  type ShownProperties,
  shownFields,
  shownObject,
} from '../values/field-json.ts';
import { integer, nullable, string } from '../values/schema.ts';
import { instant, plain, text } from '../values/serializer.ts';
import { COOPERATIVE_FIELDS, type Cooperative } from './cooperatives.ts';
import {
  ACCOUNT_FIELDS,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from './entries.ts';
import { LOAN_FIELDS, LOAN_HISTORY, type LoanRecord, type Owner } from './loans.ts';
import { LISTED_TEXTS, MEMBER_FIELDS, type Member } from './members.ts';
import { PAYMENT_FIELDS, type PaymentRecord } from './payments.ts';

const SHOWN_ID: ShownProperties<{ readonly id: number }> = {
  id: { schema: string({ description: 'Opaque.', examples: ['3'] }), write: plain(({ id }) => String(id)) },
};

const SHOWN_TIMES: ShownProperties<{ readonly createdAt: number; readonly updatedAt: number }> = {
  created_at: {
    schema: string({ format: 'date-time', description: 'When the row was created.' }),
    write: instant(({ createdAt }) => createdAt),
  },
  updated_at: {
    schema: string({ format: 'date-time', description: 'When the row last changed.' }),
    write: instant(({ updatedAt }) => updatedAt),
  },
};

type OfCooperative = Pick<Owner, 'cooperativeId' | 'cooperativeCode' | 'cooperativeName'>;

const ofCooperative = shownObject<OfCooperative>('CooperativeReference', {
  id: { schema: string({ examples: ['1'] }), write: plain(({ cooperativeId }) => String(cooperativeId)) },
  code: {
    schema: string({ examples: ['KOAKAMA-HUY'] }),
    write: plain(({ cooperativeCode }) => cooperativeCode),
  },
  name: {
    schema: string({ examples: [COOPERATIVE_FIELDS.name.example] }),
    write: text(({ cooperativeName }) => cooperativeName),
  },
});
export const COOPERATIVE_SUMMARY = ofCooperative.schema;

const SHOWN_COOPERATIVE: ShownProperties<OfCooperative> = {
  cooperative: { schema: COOPERATIVE_SUMMARY, write: ofCooperative.serialize },
};

export const IDENTITY_CARD_SCHEMA = kindOf(MEMBER_FIELDS.identityCard).schema;

const ofMember = shownObject<Owner>('LoanMember', {
  id: {
    schema: string({ description: 'Opaque.', examples: ['3'] }),
    write: plain(({ memberId }) => String(memberId)),
  },
  identity_card: {
    schema: nullable(IDENTITY_CARD_SCHEMA),
    write: plain(({ identityCard }) => identityCard),
    groups: [MEMBER_FIELDS.identityCard.group],
  },
  full_name: {
    schema: kindOf(MEMBER_FIELDS.fullName).schema,
    write: text(({ fullName }) => fullName),
    groups: [MEMBER_FIELDS.fullName.group],
  },
});

export const SHOWN_OWNER: ShownProperties<Owner> = {
  member: { schema: ofMember.schema, write: ofMember.serialize, groups: ofMember.groups },
  ...SHOWN_COOPERATIVE,
};

export const SHOWN_COOPERATIVE_ROW: ShownProperties<Cooperative> = {
  ...SHOWN_ID,
  ...otherFields(COOPERATIVE_FIELDS, []),
  members_count: {
    schema: integer({ minimum: 0, description: 'Active members.' }),
    write: ({ membersCount }) => String(membersCount),
  },
  ...SHOWN_TIMES,
};

export const SHOWN_LISTED_MEMBER: ShownProperties<Member> = {
  ...SHOWN_ID,
  ...shownFields(MEMBER_FIELDS, LISTED_TEXTS),
  ...SHOWN_COOPERATIVE,
  ...shownFields(MEMBER_FIELDS, ['registrationDate']),
};

/** Read-only properties in a request body are ignored. */
export const SHOWN_MEMBER: ShownProperties<Member> = {
  ...SHOWN_LISTED_MEMBER,
  ...otherFields<Member>(MEMBER_FIELDS, [...LISTED_TEXTS, 'registrationDate']),
  ...SHOWN_TIMES,
};

export const SHOWN_LOAN: ShownProperties<LoanRecord> = {
  ...SHOWN_ID,
  ...financials(shownFields<LoanRecord>(LOAN_FIELDS, LOAN_HISTORY)),
  ...SHOWN_OWNER,
  ...financials(otherFields<LoanRecord>(LOAN_FIELDS, LOAN_HISTORY)),
  ...SHOWN_TIMES,
};

export const SHOWN_PAYMENT: ShownProperties<PaymentRecord> = {
  ...SHOWN_ID,
  ...financials(otherFields<PaymentRecord>(PAYMENT_FIELDS, [])),
  ...SHOWN_TIMES,
  ...SHOWN_OWNER,
};

export const SHOWN_DELIVERY: ShownProperties<ProductionEntry> = {
  ...SHOWN_ID,
  ...financials(otherFields(PRODUCTION_FIELDS, [])),
};

export const SHOWN_SAVINGS_TRANSACTION: ShownProperties<SavingsTransaction> = {
  ...SHOWN_ID,
  ...financials({ ...otherFields(ACCOUNT_FIELDS, []), ...otherFields(SAVINGS_FIELDS, []) }),
};

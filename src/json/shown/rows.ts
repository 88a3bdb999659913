/** What responses and exports show of the rows of each kind, from the declarations of their fields. */
import {
  ACCOUNT_FIELDS,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../../domain/entries/entries.ts';
import { LOAN_FIELDS, LOAN_HISTORY, type LoanRecord } from '../../domain/lending/loans.ts';
import { PAYMENT_FIELDS, type PaymentRecord } from '../../domain/lending/payments.ts';
import { COOPERATIVE_FIELDS, type Cooperative } from '../../domain/membership/cooperatives.ts';
import { LISTED_TEXTS, MEMBER_FIELDS, type Member } from '../../domain/membership/members.ts';
import { financials, otherFields, type ShownProperties, shownFields } from '../declared-fields.ts';
import { integer } from '../schema.ts';
import { SHOWN_COOPERATIVE, SHOWN_ID, SHOWN_OWNER, SHOWN_TIMES } from './row-properties.ts';

export const SHOWN_COOPERATIVE_ROW: ShownProperties<Cooperative> = {
  ...SHOWN_ID,
  ...otherFields(COOPERATIVE_FIELDS, []),
  members_count: {
    schema: integer({ minimum: 0, description: 'Active members.' }),
    write: ({ membersCount }) => String(membersCount),
  },
  ...SHOWN_TIMES,
};

/** What lists show of a member. */
export const SHOWN_LISTED_MEMBER: ShownProperties<Member> = {
  ...SHOWN_ID,
  ...shownFields(MEMBER_FIELDS, LISTED_TEXTS),
  ...SHOWN_COOPERATIVE,
  ...shownFields(MEMBER_FIELDS, ['registrationDate']),
};

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

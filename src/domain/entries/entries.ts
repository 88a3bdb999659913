/** The entries of a member one by one: what the summaries of a lookup add up. */

import { MONEY, WEIGHT } from '../values/decimal.ts';
import type { Fields, GivenValues, ValuesOf } from '../values/declared-fields.ts';
import { say } from '../values/message.ts';
import { MAX_LENGTH } from '../values/text.ts';
import { TRANSACTION_KINDS } from './savings.ts';

const REFERENCE = {
  label: say('Reference'),
  kind: 'text',
  maxLength: MAX_LENGTH.reference,
  description: 'Unique in the cooperative; made from the other values where none is given.',
  example: 'HUY-2025-06-0117',
  isKey: true,
  isComposed: true,
} as const;

export const PRODUCTION_FIELDS = {
  reference: REFERENCE,
  deliveredAt: { label: say('Delivered on'), kind: 'past_instant', description: 'When it was delivered.' },
  grams: { label: say('Kilograms'), name: 'kg', kind: 'decimal', decimal: WEIGHT, description: 'Kilograms.' },
  product: {
    label: say('Product'),
    kind: 'text',
    maxLength: MAX_LENGTH.product,
    description: 'What was delivered, as the cooperative calls it.',
    example: 'Coffee cherries',
    isNullable: true,
  },
} as const satisfies Fields;

export interface ProductionEntry extends ValuesOf<typeof PRODUCTION_FIELDS> {
  readonly id: number;
}

export const ACCOUNT_FIELDS = {
  accountNumber: {
    label: say('Account number'),
    kind: 'text',
    maxLength: 64,
    description: "The member's savings account in the cooperative.",
    example: 'HUY-S-0002',
  },
} as const satisfies Fields;

export const SAVINGS_FIELDS = {
  reference: REFERENCE,
  kind: { label: say('Kind'), kind: 'choice', choices: TRANSACTION_KINDS, description: 'Paid in or out.' },
  amountMinor: {
    label: say('Amount'),
    name: 'amount',
    kind: 'decimal',
    decimal: MONEY,
    description: 'Rwandan francs.',
  },
  transactedAt: {
    label: say('Day of the transaction'),
    kind: 'past_instant',
    description: 'When it was paid in or out.',
  },
} as const satisfies Fields;

export interface SavingsTransaction extends ValuesOf<typeof ACCOUNT_FIELDS>, ValuesOf<typeof SAVINGS_FIELDS> {
  readonly id: number;
}

/** Checked values of a request; without a reference the entry gets one that is derived from the others. */
export type NewDelivery = GivenValues<typeof PRODUCTION_FIELDS>;
export type NewSavingsTransaction = GivenValues<typeof ACCOUNT_FIELDS> & GivenValues<typeof SAVINGS_FIELDS>;

/** Both ends belong to it; one that is not given leaves it open. */
export interface Period {
  /** Epoch seconds, as the following one. */
  readonly from?: number;
  readonly to?: number;
}

export interface DeliveryFilter extends Period {
  /** Exactly this text, ignoring case. */
  readonly product?: string;
}

/** Kinds of entries that can be listed and removed one by one. */
export const ENTRY_KINDS = ['production', 'savings', 'loans'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The reference of an entry that came without one begins so. */
export const DERIVED_REFERENCE = 'auto-';
/** That of one that was typed once more, although it equals a stored one, begins so. */
export const TYPED_AGAIN = 'DESK-';

/** All entries of a member, or the one that has a reference in a cooperative. */
export type EntrySelection =
  | { readonly memberId: number }
  | { readonly cooperativeCode: string; readonly reference: string };

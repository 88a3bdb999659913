/** The entries of a member one by one: what the summaries of a lookup add up. */

import { MONEY, WEIGHT } from '../values/decimal.ts';
import type { Fields, ValuesOf } from '../values/declared-fields.ts';
import { MAX_LENGTH } from '../values/text.ts';
import { TRANSACTION_KINDS } from './savings.ts';

const REFERENCE = {
  kind: 'text',
  maxLength: MAX_LENGTH.reference,
  description: 'Unique in the cooperative.',
  example: 'HUY-2025-06-0117',
  isKey: true,
  isComposed: true,
} as const;

export const PRODUCTION_FIELDS = {
  reference: REFERENCE,
  deliveredAt: { kind: 'past_instant', description: 'When it was delivered.' },
  grams: { name: 'kg', kind: 'decimal', decimal: WEIGHT, description: 'Kilograms.' },
  product: {
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
    kind: 'text',
    maxLength: 64,
    description: "The member's savings account in the cooperative.",
    example: 'HUY-S-0002',
  },
} as const satisfies Fields;

export const SAVINGS_FIELDS = {
  reference: REFERENCE,
  kind: { kind: 'choice', choices: TRANSACTION_KINDS, description: 'Paid in or out.' },
  amountMinor: { name: 'amount', kind: 'decimal', decimal: MONEY, description: 'Rwandan francs.' },
  transactedAt: { kind: 'past_instant', description: 'When it was paid in or out.' },
} as const satisfies Fields;

export interface SavingsTransaction extends ValuesOf<typeof ACCOUNT_FIELDS>, ValuesOf<typeof SAVINGS_FIELDS> {
  readonly id: number;
}

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

/** All entries of a member, or the one that has a reference in a cooperative. */
export type EntrySelection =
  | { readonly memberId: number }
  | { readonly cooperativeCode: string; readonly reference: string };

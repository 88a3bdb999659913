/** Entries of a member (deliveries and savings transactions), and their summaries in lookups. */

import { type ExactInteger, MONEY, WEIGHT } from '../values/decimal.ts';
import type { Fields, InputValues, ValuesOf } from '../values/declared-fields.ts';
import { say } from '../values/message.ts';
import { MAX_LENGTH } from '../values/text.ts';

export const TRANSACTION_KINDS = ['contribution', 'withdrawal'] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

export interface SavingsSummary {
  readonly accountsCount: number;
  readonly totalContributionsMinor: ExactInteger;
  readonly totalWithdrawalsMinor: ExactInteger;
  /** Epoch seconds, or null if there are no transactions. */
  readonly lastTransactionAt: number | null;
}

const REFERENCE = {
  label: say('Reference'),
  kind: 'text',
  maxLength: MAX_LENGTH.reference,
  description:
    'Unique in the cooperative; made from the other values of an entry that came without a reference.',
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
    description: 'Product, as the cooperative calls it.',
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

/** If the reference is missing, the store derives one from the other values. */
export type NewDelivery = InputValues<typeof PRODUCTION_FIELDS>;
export type NewSavingsTransaction = InputValues<typeof ACCOUNT_FIELDS> & InputValues<typeof SAVINGS_FIELDS>;

/** Period in epoch seconds. Both ends are inclusive; a missing end sets no limit. */
export interface Period {
  readonly from?: number;
  readonly to?: number;
}

export interface DeliveryFilter extends Period {
  /** Entire product name, in any letter case. */
  readonly product?: string;
}

/** Kinds of entries that commands can list, and remove one by one. */
export const ENTRY_KINDS = ['production', 'savings', 'loans'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export const DERIVED_REFERENCE = 'auto-';
/** Kinds of entries for which the registry derives missing references. */
export type DerivedKind = 'production' | 'savings';

const OF_MEMBER = ['cooperative_code', 'member_code', 'identity_card'];
/**
 * Columns in the hash of a derived reference. Never change them, or old files could be imported twice.
 * `reference` is always empty, but existing hashes include it. Names of members may be spelled differently in
 * the next file, so no hash includes names.
 */
export const HASHED: { readonly [kind in DerivedKind]: readonly string[] } = {
  production: [...OF_MEMBER, 'reference', 'delivered_at', 'kg', 'product'],
  savings: [...OF_MEMBER, 'account_number', 'reference', 'kind', 'amount', 'transacted_at'],
};

/** Prefix of the reference that the desk gives to a new entry whose values equal those of a stored entry. */
export const TYPED_AGAIN = 'DESK-';

export type EntrySelection =
  | { readonly memberId: number }
  | { readonly cooperativeCode: string; readonly reference: string };

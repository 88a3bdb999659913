/** The entries of a member one by one: what the summaries of a lookup add up. */
import type { TransactionKind } from './savings.ts';

export interface ProductionEntry {
  readonly id: number;
  readonly reference: string;
  /** Epoch seconds. */
  readonly deliveredAt: number;
  readonly grams: number;
  readonly product: string | null;
}

export interface SavingsTransaction {
  readonly id: number;
  readonly accountNumber: string;
  readonly reference: string;
  readonly kind: TransactionKind;
  /** Hundredths of a franc. */
  readonly amountMinor: number;
  /** Epoch seconds. */
  readonly transactedAt: number;
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

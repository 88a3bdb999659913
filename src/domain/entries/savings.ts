/** The summary of savings that the lookup shows; the fields of a transaction are in entries.ts. */
import type { ExactInteger } from '../values/decimal.ts';

export const TRANSACTION_KINDS = ['contribution', 'withdrawal'] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

export interface SavingsSummary {
  readonly accountsCount: number;
  readonly totalContributionsMinor: ExactInteger;
  readonly totalWithdrawalsMinor: ExactInteger;
  /** Epoch seconds; null when there is no transaction. */
  readonly lastTransactionAt: number | null;
}

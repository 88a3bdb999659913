/** A loan, as the lookup shows it. */

export const LOAN_STATUSES = ['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'] as const;
export type LoanStatus = (typeof LOAN_STATUSES)[number];

/** `loan_history` holds at most this many (docs/api.md#looking-up-a-person). */
export const LOAN_HISTORY_LIMIT = 10;

export interface Loan {
  readonly id: number;
  /** Hundredths of a franc. */
  readonly amountMinor: number;
  /** Hundredths of a per cent a year. */
  readonly interestRateHundredths: number;
  readonly status: LoanStatus;
  readonly paidAmountMinor: number;
  /** Epoch seconds, as the following ones. */
  readonly loanStartDate: number | null;
  readonly loanEndDate: number | null;
  readonly approvedAt: number | null;
}

/** The rows of loans: their columns, and what they are as entities. */

import type { LoanMember, LoanRecord, LoanStatus, LoanValues } from '../../../domain/lending/loans.ts';
import { isIdentityCard } from '../../../domain/membership/identity-card.ts';

/** The member and the cooperative of a loan or payment. */
export interface OwnerColumns {
  member_id: number;
  identity_card: string;
  full_name: string;
  cooperative_id: number;
  cooperative_code: string;
  cooperative_name: string;
}

export interface LoanRow extends OwnerColumns {
  id: number;
  reference: string;
  amount_minor: number;
  interest_rate_hundredths: number;
  status: LoanStatus;
  paid_amount_minor: number;
  opening_balance_minor: number;
  paid_until: number | null;
  loan_start_date: number | null;
  loan_end_date: number | null;
  approved_at: number | null;
  created_at: number;
  updated_at: number;
}

/** Of the loan `l` and its member `m`; `entry` is the row whose cooperative is shown. */
export const ownerColumns = (entry: 'l' | 'p'): string =>
  `l.member_id, m.identity_card, m.full_name, ${entry}.cooperative_id, c.code AS cooperative_code,
   c.name AS cooperative_name`;

export const LOAN_ROW = `SELECT l.id, ${ownerColumns('l')}, l.reference, l.amount_minor,
    l.interest_rate_hundredths, l.status, l.paid_amount_minor, l.opening_balance_minor, l.paid_until,
    l.loan_start_date, l.loan_end_date, l.approved_at, l.created_at, l.updated_at`;
/** Behind whatever names the rows `l`. */
export const LOAN_OWNER = `CROSS JOIN members m ON m.id = l.member_id
  CROSS JOIN cooperatives c ON c.id = l.cooperative_id`;

export const toOwner = (row: OwnerColumns): Pick<LoanRecord, 'member' | 'cooperative'> => ({
  member: {
    id: row.member_id,
    identityCard: isIdentityCard(row.identity_card) ? row.identity_card : null,
    fullName: row.full_name,
  } satisfies LoanMember,
  cooperative: { id: row.cooperative_id, code: row.cooperative_code, name: row.cooperative_name },
});

export const toLoanRecord = (row: LoanRow): LoanRecord => ({
  id: row.id,
  reference: row.reference,
  amountMinor: row.amount_minor,
  interestRateHundredths: row.interest_rate_hundredths,
  status: row.status,
  paidAmountMinor: row.paid_amount_minor,
  openingBalanceMinor: row.opening_balance_minor,
  paidUntil: row.paid_until,
  loanStartDate: row.loan_start_date,
  loanEndDate: row.loan_end_date,
  approvedAt: row.approved_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...toOwner(row),
});

/** The column of each value that may change, and the field under which its change is recorded. */
const WRITTEN = {
  reference: ['reference', 'reference'],
  amountMinor: ['amount_minor', 'amount'],
  interestRateHundredths: ['interest_rate_hundredths', 'interest_rate'],
  loanStartDate: ['loan_start_date', 'loan_start_date'],
  loanEndDate: ['loan_end_date', 'loan_end_date'],
  status: ['status', 'status'],
  approvedAt: ['approved_at', 'approved_at'],
} as const satisfies { readonly [value in keyof Omit<LoanValues, 'memberId'>]: readonly [string, string] };

export const LOAN_COLUMNS = Object.values(WRITTEN).map(([column]) => column);
export const LOAN_FIELDS = Object.values(WRITTEN).map(([, field]) => field);
const VALUES = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];

export const toLoanColumns = (values: Omit<LoanValues, 'memberId'>): (string | number | null)[] =>
  VALUES.map((value) => values[value]);

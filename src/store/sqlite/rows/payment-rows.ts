/** The rows of payments: their columns, and what they are as entities. */
import type {
  PaymentMethod,
  PaymentRecord,
  PaymentStatus,
  PaymentValues,
} from '../../../domain/lending/payments.ts';
import { type OwnerColumns, ownerColumns, toOwner } from './loan-rows.ts';

export interface PaymentRow extends OwnerColumns {
  id: number;
  loan_id: number;
  reference: string;
  amount_minor: number;
  method: PaymentMethod;
  status: PaymentStatus;
  paid_at: number;
  created_at: number;
  updated_at: number;
}

export const PAYMENT_ROW = `SELECT p.id, p.loan_id, ${ownerColumns('p')}, p.reference, p.amount_minor,
    p.method, p.status, p.paid_at, p.created_at, p.updated_at`;
/** Behind whatever names the rows `p`. */
export const PAYMENT_OWNER = `CROSS JOIN loans l ON l.id = p.loan_id
  CROSS JOIN members m ON m.id = l.member_id CROSS JOIN cooperatives c ON c.id = p.cooperative_id`;

export const toPaymentRecord = (row: PaymentRow): PaymentRecord => ({
  id: row.id,
  loanId: row.loan_id,
  reference: row.reference,
  amountMinor: row.amount_minor,
  method: row.method,
  status: row.status,
  paidAt: row.paid_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...toOwner(row),
});

/** The column of each value that may change, and the field under which its change is recorded. */
const WRITTEN = {
  reference: ['reference', 'reference'],
  amountMinor: ['amount_minor', 'amount'],
  method: ['method', 'method'],
  status: ['status', 'status'],
  paidAt: ['paid_at', 'paid_at'],
} as const satisfies { readonly [value in keyof Omit<PaymentValues, 'loanId'>]: readonly [string, string] };

export const PAYMENT_COLUMNS = Object.values(WRITTEN).map(([column]) => column);
export const PAYMENT_FIELDS = Object.values(WRITTEN).map(([, field]) => field);
const VALUES = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];

export const toPaymentColumns = (values: Omit<PaymentValues, 'loanId'>): (string | number)[] =>
  VALUES.map((value) => values[value]);

/** Examples of loans and payments for OpenAPI, of nobody. */
import {
  COOPERATIVE_SUMMARY_EXAMPLE,
  EXAMPLE_MOMENT,
  EXAMPLE_NATIONAL_ID,
  MEMBERSHIP_EXAMPLE,
} from '../examples.ts';

const LOAN_MEMBER_EXAMPLE = { id: '2', identity_card: EXAMPLE_NATIONAL_ID, full_name: 'First Example' };

export const LOAN_BODY_EXAMPLE = {
  member_id: '2',
  reference: 'HUY-L-0003',
  amount: '1680000.00',
  interest_rate: '19.50',
  loan_start_date: '2025-01-15',
  loan_end_date: '2026-07-15',
  status: 'approved',
};

export const LOAN_EXAMPLE = {
  ...MEMBERSHIP_EXAMPLE.loan_history[0],
  member: LOAN_MEMBER_EXAMPLE,
  cooperative: COOPERATIVE_SUMMARY_EXAMPLE,
  reference: 'HUY-L-0003',
  created_at: EXAMPLE_MOMENT,
  updated_at: EXAMPLE_MOMENT,
};

export const PAYMENT_BODY_EXAMPLE = {
  loan_id: '3',
  amount: '105000.00',
  method: 'mobile_money',
  reference: 'HUY-P-0012',
  paid_at: '2025-06-15T11:40:00+02:00',
};

export const PAYMENT_EXAMPLE = {
  id: '12',
  loan_id: '3',
  amount: '105000.00',
  method: 'mobile_money',
  reference: 'HUY-P-0012',
  status: 'recorded',
  paid_at: '2025-06-15T11:40:00+02:00',
  created_at: EXAMPLE_MOMENT,
  updated_at: EXAMPLE_MOMENT,
  member: LOAN_MEMBER_EXAMPLE,
  cooperative: COOPERATIVE_SUMMARY_EXAMPLE,
};

export const LOAN_PATCH_EXAMPLE = { status: 'approved' };

export const PAYMENT_PATCH_EXAMPLE = { status: 'void' };

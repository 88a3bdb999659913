/** Examples for OpenAPI, of nobody: order numbers of national IDs from 9000000 on are not issued. */

export const EXAMPLE_MOMENT = '2025-06-15T12:00:00+02:00';

export const EXAMPLE_NATIONAL_ID = '1198589000123042';

export const COOPERATIVE_BODY_EXAMPLE = {
  code: 'KOAKAMA-HUY',
  name: 'KOAKAMA Abahuje Huye',
  sector: 'agriculture',
  province: 'South',
  district: 'Huye',
  registration_date: '2012-05-14',
};

export const COOPERATIVE_PATCH_EXAMPLE = { status: 'dissolved', sector: null };

export const COOPERATIVE_EXAMPLE = {
  id: '1',
  ...COOPERATIVE_BODY_EXAMPLE,
  status: 'active',
  members_count: 49,
  created_at: EXAMPLE_MOMENT,
  updated_at: EXAMPLE_MOMENT,
};

export const COOPERATIVE_SUMMARY_EXAMPLE = { id: '1', code: 'KOAKAMA-HUY', name: 'KOAKAMA Abahuje Huye' };

export const MEMBER_BODY_EXAMPLE = {
  cooperative_id: '1',
  identity_card: EXAMPLE_NATIONAL_ID,
  member_code: 'HUY-00002',
  full_name: 'First Example',
  first_name: 'First',
  last_name: 'Example',
  gender: 'FEMALE',
  date_of_birth: '1985-03-31',
  mobile: '078 123 4567',
  role: 'MEMBER',
  status: 'active',
  registration_date: '2020-02-14T11:14:00+02:00',
};

export const MEMBER_PATCH_EXAMPLE = { mobile: '078 123 4568', gender: null };

export const MEMBER_ROW_EXAMPLE = {
  id: '2',
  member_code: 'HUY-00002',
  full_name: 'First Example',
  identity_card: EXAMPLE_NATIONAL_ID,
  mobile: '+250781234567',
  gender: 'FEMALE',
  role: 'MEMBER',
  status: 'active',
  cooperative: COOPERATIVE_SUMMARY_EXAMPLE,
  registration_date: '2020-02-14T11:14:00+02:00',
};

export const MEMBER_EXAMPLE = {
  ...MEMBER_ROW_EXAMPLE,
  first_name: 'First',
  last_name: 'Example',
  date_of_birth: '1985-03-31',
  created_at: EXAMPLE_MOMENT,
  updated_at: EXAMPLE_MOMENT,
};

export const MEMBERSHIP_EXAMPLE = {
  cooperative: COOPERATIVE_SUMMARY_EXAMPLE,
  member_code: 'HUY-00002',
  full_name: 'First Example',
  first_name: 'First',
  last_name: 'Example',
  role: 'MEMBER',
  status: 'active',
  registration_date: '2020-02-14T11:14:00+02:00',
  mobile: '+250781234567',
  production_summary: {
    window_days: 365,
    entries_count: 24,
    total_kg: '1128.000',
    last_delivery_at: '2025-06-11T07:20:00+02:00',
  },
  loan_history: [
    {
      id: '3',
      amount: '1680000.00',
      interest_rate: '19.50',
      status: 'approved',
      paid_amount: '420000.00',
      loan_start_date: '2025-01-15T00:00:00+02:00',
      loan_end_date: '2026-07-15T00:00:00+02:00',
      approved_at: '2025-01-10T09:45:00+02:00',
    },
  ],
  savings_summary: {
    accounts_count: 1,
    total_contributions_rwf: '41000.00',
    total_withdrawals_rwf: '0.00',
    last_transaction_at: '2025-06-02T10:05:00+02:00',
  },
};

export const CONSOLIDATED_MEMBER_EXAMPLE = {
  identity_card: EXAMPLE_NATIONAL_ID,
  primary_full_name: 'First Example',
  name_variants: ['First Example'],
  gender: 'FEMALE',
  date_of_birth: '1985-03-31',
  mobile: '+250781234567',
  memberships: [MEMBERSHIP_EXAMPLE],
};

export const DELIVERY_EXAMPLE = {
  id: '24493',
  reference: 'HUY-2025-06-0117',
  delivered_at: '2025-06-11T07:20:00+02:00',
  kg: '47.000',
  product: 'Coffee cherries',
};

export const SAVINGS_TRANSACTION_EXAMPLE = {
  id: '9610',
  account_number: 'HUY-S-0002',
  reference: 'HUY-2025-06-0031',
  kind: 'contribution',
  amount: '2000.00',
  transacted_at: '2025-06-02T10:05:00+02:00',
};

export const CALLER_EXAMPLE = {
  id: '1',
  name: 'demo financials',
  scopes: ['cooperatives:read', 'members:read', 'members:financials'],
  allowed_addresses: ['10.0.0.0/8'],
  allowed_hosts: [],
  lookup_only: false,
  allow_export: false,
  cooperatives: null,
  purpose: 'credit checks',
  require_purpose: false,
  expires_at: null,
  rate_limits: {
    hour: { limit: 1000, window_seconds: 3600, remaining: 998, reset_seconds: 3600 },
    day: { limit: 10_000, window_seconds: 86_400, remaining: 9998, reset_seconds: 86_400 },
  },
};

export const EVENT_PAGE_EXAMPLE = {
  epoch: '5f1c09a3b2d4e687',
  results: [
    {
      type: 'member.updated',
      timestamp: EXAMPLE_MOMENT,
      sequence: 4711,
      actor: 'key:7',
      data: { id: '2', cooperative_id: '1', fields_changed: ['mobile', 'status'] },
    },
  ],
  last_sequence: 4711,
};

const LOANS_OF_STATUS = { count: 0, amount: '0.00', paid_amount: '0.00', outstanding: '0.00' };

export const STATISTICS_EXAMPLE = {
  as_of: EXAMPLE_MOMENT,
  sequence: 4711,
  members: {
    total: 142,
    by_status: { active: 120, inactive: 9, suspended: 0, withdrawn: 11, deceased: 2 },
    by_gender: { MALE: 52, FEMALE: 66, OTHER: 0, unknown: 2 },
    by_role: {
      MEMBER: 113,
      PRESIDENT: 1,
      VICE_PRESIDENT: 1,
      SECRETARY: 1,
      TREASURER: 1,
      ADVISOR: 0,
      AUDITOR: 2,
      MANAGER: 1,
    },
    by_joining_year: { '2015': 80, '2019': 62 },
  },
  production: [{ month: '2025-05', product: 'Coffee cherries', deliveries: 310, total_kg: '14210.500' }],
  loans: {
    pending: LOANS_OF_STATUS,
    approved: { count: 14, amount: '2100000.00', paid_amount: '840000.00', outstanding: '1260000.00' },
    rejected: LOANS_OF_STATUS,
    cancelled: LOANS_OF_STATUS,
    paid: { count: 31, amount: '3900000.00', paid_amount: '3921000.00', outstanding: '0.00' },
    defaulted: LOANS_OF_STATUS,
  },
  savings: {
    accounts: 101,
    total_contributions_rwf: '5120000.00',
    total_withdrawals_rwf: '730000.00',
    balance_rwf: '4390000.00',
  },
};

export const COUNTRY_STATISTICS_EXAMPLE = {
  ...STATISTICS_EXAMPLE,
  production: null,
  loans: null,
  savings: null,
  districts: [{ district: 'Huye', cooperatives: 1, active_members: 120 }],
  sectors: [{ sector: 'agriculture', cooperatives: 1, active_members: 120 }],
};

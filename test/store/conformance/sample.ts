/** Values of a cooperative, a member, a loan, a payment and a key. */
import { randomBytes } from 'node:crypto';
import type { KeySecret } from '../../../src/access/api-key-store.ts';
import type { ApiKeyValues } from '../../../src/access/api-keys.ts';
import type { CooperativeValues } from '../../../src/registry/cooperatives.ts';
import type { LoanValues } from '../../../src/registry/loans.ts';
import type { MemberValues } from '../../../src/registry/members.ts';
import type { PaymentValues } from '../../../src/registry/payments.ts';

export const COOPERATIVE: CooperativeValues = {
  code: 'A-1',
  name: 'Abahuje',
  sector: null,
  province: null,
  district: null,
  registrationDate: null,
  status: 'active',
};

export const MEMBER: MemberValues = {
  cooperativeId: 1,
  identityCard: '1198589000123042',
  memberCode: 'M-1',
  fullName: 'Uwase',
  firstName: null,
  lastName: null,
  gender: null,
  dateOfBirth: null,
  mobile: null,
  role: 'MEMBER',
  status: 'active',
  registrationDate: 0,
};

/** Person n, with an order number that nobody holds. */
export const memberOf = (n: number, more: Partial<MemberValues> = {}): MemberValues => ({
  ...MEMBER,
  identityCard: `119858${9_000_000 + n}042`,
  memberCode: `M-${n}`,
  ...more,
});

export const LOAN: LoanValues = {
  memberId: 1,
  reference: 'L-1',
  amountMinor: 500_000_00,
  interestRateHundredths: 18_00,
  loanStartDate: null,
  loanEndDate: null,
  status: 'pending',
  approvedAt: null,
};

export const PAYMENT: PaymentValues = {
  loanId: 1,
  amountMinor: 10_000_00,
  method: 'cash',
  reference: 'P-1',
  status: 'recorded',
  paidAt: 0,
};

export const KEY: ApiKeyValues = {
  name: 'Union portal',
  scopes: ['members:read'],
  allowedAddresses: ['10.0.0.0/8'],
  allowedHosts: [],
  isLookupOnly: true,
  mayExport: true,
  cooperatives: [3, 1],
  purpose: 'credit checks',
  requiresPurpose: true,
  limits: { perHour: 5, perDay: 50 },
  expiresAt: null,
};

export interface Secret extends KeySecret {
  /** As it is looked for. */
  readonly hex: string;
}

export function createSecret(prefix = 'crs_abcdef'): Secret {
  const hash = randomBytes(32);
  return { hash, prefix, hex: hash.toString('hex') };
}

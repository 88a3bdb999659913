/** The lookups by national ID: one consolidated record, or one person's membership in one cooperative. */
import Type, { type Static } from 'typebox';
import { type Clock, nowSeconds } from '../../clock.ts';
import type { ApiKey } from '../../domain/api-keys.ts';
import {
  type ConsolidatedMember,
  consolidate,
  type Membership,
  PRODUCTION_WINDOW_DAYS,
  type ProductionSummary,
  type SavingsSummary,
} from '../../domain/consolidated-member.ts';
import { formatDateTime, type TimeZone } from '../../domain/date-time.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { notFound } from '../../domain/errors.ts';
import { isIdentityCard } from '../../domain/identity-card.ts';
import { LOAN_HISTORY_LIMIT, LOAN_STATUSES, type Loan } from '../../domain/loans.ts';
import type { MemberStore } from '../../store/port.ts';
import { badRequest } from '../errors.ts';
import { nullable } from '../fields.ts';
import { ok } from '../reply.ts';
import type { Parameter, Route } from '../route.ts';
import {
  COOPERATIVE_ID,
  COOPERATIVE_REFERENCE,
  formatCooperativeReference,
  readCooperativeId,
} from './cooperatives.ts';
import { MEMBER_FIELDS as F } from './member-fields.ts';

const decimal = (fractionDigits: number, description: string) =>
  Type.String({ pattern: `^[0-9]+\\.[0-9]{${fractionDigits}}$`, description });
const instant = (description: string) => nullable(Type.String({ format: 'date-time', description }));

const PRODUCTION_SUMMARY = Type.Object(
  {
    window_days: Type.Integer({ description: 'Days before the request that count.' }),
    entries_count: Type.Integer({ minimum: 0 }),
    total_kg: decimal(3, 'Kilograms delivered in the window.'),
    last_delivery_at: instant('Latest delivery in the window; null when it is empty.'),
  },
  { title: 'ProductionSummary', additionalProperties: false },
);

const LOAN = Type.Object(
  {
    id: Type.String({ description: 'Opaque.' }),
    amount: decimal(2, 'Rwandan francs.'),
    interest_rate: decimal(2, 'Per cent a year.'),
    status: Type.Unsafe<Loan['status']>({ type: 'string', enum: [...LOAN_STATUSES] }),
    paid_amount: decimal(2, 'Rwandan francs paid back.'),
    loan_start_date: instant('Null when it is not set.'),
    loan_end_date: instant('Planned or actual; null when it is not set.'),
    approved_at: instant('Null when it is not set.'),
  },
  { title: 'LoanHistoryEntry', additionalProperties: false },
);

const SAVINGS_SUMMARY = Type.Object(
  {
    accounts_count: Type.Integer({ minimum: 0 }),
    total_contributions_rwf: decimal(2, 'Rwandan francs.'),
    total_withdrawals_rwf: decimal(2, 'Rwandan francs.'),
    last_transaction_at: instant('Null when there is none.'),
  },
  { title: 'SavingsSummary', additionalProperties: false },
);

export const MEMBERSHIP = Type.Object(
  {
    cooperative: COOPERATIVE_REFERENCE,
    member_code: F.member_code.schema,
    full_name: F.full_name.schema,
    first_name: nullable(F.first_name.schema),
    last_name: nullable(F.last_name.schema),
    role: F.role.schema,
    status: F.status.schema,
    registration_date: F.registration_date.schema,
    mobile: nullable(F.mobile.schema),
    production_summary: nullable(PRODUCTION_SUMMARY),
    loan_history: nullable(Type.Array(LOAN, { maxItems: LOAN_HISTORY_LIMIT })),
    savings_summary: nullable(SAVINGS_SUMMARY),
  },
  { title: 'Membership', additionalProperties: false },
);

export const CONSOLIDATED_MEMBER = Type.Object(
  {
    identity_card: F.identity_card.schema,
    primary_full_name: Type.String({ description: 'Name of the newest registration.' }),
    name_variants: Type.Array(Type.String(), { description: 'Distinct names, newest registration first.' }),
    gender: nullable(F.gender.schema),
    date_of_birth: nullable(F.date_of_birth.schema),
    mobile: nullable(F.mobile.schema),
    memberships: Type.Array(MEMBERSHIP, { description: 'Active memberships, newest registration first.' }),
  },
  { title: 'ConsolidatedMember', additionalProperties: false },
);

const formatInstant = (epochSeconds: number | null, zone: TimeZone): string | null =>
  epochSeconds === null ? null : formatDateTime(epochSeconds, zone);

const formatProduction = (summary: ProductionSummary, zone: TimeZone): Static<typeof PRODUCTION_SUMMARY> => ({
  window_days: PRODUCTION_WINDOW_DAYS,
  entries_count: summary.entriesCount,
  total_kg: formatDecimal(summary.totalGrams, 3),
  last_delivery_at: formatInstant(summary.lastDeliveryAt, zone),
});

const formatLoan = (loan: Loan, zone: TimeZone): Static<typeof LOAN> => ({
  id: String(loan.id),
  amount: formatDecimal(loan.amountMinor, 2),
  interest_rate: formatDecimal(loan.interestRateHundredths, 2),
  status: loan.status,
  paid_amount: formatDecimal(loan.paidAmountMinor, 2),
  loan_start_date: formatInstant(loan.loanStartDate, zone),
  loan_end_date: formatInstant(loan.loanEndDate, zone),
  approved_at: formatInstant(loan.approvedAt, zone),
});

const formatSavings = (summary: SavingsSummary, zone: TimeZone): Static<typeof SAVINGS_SUMMARY> => ({
  accounts_count: summary.accountsCount,
  total_contributions_rwf: formatDecimal(summary.totalContributionsMinor, 2),
  total_withdrawals_rwf: formatDecimal(summary.totalWithdrawalsMinor, 2),
  last_transaction_at: formatInstant(summary.lastTransactionAt, zone),
});

export function formatMembership(
  { member, financials }: Membership,
  zone: TimeZone,
): Static<typeof MEMBERSHIP> {
  return {
    cooperative: formatCooperativeReference(member.cooperative),
    member_code: member.memberCode,
    full_name: member.fullName,
    first_name: member.firstName,
    last_name: member.lastName,
    role: member.role,
    status: member.status,
    registration_date: formatDateTime(member.registrationDate, zone),
    mobile: member.mobile,
    production_summary: financials && formatProduction(financials.production, zone),
    loan_history: financials === null ? null : financials.loans.map((loan) => formatLoan(loan, zone)),
    savings_summary: financials && formatSavings(financials.savings, zone),
  };
}

export const formatConsolidated = (
  person: ConsolidatedMember,
  zone: TimeZone,
): Static<typeof CONSOLIDATED_MEMBER> => ({
  identity_card: person.identityCard,
  primary_full_name: person.primaryFullName,
  name_variants: [...person.nameVariants],
  gender: person.gender,
  date_of_birth: person.dateOfBirth,
  mobile: person.mobile,
  memberships: person.memberships.map((membership) => formatMembership(membership, zone)),
});

/** The moment of the financial blocks for those who may see them, in epoch seconds; null for others. */
export const financialsAt = (caller: ApiKey | undefined, now: number): number | null =>
  caller?.scopes.includes('members:financials') === true ? now : null;

/**
 * The consolidated record of a person.
 * @throws Fault `not_found` when no active membership exists anywhere
 */
export async function lookUp(
  store: MemberStore,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
): Promise<ConsolidatedMember> {
  const at = financialsAt(caller, nowSeconds(clock));
  const person = consolidate(await store.listActiveMemberships(identityCard, at));
  if (person === undefined) throw notFound();
  return person;
}

const NATIONAL_ID: Parameter = {
  description: 'National ID: exactly 16 digits.',
  schema: Type.String({ pattern: '^[0-9]{16}$' }),
  takesAnyByte: true,
};

export function membershipRoutes(store: MemberStore, clock: Clock, zone: TimeZone): Route[] {
  return [
    {
      method: 'GET',
      path: '/cooperatives/{id}/members/{nid}',
      operationId: 'getMembership',
      summary: "Look up a person's membership in a cooperative",
      tag: 'members',
      access: { scope: 'members:read' },
      optionalScopes: ['members:financials'],
      params: { id: COOPERATIVE_ID, nid: NATIONAL_ID },
      answers: { 200: { description: 'The active membership.', schema: MEMBERSHIP } },
      refusals: [400, 404],
      async handle(request) {
        const cooperativeId = readCooperativeId(request);
        const identityCard = request.params.nid ?? '';
        if (!isIdentityCard(identityCard)) throw badRequest('Expected a national ID of exactly 16 digits.');
        const at = financialsAt(request.caller, nowSeconds(clock));
        const membership = await store.findActiveMembership(cooperativeId, identityCard, at);
        if (membership === undefined) throw notFound();
        return ok(formatMembership(membership, zone));
      },
    },
  ];
}

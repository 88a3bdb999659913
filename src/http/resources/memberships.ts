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
import type { CooperativeReference } from '../../domain/cooperatives.ts';
import { formatDateTime, type TimeZone } from '../../domain/date-time.ts';
import { type ExactInteger, formatDecimal } from '../../domain/decimal.ts';
import { notFound } from '../../domain/errors.ts';
import { isIdentityCard } from '../../domain/identity-card.ts';
import { LOAN_HISTORY_LIMIT, LOAN_STATUSES, type Loan } from '../../domain/loans.ts';
import { type Awaitable, type MemberStore, whenReady } from '../../store/port.ts';
import { badRequest } from '../errors.ts';
import { nullable } from '../fields.ts';
import { composeArray, composeObject, quote, quoteOrNull } from '../json-text.ts';
import { JsonText, ok } from '../reply.ts';
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

const amount = (units: ExactInteger, fractionDigits: number): string =>
  `"${formatDecimal(units, fractionDigits)}"`;
const moment = (epochSeconds: number | null, zone: TimeZone): string =>
  epochSeconds === null ? 'null' : `"${formatDateTime(epochSeconds, zone)}"`;

const composeProduction = composeObject<Static<typeof PRODUCTION_SUMMARY>, ProductionSummary>({
  window_days: () => String(PRODUCTION_WINDOW_DAYS),
  entries_count: (summary) => String(summary.entriesCount),
  total_kg: (summary) => amount(summary.totalGrams, 3),
  last_delivery_at: (summary, zone) => moment(summary.lastDeliveryAt, zone),
});

const composeLoan = composeObject<Static<typeof LOAN>, Loan>({
  id: (loan) => `"${loan.id}"`,
  amount: (loan) => amount(loan.amountMinor, 2),
  interest_rate: (loan) => amount(loan.interestRateHundredths, 2),
  status: (loan) => quote(loan.status),
  paid_amount: (loan) => amount(loan.paidAmountMinor, 2),
  loan_start_date: (loan, zone) => moment(loan.loanStartDate, zone),
  loan_end_date: (loan, zone) => moment(loan.loanEndDate, zone),
  approved_at: (loan, zone) => moment(loan.approvedAt, zone),
});

const composeSavings = composeObject<Static<typeof SAVINGS_SUMMARY>, SavingsSummary>({
  accounts_count: (summary) => String(summary.accountsCount),
  total_contributions_rwf: (summary) => amount(summary.totalContributionsMinor, 2),
  total_withdrawals_rwf: (summary) => amount(summary.totalWithdrawalsMinor, 2),
  last_transaction_at: (summary, zone) => moment(summary.lastTransactionAt, zone),
});

// The store gives the same object for a cooperative until one changes.
const referenceTexts = new WeakMap<CooperativeReference, string>();

function composeReference(cooperative: CooperativeReference): string {
  let text = referenceTexts.get(cooperative);
  if (text === undefined) {
    text = JSON.stringify(formatCooperativeReference(cooperative));
    referenceTexts.set(cooperative, text);
  }
  return text;
}

export const composeMembership = composeObject<Static<typeof MEMBERSHIP>, Membership>({
  cooperative: ({ member }) => composeReference(member.cooperative),
  member_code: ({ member }) => quote(member.memberCode),
  full_name: ({ member }) => quote(member.fullName),
  first_name: ({ member }) => quoteOrNull(member.firstName),
  last_name: ({ member }) => quoteOrNull(member.lastName),
  role: ({ member }) => quote(member.role),
  status: ({ member }) => quote(member.status),
  registration_date: ({ member }, zone) => moment(member.registrationDate, zone),
  mobile: ({ member }) => quoteOrNull(member.mobile),
  production_summary: ({ financials }, zone) =>
    financials === null ? 'null' : composeProduction(financials.production, zone),
  loan_history: ({ financials }, zone) =>
    financials === null ? 'null' : composeArray(financials.loans, composeLoan, zone),
  savings_summary: ({ financials }, zone) =>
    financials === null ? 'null' : composeSavings(financials.savings, zone),
});

export const composeConsolidated = composeObject<Static<typeof CONSOLIDATED_MEMBER>, ConsolidatedMember>({
  identity_card: (person) => quote(person.identityCard),
  primary_full_name: (person) => quote(person.primaryFullName),
  name_variants: (person, zone) => composeArray(person.nameVariants, quote, zone),
  gender: (person) => quoteOrNull(person.gender),
  date_of_birth: (person) => quoteOrNull(person.dateOfBirth),
  mobile: (person) => quoteOrNull(person.mobile),
  memberships: (person, zone) => composeArray(person.memberships, composeMembership, zone),
});

/** The moment of the financial blocks for those who may see them, in epoch seconds; null for others. */
export const financialsAt = (caller: ApiKey | undefined, now: number): number | null =>
  caller?.scopes.includes('members:financials') === true ? now : null;

/**
 * The consolidated record of a person.
 * @throws Fault `not_found` when no active membership exists anywhere
 */
export function lookUp(
  store: Pick<MemberStore, 'listActiveMemberships'>,
  identityCard: string,
  caller: ApiKey | undefined,
  clock: Clock,
): Awaitable<ConsolidatedMember> {
  const at = financialsAt(caller, nowSeconds(clock));
  return whenReady(store.listActiveMemberships(identityCard, at), (memberships) => {
    const person = consolidate(memberships);
    if (person === undefined) throw notFound();
    return person;
  });
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
        return ok(new JsonText(composeMembership(membership, zone)));
      },
    },
  ];
}

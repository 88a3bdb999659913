/** Consolidates the memberships of a person for a lookup (for the mirror: deploy/mirror/src/views.sql). */

import type { TimeZone } from '../../values/date-time.ts';
import { decimal, decimalSchema, shownFields, shownObject } from '../../values/field-json.ts';
import { integer, nullable, object, type Static, string } from '../../values/schema.ts';
import { instant, plain, serializeArray, serializeObject } from '../../values/serializer.ts';
import type { CooperativeSummary } from '../cooperatives.ts';
import type { SavingsSummary } from '../entries.ts';
import { LOAN_FIELDS, LOAN_HISTORY, type Loan } from '../loans.ts';
import { CONSOLIDATED, type LOOKED_UP, type Member } from '../members.ts';
import { PRODUCTION_WINDOW_DAYS, type ProductionSummary } from '../recent-deliveries.ts';

/** Loans and savings are JSON texts: unlike production, they do not depend on the time of the request. */
export interface Financials {
  readonly production: ProductionSummary;
  readonly loanHistory: string;
  readonly savingsSummary: string;
}

type Consolidated = (typeof CONSOLIDATED)[number];

export type LookedUpMember = Pick<
  Member,
  'id' | 'cooperativeId' | 'identityCard' | 'registrationDate' | (typeof LOOKED_UP)[number] | Consolidated
>;

export interface Membership extends LookedUpMember {
  readonly cooperative: CooperativeSummary;
  /** Null if the caller may not see financials. */
  readonly financials: Financials | null;
}

export interface ConsolidatedMember extends Pick<Member, Consolidated> {
  readonly identityCard: string;
  readonly primaryFullName: string;
  readonly nameVariants: readonly string[];
  readonly memberships: readonly Membership[];
}

/** Compares memberships: newest registration first, then higher id (docs/api.md#looking-up-a-person). */
export const byNewestRegistration = (
  a: Pick<Membership, 'registrationDate' | 'id'>,
  b: Pick<Membership, 'registrationDate' | 'id'>,
): number => b.registrationDate - a.registrationDate || b.id - a.id;

/**
 * @param memberships all active ones of one person that the caller may see, in `byNewestRegistration` order
 * @returns undefined for an empty list
 */
export function consolidate(memberships: readonly Membership[]): ConsolidatedMember | undefined {
  const newest = memberships[0];
  if (newest === undefined) return undefined;
  const names = memberships.map(({ fullName }) => fullName);
  const consolidated: { [property: string]: unknown } = {
    identityCard: newest.identityCard,
    primaryFullName: newest.fullName,
    nameVariants: names.length === 1 ? names : [...new Set(names)],
    memberships,
  };
  for (const property of CONSOLIDATED) consolidated[property] = firstKnown(memberships, property);
  return consolidated as unknown as ConsolidatedMember;
}

function firstKnown(memberships: readonly Membership[], property: Consolidated): string | null {
  for (const { [property]: value } of memberships) if (value !== null) return value;
  return null;
}

const dateTimeOrNull = (description: string) => nullable(string({ format: 'date-time', description }));

export const PRODUCTION_SUMMARY = object(
  {
    window_days: integer({
      description: 'Number of days before the request that are counted.',
      examples: [PRODUCTION_WINDOW_DAYS],
    }),
    entries_count: integer({ minimum: 0 }),
    total_kg: decimalSchema(3, 'Kilograms delivered in the window.'),
    last_delivery_at: dateTimeOrNull('Latest delivery in the window; null when it is empty.'),
  },
  { title: 'ProductionSummary' },
);

const { schema, serialize: serializeLoan } = shownObject<Loan>('LoanHistoryEntry', {
  id: { schema: string({ description: 'Opaque.', examples: ['3'] }), write: plain(({ id }) => String(id)) },
  ...shownFields(LOAN_FIELDS, LOAN_HISTORY),
});
export const LOAN_HISTORY_ENTRY = schema;

export const SAVINGS_SUMMARY = object(
  {
    accounts_count: integer({ minimum: 0 }),
    total_contributions_rwf: decimalSchema(2, 'Rwandan francs.'),
    total_withdrawals_rwf: decimalSchema(2, 'Rwandan francs.'),
    last_transaction_at: dateTimeOrNull('Null when there is none.'),
  },
  { title: 'SavingsSummary' },
);

export const serializeProduction = serializeObject<Static<typeof PRODUCTION_SUMMARY>, ProductionSummary>({
  window_days: () => String(PRODUCTION_WINDOW_DAYS),
  entries_count: ({ entriesCount }) => String(entriesCount),
  total_kg: decimal(({ totalGrams }) => totalGrams, 3),
  last_delivery_at: instant(({ lastDeliveryAt }) => lastDeliveryAt),
});

export const serializeSavings = serializeObject<Static<typeof SAVINGS_SUMMARY>, SavingsSummary>({
  accounts_count: ({ accountsCount }) => String(accountsCount),
  total_contributions_rwf: decimal(({ totalContributionsMinor }) => totalContributionsMinor, 2),
  total_withdrawals_rwf: decimal(({ totalWithdrawalsMinor }) => totalWithdrawalsMinor, 2),
  last_transaction_at: instant(({ lastTransactionAt }) => lastTransactionAt),
});

/** @param loans from `selectLoanHistory` */
export const serializeLoanHistory = (loans: readonly Loan[], zone: TimeZone): string =>
  serializeArray(loans, serializeLoan, zone);

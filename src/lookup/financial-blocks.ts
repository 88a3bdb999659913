/** The financials of a membership: their schemas and serializers. */

import { PRODUCTION_WINDOW_DAYS, type ProductionSummary } from '../domain/entries/production.ts';
import type { SavingsSummary } from '../domain/entries/savings.ts';
import { LOAN_STATUSES, type Loan } from '../domain/lending/loans.ts';
import type { TimeZone } from '../domain/values/date-time.ts';
import { decimal, decimalSchema } from '../json/decimal-fields.ts';
import { choiceOf, integer, nullable, object, type Static, string } from '../json/schema.ts';
import {
  type FieldSerializers,
  instant,
  plain,
  serializeArray,
  serializeObject,
} from '../json/serializer.ts';

const dateTimeOrNull = (description: string) => nullable(string({ format: 'date-time', description }));

export const PRODUCTION_SUMMARY = object(
  {
    window_days: integer({ description: 'Days before the request that count.' }),
    entries_count: integer({ minimum: 0 }),
    total_kg: decimalSchema(3, 'Kilograms delivered in the window.'),
    last_delivery_at: dateTimeOrNull('Latest delivery in the window; null when it is empty.'),
  },
  { title: 'ProductionSummary' },
);

/** What the lookup shows of a loan, and the loan by its own path too. */
export const LOAN_PROPERTIES = {
  id: string({ description: 'Opaque.' }),
  amount: decimalSchema(2, 'Rwandan francs.'),
  interest_rate: decimalSchema(2, 'Per cent a year.'),
  status: choiceOf(LOAN_STATUSES, { description: 'How far the loan is.' }),
  paid_amount: decimalSchema(2, 'Rwandan francs paid back: the opening balance and the recorded payments.'),
  loan_start_date: dateTimeOrNull('Null when it is not set.'),
  loan_end_date: dateTimeOrNull('Planned or actual; null when it is not set.'),
  approved_at: dateTimeOrNull('Null when it is not set.'),
};

export const LOAN_HISTORY_ENTRY = object(LOAN_PROPERTIES, { title: 'LoanHistoryEntry' });

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

export const LOAN_SERIALIZERS: FieldSerializers<Static<typeof LOAN_HISTORY_ENTRY>, Loan> = {
  id: plain(({ id }) => String(id)),
  amount: decimal(({ amountMinor }) => amountMinor, 2),
  interest_rate: decimal(({ interestRateHundredths }) => interestRateHundredths, 2),
  status: plain(({ status }) => status),
  paid_amount: decimal(({ paidAmountMinor }) => paidAmountMinor, 2),
  loan_start_date: instant(({ loanStartDate }) => loanStartDate),
  loan_end_date: instant(({ loanEndDate }) => loanEndDate),
  approved_at: instant(({ approvedAt }) => approvedAt),
};

const serializeLoan = serializeObject(LOAN_SERIALIZERS);

const serializeSavings = serializeObject<Static<typeof SAVINGS_SUMMARY>, SavingsSummary>({
  accounts_count: ({ accountsCount }) => String(accountsCount),
  total_contributions_rwf: decimal(({ totalContributionsMinor }) => totalContributionsMinor, 2),
  total_withdrawals_rwf: decimal(({ totalWithdrawalsMinor }) => totalWithdrawalsMinor, 2),
  last_transaction_at: instant(({ lastTransactionAt }) => lastTransactionAt),
});

/**
 * Serializes the fields of a lookup that do not depend on the moment, so that storage can keep them as they
 * will be sent.
 */
export interface ReadModelSerializer {
  /** In which date-times are shown. */
  readonly zone: TimeZone;
  /** @param loans in the order of the history, as many as it shows */
  serializeLoanHistory(loans: readonly Loan[]): string;
  serializeSavingsSummary(summary: SavingsSummary): string;
}

/** How loans and savings are shown in a time zone: storage keeps both as they are sent. */
export const createReadModelSerializer = (zone: TimeZone): ReadModelSerializer => ({
  zone,
  serializeLoanHistory: (loans) => serializeArray(loans, serializeLoan, zone),
  serializeSavingsSummary: (summary) => serializeSavings(summary, zone),
});

/**
 * The financials of a membership: their schemas and serializers. Loans and savings do not depend on the
 * moment: storage keeps both as they are sent.
 */

import { PRODUCTION_WINDOW_DAYS, type ProductionSummary } from '../domain/entries/production.ts';
import type { SavingsSummary } from '../domain/entries/savings.ts';
import { LOAN_FIELDS, LOAN_HISTORY, type Loan } from '../domain/lending/loans.ts';
import type { TimeZone } from '../domain/values/date-time.ts';
import { decimal, decimalSchema } from '../json/decimal-fields.ts';
import { shownFields, shownObject } from '../json/declared-fields.ts';
import { integer, nullable, object, type Static, string } from '../json/schema.ts';
import { instant, plain, serializeArray, serializeObject } from '../json/serializer.ts';

const dateTimeOrNull = (description: string) => nullable(string({ format: 'date-time', description }));

export const PRODUCTION_SUMMARY = object(
  {
    window_days: integer({
      description: 'Days before the request that count.',
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

/** @param loans in the order of the history, as many as it shows */
export const serializeLoanHistory = (loans: readonly Loan[], zone: TimeZone): string =>
  serializeArray(loans, serializeLoan, zone);

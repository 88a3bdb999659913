/** The financial blocks of a membership: their schemas, and their JSON text. */
import Type, { type Static } from 'typebox';
import { formatDateTime, type TimeZone } from '../../domain/date-time.ts';
import { type ExactInteger, formatDecimal } from '../../domain/decimal.ts';
import { LOAN_STATUSES, type Loan } from '../../domain/loans.ts';
import { PRODUCTION_WINDOW_DAYS, type ProductionSummary } from '../../domain/production.ts';
import type { SavingsSummary } from '../../domain/savings.ts';
import type { ReadModelSerializer } from '../../store/ports.ts';
import { nullable } from '../fields.ts';
import { composeArray, composeObject, quote } from '../serializer.ts';

const decimal = (fractionDigits: number, description: string) =>
  Type.String({ pattern: `^[0-9]+\\.[0-9]{${fractionDigits}}$`, description });
const instant = (description: string) => nullable(Type.String({ format: 'date-time', description }));

export const PRODUCTION_SUMMARY = Type.Object(
  {
    window_days: Type.Integer({ description: 'Days before the request that count.' }),
    entries_count: Type.Integer({ minimum: 0 }),
    total_kg: decimal(3, 'Kilograms delivered in the window.'),
    last_delivery_at: instant('Latest delivery in the window; null when it is empty.'),
  },
  { title: 'ProductionSummary', additionalProperties: false },
);

export const LOAN_HISTORY_ENTRY = Type.Object(
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

export const SAVINGS_SUMMARY = Type.Object(
  {
    accounts_count: Type.Integer({ minimum: 0 }),
    total_contributions_rwf: decimal(2, 'Rwandan francs.'),
    total_withdrawals_rwf: decimal(2, 'Rwandan francs.'),
    last_transaction_at: instant('Null when there is none.'),
  },
  { title: 'SavingsSummary', additionalProperties: false },
);

const amount = (units: ExactInteger, fractionDigits: number): string =>
  `"${formatDecimal(units, fractionDigits)}"`;
const moment = (epochSeconds: number | null, zone: TimeZone): string =>
  epochSeconds === null ? 'null' : `"${formatDateTime(epochSeconds, zone)}"`;

export const composeProduction = composeObject<Static<typeof PRODUCTION_SUMMARY>, ProductionSummary>({
  window_days: () => String(PRODUCTION_WINDOW_DAYS),
  entries_count: (summary) => String(summary.entriesCount),
  total_kg: (summary) => amount(summary.totalGrams, 3),
  last_delivery_at: (summary, zone) => moment(summary.lastDeliveryAt, zone),
});

const composeLoan = composeObject<Static<typeof LOAN_HISTORY_ENTRY>, Loan>({
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

/** How loans and savings are shown in a time zone: storage keeps both as they are sent. */
export const createReadModelSerializer = (zone: TimeZone): ReadModelSerializer => ({
  serializeLoanHistory: (loans) => composeArray(loans, composeLoan, zone),
  serializeSavingsSummary: (summary) => composeSavings(summary, zone),
});

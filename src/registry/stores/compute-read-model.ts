/**
 * Computes the financials of one membership from its entries. Every stored column of the read model must
 * equal these results; refresh-read-model.ts stores them.
 */

import type { Connection } from '../../sqlite/connection.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { type ExactInteger, narrow } from '../../values/decimal.ts';
import { serializeLoanHistory, serializeSavings } from '../consolidate.ts';
import {
  type Delivery,
  type ProductionSummary,
  type SavingsSummary,
  type TransactionKind,
  windowStart,
} from '../entries.ts';
import { type Loan, selectLoanHistory } from '../loans.ts';
import { LOAN_HISTORY_ROW } from './rows.ts';

/** Row of an `exactSum` SELECT. */
interface ExactSum {
  count: number;
  // The sum is split in two parts, each far below 2^53, because SQLite's own sum of the largest amounts
  // overflows.
  millions: number | null;
  rest: number | null;
}

interface DatedSum extends ExactSum {
  last_at: number | null;
}

const MILLION = 1_000_000;
/** SQL of a count, and of a sum that cannot overflow. */
const exactSum = (column: string): string =>
  `count(*) AS count, sum(${column} / ${MILLION}) AS millions, sum(${column} % ${MILLION}) AS rest`;
const toExact = (sum: ExactSum): bigint =>
  BigInt(sum.millions ?? 0) * BigInt(MILLION) + BigInt(sum.rest ?? 0);
export const toExactInteger = (sum: ExactSum): ExactInteger => narrow(toExact(sum));

/** @param zone of the date-times in the texts of loans and savings */
export function openFinancials(db: Connection, zone: TimeZone) {
  const sumProduction = db.prepare<[memberId: number, after: number, until: number], DatedSum>(
    `SELECT ${exactSum('grams')}, max(delivered_at) AS last_at FROM production_entries
     WHERE member_id = ? AND delivered_at > ? AND delivered_at <= ?`,
    'the entries of one member in 365 days',
  );
  const listDeliveries = db.prepare<[memberId: number, from: number], Delivery>(
    `SELECT delivered_at AS at, grams FROM production_entries WHERE member_id = ? AND delivered_at >= ?
     ORDER BY delivered_at`,
  );
  const selectLoans = db.prepare<[memberId: number], Loan>(
    `SELECT ${LOAN_HISTORY_ROW} FROM loans l WHERE l.member_id = ?`,
  );
  const countAccounts = db.prepare<[memberId: number], { count: number }>(
    'SELECT count(*) AS count FROM savings_accounts WHERE member_id = ?',
    'the accounts of one member',
  );
  const sumSavings = db.prepare<[memberId: number, kind: TransactionKind], DatedSum>(
    `SELECT ${exactSum('t.amount_minor')}, max(t.transacted_at) AS last_at
     FROM savings_accounts a JOIN savings_transactions t ON t.account_id = a.id
     WHERE a.member_id = ? AND t.kind = ?`,
    'the savings transactions of one member',
  );

  return {
    /** @param at end of the window in epoch seconds */
    productionOf(memberId: number, at: number): ProductionSummary {
      const sum = sumProduction.get(memberId, windowStart(at), at) as DatedSum;
      return { entriesCount: sum.count, totalGrams: toExactInteger(sum), lastDeliveryAt: sum.last_at };
    },

    /**
     * The same as `productionOf`, computed from an earlier summary and the deliveries that expired or
     * happened since.
     */
    productionSince(
      memberId: number,
      earlier: ProductionSummary & { readonly at: number },
      at: number,
    ): ProductionSummary {
      const expired = sumProduction.get(memberId, windowStart(earlier.at), windowStart(at)) as DatedSum;
      const added = sumProduction.get(memberId, earlier.at, at) as DatedSum;
      const lastDeliveryAt = added.last_at ?? earlier.lastDeliveryAt;
      return {
        entriesCount: earlier.entriesCount - expired.count + added.count,
        totalGrams: narrow(BigInt(earlier.totalGrams) - toExact(expired) + toExact(added)),
        lastDeliveryAt: lastDeliveryAt !== null && lastDeliveryAt > windowStart(at) ? lastDeliveryAt : null,
      };
    },

    /**
     * In time order.
     * @param from epoch seconds
     */
    deliveriesOf: (memberId: number, from: number): Delivery[] => listDeliveries.all(memberId, from),

    loanHistoryOf: (memberId: number): string =>
      serializeLoanHistory(selectLoanHistory(selectLoans.all(memberId)), zone),

    savingsOf(memberId: number): string {
      const contributions = sumSavings.get(memberId, 'contribution') as DatedSum;
      const withdrawals = sumSavings.get(memberId, 'withdrawal') as DatedSum;
      const lastAt = [contributions.last_at, withdrawals.last_at].filter((each) => each !== null);
      const summary: SavingsSummary = {
        accountsCount: (countAccounts.get(memberId) as { count: number }).count,
        totalContributionsMinor: toExactInteger(contributions),
        totalWithdrawalsMinor: toExactInteger(withdrawals),
        lastTransactionAt: lastAt.length === 0 ? null : Math.max(...lastAt),
      };
      return serializeSavings(summary, zone);
    },
  };
}

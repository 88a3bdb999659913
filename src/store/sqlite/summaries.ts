/**
 * The read model of a lookup: what it needs of a member's entries, kept beside the member as data, without names, dates
 * as text or time zone, which belong to whoever shows them.
 *
 * Triggers mark a part (NULL) in the transaction that changes its entries, so a part that is there is right. A lookup
 * never writes: it computes what is marked. `summary-refresh.ts` fills marks in, after an import.
 */
import type { Financials, ProductionSummary } from '../../domain/consolidated-member.ts';
import { sumWholeDays } from '../../domain/production.ts';
import type { Connection } from './database.ts';
import { openFinancials } from './financials.ts';
import { type StoredParts, unpackLoans, unpackProduction, unpackSavings } from './summary-parts.ts';

const EMPTY: Financials = {
  production: { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null },
  loans: [],
  savings: {
    accountsCount: 0,
    totalContributionsMinor: 0,
    totalWithdrawalsMinor: 0,
    lastTransactionAt: null,
  },
};

/** @returns what gives the blocks of one membership from its stored parts, computing those marked or out of date */
export function openSummaries(db: Connection) {
  const financials = openFinancials(db);
  const selectParts = db.prepare<[number], StoredParts>(
    'SELECT production, loans, savings FROM member_summaries WHERE member_id = ?',
  );
  const selectDays = db.prepare<[number], { days: Uint8Array | null }>(
    'SELECT days FROM member_summaries WHERE member_id = ?',
  );

  function production(memberId: number, part: string | null, at: number): ProductionSummary {
    if (part === null) return financials.productionOf(memberId, at);
    const stored = unpackProduction(part);
    if (at >= stored.validFrom && (stored.validUntil === null || at < stored.validUntil)) return stored;
    const days = selectDays.get(memberId)?.days;
    const whole = days ? sumWholeDays(days, at) : undefined;
    return whole === undefined
      ? financials.productionOf(memberId, at)
      : financials.productionOfDays(memberId, at, whole);
  }

  /** @param at epoch seconds: the end of the production window */
  return (memberId: number, at: number): Financials => {
    const stored = selectParts.get(memberId);
    // No entry of it was ever written, or the triggers would have made a row.
    if (stored === undefined) return EMPTY;
    return {
      production: production(memberId, stored.production, at),
      loans: stored.loans === null ? financials.loansOf(memberId) : unpackLoans(stored.loans),
      savings: stored.savings === null ? financials.savingsOf(memberId) : unpackSavings(stored.savings),
    };
  };
}

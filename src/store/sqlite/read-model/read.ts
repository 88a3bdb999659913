/**
 * The read model of a lookup: what it needs of a member's entries, kept in the member's own row. Nothing of the
 * cooperative is in it, so that a new name of one rewrites no member.
 *
 * Triggers mark a part in the transaction that changes its entries, so a part that is not marked is right. A lookup never
 * writes: it computes what is marked. `summary-refresh.ts` fills marks in, after an import.
 */
import type { BlockTexts, Financials, JsonFragment } from '../../../domain/lookup.ts';
import type { ProductionSummary } from '../../../domain/production.ts';
import { subtractExpired, sumFullDays } from '../../../domain/production.ts';
import type { SavingsSummary } from '../../../domain/savings.ts';
import type { Connection } from '../connection/connection.ts';
import { MARK, type StoredParts, unpackExpiring, unpackProduction, unpackText } from './columns.ts';
import { openFinancials } from './compute.ts';

const NO_PRODUCTION: ProductionSummary = { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null };
const NO_SAVINGS: SavingsSummary = {
  accountsCount: 0,
  totalContributionsMinor: 0,
  totalWithdrawalsMinor: 0,
  lastTransactionAt: null,
};

/** @returns what gives the blocks of one membership from its stored parts, computing those marked or out of date */
export function openSummaries(db: Connection, blocks: BlockTexts) {
  const financials = openFinancials(db);
  const noLoans = blocks.loans([]);
  const noSavings = blocks.savings(NO_SAVINGS);
  const selectDays = db.prepare<[number], { days: Uint8Array }>(
    'SELECT days FROM production_days WHERE member_id = ?',
  );

  function productionOf(memberId: number, part: string | null, at: number): ProductionSummary {
    if (part === null) return NO_PRODUCTION;
    if (part === MARK) return financials.productionOf(memberId, at);
    const stored = unpackProduction(part);
    if (at >= stored.validFrom) {
      if (stored.validUntil === null || at < stored.validUntil) return stored;
      const { expiring, knownUntil } = unpackExpiring(part);
      const later = subtractExpired(stored, expiring, knownUntil, at);
      if (later !== undefined) return later;
    }
    const days = selectDays.get(memberId)?.days;
    const whole = days && sumFullDays(days, at);
    return whole === undefined
      ? financials.productionOf(memberId, at)
      : financials.productionByPrefixSums(memberId, at, whole);
  }

  // A mark is a text without a stamp.
  function loansOf(memberId: number, part: string | null): JsonFragment {
    if (part === null) return noLoans;
    return unpackText(part, blocks) ?? blocks.loans(financials.loansOf(memberId));
  }

  function savingsOf(memberId: number, part: string | null): JsonFragment {
    if (part === null) return noSavings;
    return unpackText(part, blocks) ?? blocks.savings(financials.savingsOf(memberId));
  }

  /** @param at epoch seconds: the end of the production window */
  return (memberId: number, parts: StoredParts, at: number): Financials => ({
    production: productionOf(memberId, parts.production, at),
    loanHistory: loansOf(memberId, parts.loans),
    savingsSummary: savingsOf(memberId, parts.savings),
  });
}

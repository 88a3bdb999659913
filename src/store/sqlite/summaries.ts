/**
 * The read model of a lookup: what it needs of a member's entries, kept in the member's own row as data, without names,
 * dates as text or time zone, which belong to whoever shows them.
 *
 * Triggers mark a part in the transaction that changes its entries, so a part that is not marked is right. A lookup never
 * writes: it computes what is marked. `summary-refresh.ts` fills marks in, after an import.
 */
import type { Financials, ProductionSummary, SavingsSummary } from '../../domain/consolidated-member.ts';
import type { Loan } from '../../domain/loans.ts';
import { sumWholeDays, withoutLeft } from '../../domain/production.ts';
import type { Connection } from './database.ts';
import { openFinancials } from './financials.ts';
import {
  MARK,
  type StoredParts,
  unpackLeaving,
  unpackLoans,
  unpackProduction,
  unpackSavings,
} from './summary-parts.ts';

const NO_PRODUCTION: ProductionSummary = { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null };
const NO_LOANS: readonly Loan[] = [];
const NO_SAVINGS: SavingsSummary = {
  accountsCount: 0,
  totalContributionsMinor: 0,
  totalWithdrawalsMinor: 0,
  lastTransactionAt: null,
};

/** @returns what gives the blocks of one membership from its stored parts, computing those marked or out of date */
export function openSummaries(db: Connection) {
  const financials = openFinancials(db);
  const selectDays = db.prepare<[number], { days: Uint8Array }>(
    'SELECT days FROM production_days WHERE member_id = ?',
  );

  function productionOf(memberId: number, part: string | null, at: number): ProductionSummary {
    if (part === null) return NO_PRODUCTION;
    if (part === MARK) return financials.productionOf(memberId, at);
    const stored = unpackProduction(part);
    if (at >= stored.validFrom) {
      if (stored.validUntil === null || at < stored.validUntil) return stored;
      const { leaving, knownUntil } = unpackLeaving(part);
      const later = withoutLeft(stored, leaving, knownUntil, at);
      if (later !== undefined) return later;
    }
    const days = selectDays.get(memberId)?.days;
    const whole = days && sumWholeDays(days, at);
    return whole === undefined
      ? financials.productionOf(memberId, at)
      : financials.productionOfDays(memberId, at, whole);
  }

  function loansOf(memberId: number, part: string | null): readonly Loan[] {
    if (part === null) return NO_LOANS;
    return part === MARK ? financials.loansOf(memberId) : unpackLoans(part);
  }

  function savingsOf(memberId: number, part: string | null): SavingsSummary {
    if (part === null) return NO_SAVINGS;
    return part === MARK ? financials.savingsOf(memberId) : unpackSavings(part);
  }

  /** @param at epoch seconds: the end of the production window */
  return (memberId: number, parts: StoredParts, at: number): Financials => ({
    production: productionOf(memberId, parts.production, at),
    loans: loansOf(memberId, parts.loans),
    savings: savingsOf(memberId, parts.savings),
  });
}

/**
 * The read model of a lookup: what it needs of a member's entries, stored in the member's own row. It holds
 * nothing of the cooperative, so that a new name rewrites no member.
 *
 * Triggers mark a column as stale in the transaction that changes its entries, and a column carries the
 * version of the rules that wrote it, so one of this version that is not stale is right. A lookup never
 * writes: it computes the others. `refresh.ts` stores them, after an import or by command.
 */

import { type ProductionSummary, subtractExpired } from '../../../domain/entries/production.ts';
import type { SavingsSummary } from '../../../domain/entries/savings.ts';
import type { Financials } from '../../../lookup/consolidate.ts';
import { serializeLoanHistory, serializeSavings } from '../../../lookup/financial-blocks.ts';
import type { Connection } from '../engine/connection.ts';
import { openFinancials } from './compute.ts';
import {
  type ReadModelFormat,
  type StoredColumns,
  unpack,
  unpackExpiring,
  unpackProduction,
} from './format.ts';

const NO_PRODUCTION: ProductionSummary = { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null };
const NO_SAVINGS: SavingsSummary = {
  accountsCount: 0,
  totalContributionsMinor: 0,
  totalWithdrawalsMinor: 0,
  lastTransactionAt: null,
};

/**
 * @returns what gives the financials of one membership from its stored columns, computing those that cannot
 * be served
 */
export function openReadModel(db: Connection, { version, zone }: ReadModelFormat) {
  const financials = openFinancials(db, zone);
  const noLoans = serializeLoanHistory([], zone);
  const noSavings = serializeSavings(NO_SAVINGS, zone);

  function productionOf(memberId: number, column: string | null, at: number): ProductionSummary {
    if (column === null) return NO_PRODUCTION;
    const content = unpack(column, version);
    if (content === undefined) return financials.productionOf(memberId, at);
    const stored = unpackProduction(content);
    if (at < stored.validFrom) return financials.productionOf(memberId, at);
    if (stored.validUntil === null || at < stored.validUntil) return stored;
    const { expiring, knownUntil } = unpackExpiring(content);
    if (knownUntil === null || at < knownUntil) return subtractExpired(stored, expiring, at);
    const lastKnown = knownUntil - 1;
    const summary = subtractExpired(stored, expiring, lastKnown);
    return financials.productionSince(memberId, { ...summary, at: lastKnown }, at);
  }

  function loanHistoryOf(memberId: number, column: string | null): string {
    if (column === null) return noLoans;
    return unpack(column, version) ?? financials.loanHistoryOf(memberId);
  }

  function savingsOf(memberId: number, column: string | null): string {
    if (column === null) return noSavings;
    return unpack(column, version) ?? financials.savingsOf(memberId);
  }

  /** @param at epoch seconds: the end of the production window */
  return (memberId: number, columns: StoredColumns, at: number): Financials => ({
    production: productionOf(memberId, columns.production, at),
    loanHistory: loanHistoryOf(memberId, columns.loans),
    savingsSummary: savingsOf(memberId, columns.savings),
  });
}

/** Whether the stored summaries say what the entries say: reads everything, for the operator. */
import { sumWholeDays } from '../../domain/production.ts';
import type { Connection } from './database.ts';
import { openFinancials } from './financials.ts';
import { packLoans, packSavings, type StoredParts, unpackProduction } from './summary-parts.ts';
import { MISSING } from './summary-refresh.ts';

interface SummaryRow extends StoredParts {
  readonly member_id: number;
  readonly days: Uint8Array | null;
}

const WITHOUT_ROW = `SELECT member_id FROM (
    SELECT member_id FROM production_entries UNION SELECT member_id FROM loans UNION SELECT member_id FROM savings_accounts)
  EXCEPT SELECT member_id FROM member_summaries LIMIT 1`;

/** How many members wait for a part of their summary; lookups compute it until then. */
export const countMissing = (db: Connection): number =>
  db.raw.prepare(`SELECT count(*) FROM member_summaries WHERE ${MISSING}`).pluck().get() as number;

/** @returns what is wrong with the first wrong one */
export function findWrongSummary(db: Connection): string | undefined {
  const without = db.raw.prepare(WITHOUT_ROW).pluck().get() as number | undefined;
  if (without !== undefined) return `member ${without} has entries and no summary`;
  const financials = openFinancials(db);

  function isProductionRight({ member_id: id, production, days }: SummaryRow): boolean {
    if (production === null) return true;
    const { validFrom, validUntil, ...stored } = unpackProduction(production);
    const isRightAt = (at: number): boolean => {
      const actual = JSON.stringify(financials.productionOf(id, at), exact);
      const whole = days === null ? undefined : sumWholeDays(days, at);
      const ofDays = whole && JSON.stringify(financials.productionOfDays(id, at, whole), exact);
      return JSON.stringify(stored, exact) === actual && (ofDays ?? actual) === actual;
    };
    return isRightAt(validFrom) && (validUntil === null || isRightAt(validUntil - 1));
  }

  const rows = db.raw
    .prepare('SELECT member_id, production, loans, savings, days FROM member_summaries ORDER BY member_id')
    .iterate() as IterableIterator<SummaryRow>;
  for (const row of rows) {
    const { member_id: id, loans, savings } = row;
    if (!isProductionRight(row)) return `production of member ${id}`;
    if (loans !== null && loans !== packLoans(financials.loansOf(id))) return `loans of member ${id}`;
    if (savings !== null && savings !== packSavings(financials.savingsOf(id)))
      return `savings of member ${id}`;
  }
  return undefined;
}

/** For comparing: JSON knows no bigint. */
const exact = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

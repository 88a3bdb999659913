/** Whether the stored summaries say what the entries say: reads everything, for the operator. */

import { type BlockTexts, type JsonFragment, STAMP_LENGTH } from '../../../domain/lookup.ts';
import { type ProductionSummary, subtractExpired, sumFullDays } from '../../../domain/production.ts';
import type { Connection } from '../connection/connection.ts';
import { MARK, type StoredParts, unpackExpiring, unpackProduction, unpackText } from './columns.ts';
import { openFinancials } from './compute.ts';
import { MARKED } from './refresh.ts';

interface SummaryRow extends StoredParts {
  readonly id: number;
  readonly days: Uint8Array | null;
}

/** Members with entries of a kind and without the part for it. */
const withoutPart = (part: string, table: string): string =>
  `SELECT DISTINCT e.member_id FROM ${table} e CROSS JOIN members m ON m.id = e.member_id
   WHERE m.${part} IS NULL LIMIT 1`;
const TABLES = [
  ['production', 'production_entries'],
  ['loans', 'loans'],
  ['savings', 'savings_accounts'],
] as const;

/** How many members wait for a part of their summary; lookups compute it until then. */
export const countUnsummarized = (db: Connection, { stamp }: BlockTexts): number =>
  db.raw
    .prepare(
      `SELECT count(*) FROM members WHERE ${MARKED}
       OR substr(loans, 1, ${STAMP_LENGTH}) <> @stamp OR substr(savings, 1, ${STAMP_LENGTH}) <> @stamp`,
    )
    .pluck()
    .get({ stamp }) as number;

/** @returns what is wrong with the first wrong one */
export function findWrongSummary(db: Connection, blocks: BlockTexts): string | undefined {
  for (const [part, table] of TABLES) {
    const without = db.raw.prepare(withoutPart(part, table)).pluck().get() as number | undefined;
    if (without !== undefined) return `${part} of member ${without}, which has entries, is missing`;
  }
  const financials = openFinancials(db);

  function isProductionRight({ id, production, days }: SummaryRow): boolean {
    if (production === null || production === MARK) return true;
    const stored = unpackProduction(production);
    const { validFrom, validUntil } = stored;
    const { expiring, knownUntil } = unpackExpiring(production);
    const isRightAt = (at: number, told: ProductionSummary | undefined): boolean => {
      const actual = toText(financials.productionOf(id, at));
      const whole = days === null ? undefined : sumFullDays(days, at);
      const ofDays = whole && toText(financials.productionByPrefixSums(id, at, whole));
      return toText(told) === actual && (ofDays ?? actual) === actual;
    };
    const lastListed = knownUntil === null ? (expiring.at(-1)?.expiresAt ?? validFrom) : knownUntil - 1;
    return (
      isRightAt(validFrom, stored) &&
      (validUntil === null || isRightAt(validUntil - 1, stored)) &&
      isRightAt(lastListed, subtractExpired(stored, expiring, knownUntil, lastListed))
    );
  }

  const rows = db.raw
    .prepare(
      `SELECT m.id, m.production, m.loans, m.savings, d.days FROM members m LEFT JOIN production_days d ON d.member_id = m.id
       WHERE m.production IS NOT NULL OR m.loans IS NOT NULL OR m.savings IS NOT NULL ORDER BY m.id`,
    )
    .iterate() as IterableIterator<SummaryRow>;
  // Texts of another release or time zone are not looked at: no lookup shows them.
  const isRight = (part: string | null, compose: () => JsonFragment) => {
    const text = part === null ? undefined : unpackText(part, blocks);
    return text === undefined || text === compose();
  };
  for (const row of rows) {
    const { id, loans, savings } = row;
    if (!isProductionRight(row)) return `production of member ${id}`;
    if (!isRight(loans, () => blocks.loans(financials.loansOf(id)))) return `loans of member ${id}`;
    if (!isRight(savings, () => blocks.savings(financials.savingsOf(id)))) return `savings of member ${id}`;
  }
  return undefined;
}

/** For comparing: every field, a bigint as a number of the same value. */
const toText = (summary: ProductionSummary | undefined): string =>
  `${summary?.entriesCount} ${summary?.totalGrams} ${summary?.lastDeliveryAt}`;

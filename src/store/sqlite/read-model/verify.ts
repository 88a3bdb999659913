/** Whether the stored columns agree with the entries: reads everything, for `check`. */
import { type ProductionSummary, subtractExpired } from '../../../domain/entries/production.ts';
import type { Connection } from '../engine/connection.ts';
import type { ReadModelColumn } from '../schema/stale-flag.ts';
import { openFinancials } from './compute.ts';
import {
  type ReadModelFormat,
  type StoredColumns,
  unpack,
  unpackExpiring,
  unpackProduction,
} from './format.ts';
import { IS_OUT_OF_DATE } from './refresh.ts';

interface Row extends StoredColumns {
  readonly id: number;
}

/** Members with entries of a kind and without the column for it. */
const withoutColumn = (column: ReadModelColumn, table: string): string =>
  `SELECT DISTINCT e.member_id FROM ${table} e CROSS JOIN members m ON m.id = e.member_id
   WHERE m.${column} IS NULL LIMIT 1`;
const TABLES = [
  ['production', 'production_entries'],
  ['loans', 'loans'],
  ['savings', 'savings_accounts'],
] as const satisfies [ReadModelColumn, string][];

/** How many members have a column that lookups must compute: stale, or written by other rules. */
export const countOutOfDate = (db: Connection, { version }: ReadModelFormat): number =>
  db.count(`members WHERE ${IS_OUT_OF_DATE}`, { version });

/** Looks only at columns that a lookup would serve. @returns what is wrong with the first wrong one */
export function findWrongColumn(db: Connection, { version, zone }: ReadModelFormat): string | undefined {
  for (const [column, table] of TABLES) {
    const without = db.value<number | undefined>(withoutColumn(column, table));
    if (without !== undefined) return `${column} of member ${without}, which has entries, is missing`;
  }
  const financials = openFinancials(db, zone);

  function isProductionRight({ id, production }: Row): boolean {
    const content = production === null ? undefined : unpack(production, version);
    if (content === undefined) return true;
    const stored = unpackProduction(content);
    const { validFrom, validUntil } = stored;
    const { expiring, knownUntil } = unpackExpiring(content);
    const isRightAt = (at: number, found: ProductionSummary): boolean =>
      toText(found) === toText(financials.productionOf(id, at));
    const lastListed = knownUntil === null ? (expiring.at(-1)?.expiresAt ?? validFrom) : knownUntil - 1;
    return (
      isRightAt(validFrom, stored) &&
      (validUntil === null || isRightAt(validUntil - 1, stored)) &&
      isRightAt(lastListed, subtractExpired(stored, expiring, lastListed))
    );
  }

  const isRight = (column: string | null, compute: () => string): boolean => {
    const text = column === null ? undefined : unpack(column, version);
    return text === undefined || text === compute();
  };
  const rows = db.raw
    .prepare(
      `SELECT id, production, loans, savings FROM members
       WHERE production IS NOT NULL OR loans IS NOT NULL OR savings IS NOT NULL ORDER BY id`,
    )
    .iterate() as IterableIterator<Row>;
  for (const row of rows) {
    const { id, loans, savings } = row;
    if (!isProductionRight(row)) return `production of member ${id}`;
    if (!isRight(loans, () => financials.loanHistoryOf(id))) return `loans of member ${id}`;
    if (!isRight(savings, () => financials.savingsOf(id))) return `savings of member ${id}`;
  }
  return undefined;
}

/** For comparing: every field, a bigint as a number of the same value. */
const toText = (summary: ProductionSummary | undefined): string =>
  `${summary?.entriesCount} ${summary?.totalGrams} ${summary?.lastDeliveryAt}`;

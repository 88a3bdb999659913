/** Verifies the stored read model by computing it again from the deliveries, loans and savings. */

import type { ReadModelColumn } from '../registry/changes/tables.ts';
import { type ProductionSummary, subtractExpired } from '../registry/recent-deliveries.ts';
import {
  openFinancials,
  type ReadModelFormat,
  type StoredColumns,
  unpack,
  unpackExpiring,
  unpackProduction,
} from '../registry/stores/read-model.ts';
import { IS_OUT_OF_DATE } from '../registry/stores/refresh-read-model.ts';
import type { Connection } from '../sqlite/connection.ts';

type Row = StoredColumns & { readonly id: number };

const TABLES = [
  ['production', 'production_entries'],
  ['loans', 'loans'],
  ['savings', 'savings_accounts'],
] as const satisfies [ReadModelColumn, string][];

/** Counts members whose read model is stale or has an old format. Lookups of these members are slower. */
export const countOutOfDate = (db: Connection, { version }: ReadModelFormat): number =>
  db.count(`members WHERE ${IS_OUT_OF_DATE}`, { version });

/** Returns a description of the first wrong column. Ignores stale and outdated columns. */
export function findWrongColumn(db: Connection, { version, zone }: ReadModelFormat): string | undefined {
  for (const [column, table] of TABLES) {
    const without = db.value<number | undefined>(
      `SELECT DISTINCT e.member_id FROM ${table} e CROSS JOIN members m ON m.id = e.member_id
       WHERE m.${column} IS NULL LIMIT 1`,
    );
    if (without !== undefined) return `${column} of member ${without}, which has entries, is missing`;
  }
  const financials = openFinancials(db, zone);

  function isProductionRight({ id, production }: Row): boolean {
    const content = production === null ? undefined : unpack(production, version);
    if (content === undefined) return true;
    const stored = unpackProduction(content);
    const { validFrom, validUntil } = stored;
    const { expiring, knownUntil } = unpackExpiring(content);
    const isRightAt = (at: number, summary: ProductionSummary): boolean =>
      toText(summary) === toText(financials.productionOf(id, at));
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
  const rows = db.iterate<Row>(
    `SELECT id, production, loans, savings FROM members
     WHERE production IS NOT NULL OR loans IS NOT NULL OR savings IS NOT NULL ORDER BY id`,
  );
  for (const row of rows) {
    const { id, loans, savings } = row;
    if (!isProductionRight(row)) return `production of member ${id}`;
    if (!isRight(loans, () => financials.loanHistoryOf(id))) return `loans of member ${id}`;
    if (!isRight(savings, () => financials.savingsOf(id))) return `savings of member ${id}`;
  }
  return undefined;
}

/** Formats a summary as text, in which a bigint equals a number with the same value. */
const toText = ({ entriesCount, totalGrams, lastDeliveryAt }: ProductionSummary): string =>
  `${entriesCount} ${totalGrams} ${lastDeliveryAt}`;

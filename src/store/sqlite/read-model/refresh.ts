/** Computes the parts of summaries that are marked. */

import { DAY_SECONDS } from '../../../domain/date-time.ts';
import { type BlockTexts, STAMP_LENGTH } from '../../../domain/lookup.ts';
import { encodePrefixSums, summarizeProduction, windowStart } from '../../../domain/production.ts';
import { type Connection, openDatabase } from '../connection/connection.ts';
import { migrate, REGISTRY_SCHEMA } from '../connection/migrations.ts';
import { MARK, packProduction, packText, type StoredParts } from './columns.ts';
import { openFinancials } from './compute.ts';

/** How far before the window deliveries stay in a summary, for a wall clock that steps back. */
const KNOWN_DAYS = 31;
/** With no more deliveries than this, adding them up anew is as quick as running totals by day. */
const FEW_DELIVERIES = 64;

interface MarkedRow extends StoredParts {
  readonly id: number;
}

const BUSY_TIMEOUT_MS = 10_000;
/** Members of one transaction: it holds the lock for 100 ms, or 350 when all parts are marked. */
const BATCH = 5_000;
/** Rows of members with a part that is to be computed. */
export const MARKED = "production = '' OR loans = '' OR savings = ''";

/**
 * Computes every marked part, in transactions small enough that other writers do not wait for them.
 * @param nowSeconds for which the production window is computed
 * @param pause called between two of them, for a writer that waits
 * @returns how many members were marked
 */
export function refreshSummaries(
  db: Connection,
  blocks: BlockTexts,
  nowSeconds: number,
  pause: () => void,
): number {
  const financials = openFinancials(db);
  const listMarked = db.prepare<[], MarkedRow>(
    `SELECT id, production, loans, savings FROM main.members INDEXED BY members_unsummarized
     WHERE ${MARKED} LIMIT ${BATCH}`,
  );
  const store = db.prepare<
    [production: string | null, loans: string | null, savings: string | null, id: number]
  >('UPDATE main.members SET production = ?, loans = ?, savings = ? WHERE id = ?');
  const storeDays = db.prepare<[number, Uint8Array]>(
    `INSERT INTO main.production_days (member_id, days) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET days = excluded.days`,
  );
  const removeDays = db.prepare<[number]>('DELETE FROM main.production_days WHERE member_id = ?');

  function computeProduction(id: number): string {
    const knownFrom = (Math.floor(windowStart(nowSeconds) / DAY_SECONDS) - KNOWN_DAYS) * DAY_SECONDS;
    const deliveries = financials.deliveriesOf(id, knownFrom);
    if (deliveries.length > FEW_DELIVERIES) storeDays.run(id, encodePrefixSums(deliveries, knownFrom));
    else removeDays.run(id);
    return packProduction(summarizeProduction(deliveries, nowSeconds, knownFrom));
  }

  function refresh({ id, production, loans, savings }: MarkedRow): void {
    store.run(
      production === MARK ? computeProduction(id) : production,
      loans === MARK ? packText(blocks.loans(financials.loansOf(id)), blocks) : loans,
      savings === MARK ? packText(blocks.savings(financials.savingsOf(id)), blocks) : savings,
      id,
    );
  }

  let refreshed = 0;
  for (;;) {
    const count = db.immediately(() => {
      const marked = listMarked.all();
      for (const row of marked) refresh(row);
      return marked.length;
    });
    refreshed += count;
    if (count < BATCH) return refreshed;
    pause();
  }
}

/** Long enough for a server's waiting write, which tries again every 10 ms. */
const PAUSE_MS = 11;

/** Lets a waiting writer have the lock. */
export const letOthersWrite = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
};

/** Marks the texts that another release or time zone has composed. */
function markForeignTexts(db: Connection, { stamp }: BlockTexts): void {
  for (const part of ['loans', 'savings']) {
    db.raw
      .prepare(
        `UPDATE members SET ${part} = ? WHERE ${part} IS NOT NULL AND substr(${part}, 1, ${STAMP_LENGTH}) <> ?`,
      )
      .run(MARK, stamp);
  }
}

/**
 * Computes what is marked in a database file, and what was composed by another release or for another time zone.
 * @returns how many members had a mark
 * @throws DatabaseFileError
 */
export function summarizeMissing(databaseFile: string, blocks: BlockTexts, nowSeconds: number): number {
  const db = openDatabase(databaseFile, { busyTimeoutMs: BUSY_TIMEOUT_MS });
  try {
    migrate(db, REGISTRY_SCHEMA);
    markForeignTexts(db, blocks);
    return refreshSummaries(db, blocks, nowSeconds, letOthersWrite);
  } finally {
    db.close();
  }
}

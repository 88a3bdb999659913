/** Computes the parts of summaries that are marked. */
import { DAY_SECONDS } from '../../domain/date-time.ts';
import { composeDays, summarizeProduction, windowStart } from '../../domain/production.ts';
import { type Connection, openDatabase } from './database.ts';
import { type FinancialStatements, openFinancials } from './financials.ts';
import { migrate, REGISTRY_SCHEMA } from './migrations.ts';
import { packLoans, packProduction, packSavings, type StoredParts } from './summary-parts.ts';

/** How far before the window deliveries stay in a summary, for a wall clock that steps back. */
const KNOWN_DAYS = 31;
/** With no more deliveries than this, adding them up anew is as quick as running totals by day. */
const FEW_DELIVERIES = 64;

interface PackedProduction {
  readonly production: string;
  readonly days: Uint8Array | null;
}

/** @param at epoch seconds */
function computeProduction(memberId: number, at: number, financials: FinancialStatements): PackedProduction {
  const knownFrom = (Math.floor(windowStart(at) / DAY_SECONDS) - KNOWN_DAYS) * DAY_SECONDS;
  const deliveries = financials.deliveriesOf(memberId, knownFrom);
  return {
    production: packProduction(summarizeProduction(deliveries, at, knownFrom)),
    days: deliveries.length > FEW_DELIVERIES ? composeDays(deliveries, knownFrom) : null,
  };
}

interface MissingRow extends StoredParts {
  readonly member_id: number;
}

const BUSY_TIMEOUT_MS = 10_000;
/** Members of one transaction: it holds the lock for some 50 ms. */
const BATCH = 2_000;
/** Rows with a part that is to be computed. */
export const MISSING = 'production IS NULL OR loans IS NULL OR savings IS NULL';

/**
 * Computes every marked part, in transactions small enough that other writers do not wait for them.
 * @param pause called between two of them, for a writer that waits
 * @returns how many members were marked
 */
export function refreshSummaries(db: Connection, nowSeconds: number, pause: () => void): number {
  const financials = openFinancials(db);
  const listMissing = db.prepare<[], MissingRow>(
    `SELECT member_id, production, loans, savings FROM main.member_summaries INDEXED BY member_summaries_missing
     WHERE ${MISSING} LIMIT ${BATCH}`,
  );
  const storeProduction = db.prepare<[string, Uint8Array | null, number]>(
    'UPDATE main.member_summaries SET production = ?, days = ? WHERE member_id = ?',
  );
  const storeLoans = db.prepare<[string, number]>(
    'UPDATE main.member_summaries SET loans = ? WHERE member_id = ?',
  );
  const storeSavings = db.prepare<[string, number]>(
    'UPDATE main.member_summaries SET savings = ? WHERE member_id = ?',
  );
  const storeAll = db.prepare<[string, Uint8Array | null, string, string, number]>(
    'UPDATE main.member_summaries SET production = ?, days = ?, loans = ?, savings = ? WHERE member_id = ?',
  );

  function refresh({ member_id: id, production, loans, savings }: MissingRow): void {
    if (production === null && loans === null && savings === null) {
      const packed = computeProduction(id, nowSeconds, financials);
      const [allLoans, allSavings] = [
        packLoans(financials.loansOf(id)),
        packSavings(financials.savingsOf(id)),
      ];
      storeAll.run(packed.production, packed.days, allLoans, allSavings, id);
      return;
    }
    if (production === null) {
      const packed = computeProduction(id, nowSeconds, financials);
      storeProduction.run(packed.production, packed.days, id);
    }
    if (loans === null) storeLoans.run(packLoans(financials.loansOf(id)), id);
    if (savings === null) storeSavings.run(packSavings(financials.savingsOf(id)), id);
  }

  let refreshed = 0;
  for (;;) {
    const count = db.immediately(() => {
      const missing = listMissing.all();
      for (const row of missing) refresh(row);
      return missing.length;
    });
    refreshed += count;
    if (count < BATCH) return refreshed;
    pause();
  }
}

/** Long enough for a server's waiting write, which tries again every 10 ms. */
const PAUSE_MS = 15;

/** Lets a waiting writer have the lock. */
export const letOthersWrite = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
};

/**
 * Computes what is marked in a database file.
 * @returns how many members had a mark
 * @throws DatabaseFileError
 */
export function summarizeMissing(databaseFile: string, nowSeconds: number): number {
  const db = openDatabase(databaseFile, { busyTimeoutMs: BUSY_TIMEOUT_MS });
  try {
    migrate(db, REGISTRY_SCHEMA);
    return refreshSummaries(db, nowSeconds, letOthersWrite);
  } finally {
    db.close();
  }
}

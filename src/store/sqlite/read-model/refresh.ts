/** Computes the columns of the read model that lookups cannot be served from, and stores them. */

import { summarizeProduction, windowStart } from '../../../domain/entries/production.ts';
import { DAY_SECONDS } from '../../../domain/values/date-time.ts';
import type { Connection } from '../engine/connection.ts';
import { IS_STALE, READ_MODEL_COLUMNS } from '../schema/stale-flag.ts';
import { openFinancials } from './compute.ts';
import {
  pack,
  packProduction,
  type ReadModelFormat,
  type StoredColumns,
  unpack,
  VERSION_LENGTH,
} from './format.ts';

/** How far before the window deliveries stay known, for a wall clock that steps back. */
const KNOWN_DAYS = 31;
/** Members of one transaction: it holds the lock for 100 ms, or 350 when all columns are computed. */
const BATCH = 5_000;

export interface RefreshOptions {
  /** Epoch seconds for which the production window is computed. */
  readonly nowSeconds: number;
  /** Called between two transactions, for a writer that waits. */
  readonly pause: () => void;
  /** Members of one transaction; given by tests. */
  readonly batch?: number;
}

/** A condition on members, with `@version`: a column is stale, or was written by other rules. */
export const IS_OUT_OF_DATE = READ_MODEL_COLUMNS.map(
  (column) => `substr(${column}, 1, ${VERSION_LENGTH}) <> @version`,
).join(' OR ');

interface Found {
  readonly id: number;
}

/**
 * Stores every column that is stale, found by its index: what follows an import.
 * @returns how many members had one
 */
export function refreshStale(db: Connection, format: ReadModelFormat, options: RefreshOptions): number {
  const listStale = db.prepare<[number], Found>(
    `SELECT id FROM main.members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT ?`,
  );
  return refreshAll(db, format, options, (_afterId, batch) => listStale.all(batch));
}

/**
 * Stores every column that is stale or was written by other rules, found by reading all members: what follows
 * another release or time zone.
 * @returns how many members had one
 */
export function refreshOutOfDate(db: Connection, format: ReadModelFormat, options: RefreshOptions): number {
  const listOutOfDate = db.prepare<[{ version: string; afterId: number; batch: number }], Found>(
    `SELECT id FROM main.members WHERE id > @afterId AND (${IS_OUT_OF_DATE}) ORDER BY id LIMIT @batch`,
    'one batch, read without a lock',
  );
  const { version } = format;
  return refreshAll(db, format, options, (afterId, batch) => listOutOfDate.all({ version, afterId, batch }));
}

function refreshAll(
  db: Connection,
  format: ReadModelFormat,
  { nowSeconds, pause, batch = BATCH }: RefreshOptions,
  listNext: (afterId: number, batch: number) => readonly Found[],
): number {
  const refresh = openRefresh(db, format, nowSeconds);
  let refreshed = 0;
  let afterId = 0;
  for (;;) {
    // Found without the lock, and looked at again with it: only the latter makes others wait.
    const found = listNext(afterId, batch);
    if (found.length === 0) return refreshed;
    db.transaction.immediate(() => {
      for (const { id } of found) refresh(id);
    });
    refreshed += found.length;
    if (found.length < batch) return refreshed;
    afterId = found.at(-1)?.id ?? afterId;
    pause();
  }
}

/**
 * @returns what computes and stores the columns of a member that cannot be served; called inside a
 * transaction
 */
function openRefresh(db: Connection, { version, zone }: ReadModelFormat, nowSeconds: number) {
  const financials = openFinancials(db, zone);
  const select = db.prepare<[number], StoredColumns>(
    'SELECT production, loans, savings FROM main.members WHERE id = ?',
  );
  const store = db.prepare<
    [production: string | null, loans: string | null, savings: string | null, id: number]
  >('UPDATE main.members SET production = ?, loans = ?, savings = ? WHERE id = ?');

  function computeProduction(id: number): string {
    const knownFrom = (Math.floor(windowStart(nowSeconds) / DAY_SECONDS) - KNOWN_DAYS) * DAY_SECONDS;
    return packProduction(summarizeProduction(financials.deliveriesOf(id, knownFrom), nowSeconds, knownFrom));
  }

  const renewed = (column: string | null, compute: () => string): string | null =>
    column === null || unpack(column, version) !== undefined ? column : pack(compute(), version);

  return (id: number): void => {
    const stored = select.get(id);
    if (stored === undefined) return;
    store.run(
      renewed(stored.production, () => computeProduction(id)),
      renewed(stored.loans, () => financials.loanHistoryOf(id)),
      renewed(stored.savings, () => financials.savingsOf(id)),
      id,
    );
  };
}

/** Long enough for a server's waiting write, which tries again every 10 ms. */
const PAUSE_MS = 11;

/** Lets a waiting writer have the lock. */
export const letOthersWrite = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
};

/**
 * @returns what computes and stores the loan history of a member; called inside the transaction, after the
 * rows were written: their triggers mark it as stale
 */
export function openLoanHistoryRefresh(
  db: Connection,
  { version, zone }: ReadModelFormat,
): (memberId: number) => void {
  const financials = openFinancials(db, zone);
  const store = db.prepare<[loans: string, id: number]>('UPDATE members SET loans = ? WHERE id = ?');
  return (memberId) => {
    store.run(pack(financials.loanHistoryOf(memberId), version), memberId);
  };
}

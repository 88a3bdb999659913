/** Computes the columns of the read model that lookups cannot be served from, and stores them. */

import { summarizeProduction, windowStart } from '../../../domain/entries/production.ts';
import { DAY_SECONDS } from '../../../domain/values/date-time.ts';
import type { Connection } from '../engine/connection.ts';
import { IS_STALE, READ_MODEL_COLUMNS, type ReadModelColumn } from '../schema/stale-flag.ts';
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

/** What computes each column of a member. */
function openColumns(db: Connection, { zone }: Pick<ReadModelFormat, 'zone'>) {
  const financials = openFinancials(db, zone);
  return {
    production(id: number, nowSeconds: number): string {
      const knownFrom = (Math.floor(windowStart(nowSeconds) / DAY_SECONDS) - KNOWN_DAYS) * DAY_SECONDS;
      const deliveries = financials.deliveriesOf(id, knownFrom);
      return packProduction(summarizeProduction(deliveries, nowSeconds, knownFrom));
    },
    loans: financials.loanHistoryOf,
    savings: financials.savingsOf,
  } satisfies { readonly [column in ReadModelColumn]: (id: number, nowSeconds: number) => string };
}

/**
 * @returns what computes and stores the columns of a member that cannot be served; called inside a
 * transaction
 */
function openRefresh(db: Connection, format: ReadModelFormat, nowSeconds: number) {
  const { version } = format;
  const columns = openColumns(db, format);
  const select = db.prepare<[number], StoredColumns>(
    'SELECT production, loans, savings FROM main.members WHERE id = ?',
  );
  const store = db.prepare<
    [production: string | null, loans: string | null, savings: string | null, id: number]
  >('UPDATE main.members SET production = ?, loans = ?, savings = ? WHERE id = ?');

  const renewed = (column: string | null, compute: () => string): string | null =>
    column === null || unpack(column, version) !== undefined ? column : pack(compute(), version);

  return (id: number): void => {
    const stored = select.get(id);
    if (stored === undefined) return;
    store.run(
      renewed(stored.production, () => columns.production(id, nowSeconds)),
      renewed(stored.loans, () => columns.loans(id)),
      renewed(stored.savings, () => columns.savings(id)),
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
 * @returns what computes and stores a column of a member; called inside the transaction, after the rows were
 * written: their triggers mark it as stale
 */
export function openColumnRefresh(
  db: Connection,
  format: ReadModelFormat,
  column: ReadModelColumn,
): (memberId: number, nowSeconds: number) => void {
  const compute = openColumns(db, format)[column];
  const store = db.prepare<[packed: string, id: number]>(`UPDATE members SET ${column} = ? WHERE id = ?`);
  return (memberId, nowSeconds) => {
    store.run(pack(compute(memberId, nowSeconds), format.version), memberId);
  };
}

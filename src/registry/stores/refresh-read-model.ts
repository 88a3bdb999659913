/** Computes and stores outdated columns of the read model. */

import type { Connection } from '../../sqlite/connection.ts';
import { DAY_SECONDS, type TimeZone } from '../../values/date-time.ts';
import { IS_STALE, READ_MODEL_COLUMNS, type ReadModelColumn } from '../changes/tables.ts';
import { summarizeProduction, windowStart } from '../recent-deliveries.ts';
import {
  openFinancials,
  pack,
  packProduction,
  type ReadModelFormat,
  type StoredColumns,
  unpack,
  VERSION_LENGTH,
} from './read-model.ts';

/** Days before the window whose deliveries are also read, in case the wall clock steps back. */
const KNOWN_DAYS = 31;
/** Members per transaction, which holds the lock for 100 ms, or 350 ms if every column is computed. */
const BATCH = 5_000;

interface RefreshOptions {
  /** End of the production window in epoch seconds. */
  readonly nowSeconds: number;
  /** Called between two transactions, so that a waiting writer gets the lock. */
  readonly pause: () => void;
  /** Members per transaction; set by tests. */
  readonly batch?: number;
}

/** SQL condition for members with a column that is stale or has a version other than `@version`. */
export const IS_OUT_OF_DATE = READ_MODEL_COLUMNS.map(
  (column) => `substr(${column}, 1, ${VERSION_LENGTH}) <> @version`,
).join(' OR ');

/**
 * Refreshes all stale columns after an import, finding the members by index.
 * @returns the number of refreshed members
 */
export function refreshStale(db: Connection, format: ReadModelFormat, options: RefreshOptions): number {
  const listStale = db.prepareTuples<[number], readonly [id: number]>(
    `SELECT id FROM main.members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT ?`,
  );
  return refreshAll(db, format, options, (_afterId, batch) => listStale.all(batch));
}

/**
 * Refreshes all columns that are stale or have a different version, after an upgrade or a change of time
 * zone. Scans all members.
 * @returns the number of refreshed members
 */
export function refreshOutOfDate(db: Connection, format: ReadModelFormat, options: RefreshOptions): number {
  const { version } = format;
  const listOutOfDate = db.prepareTuples<
    [{ version: string; afterId: number; batch: number }],
    readonly [id: number]
  >(
    `SELECT id FROM main.members WHERE id > @afterId AND (${IS_OUT_OF_DATE}) ORDER BY id LIMIT @batch`,
    'one batch, read without a lock',
  );
  return refreshAll(db, format, options, (afterId, batch) => listOutOfDate.all({ version, afterId, batch }));
}

function refreshAll(
  db: Connection,
  format: ReadModelFormat,
  { nowSeconds, pause, batch = BATCH }: RefreshOptions,
  listNext: (afterId: number, batch: number) => readonly (readonly [id: number])[],
): number {
  const refresh = openRefresh(db, format, nowSeconds);
  let refreshed = 0;
  let afterId = 0;
  for (;;) {
    // The search takes no lock, so that other writers can continue. `refresh` checks each member again.
    const members = listNext(afterId, batch);
    if (members.length === 0) return refreshed;
    db.transaction.immediate(() => {
      for (const [id] of members) refresh(id);
    });
    refreshed += members.length;
    if (members.length < batch) return refreshed;
    [afterId] = members.at(-1) as readonly [id: number];
    pause();
  }
}

function openColumns(db: Connection, zone: TimeZone) {
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

/** @returns a function that refreshes the outdated columns of a member; call it inside a transaction */
function openRefresh(db: Connection, { version, zone }: ReadModelFormat, nowSeconds: number) {
  const columns = openColumns(db, zone);
  const select = db.prepare<[number], StoredColumns>(
    'SELECT production, loans, savings FROM main.members WHERE id = ?',
  );
  const store = db.prepare<[StoredColumns & { readonly id: number }]>(
    'UPDATE main.members SET production = @production, loans = @loans, savings = @savings WHERE id = @id',
  );
  return (id: number): void => {
    const stored = select.get(id);
    if (stored === undefined) return;
    const renewed = (column: ReadModelColumn): string | null => {
      const text = stored[column];
      return text === null || unpack(text, version) !== undefined
        ? text
        : pack(columns[column](id, nowSeconds), version);
    };
    store.run({
      id,
      production: renewed('production'),
      loans: renewed('loans'),
      savings: renewed('savings'),
    });
  };
}

/** Longer than the 10 ms after which a waiting write of the service tries again. */
const PAUSE_MS = 11;

export const letOthersWrite = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
};

/**
 * @returns a function that computes and stores a column of a member. Call it in the transaction after writing
 *   the rows, because their triggers mark the column as stale.
 */
export function openColumnRefresh(
  db: Connection,
  format: ReadModelFormat,
  column: ReadModelColumn,
): (memberId: number, nowSeconds: number) => void {
  const compute = openColumns(db, format.zone)[column];
  const store = db.prepare<[packed: string, id: number]>(`UPDATE members SET ${column} = ? WHERE id = ?`);
  return (memberId, nowSeconds) => {
    store.run(pack(compute(memberId, nowSeconds), format.version), memberId);
  };
}

/**
 * The read model: sums and lists of a member's entries, stored in the member's row for lookups
 * (docs/decisions/0012-read-model.md). It has no values of the cooperative, so that renaming a cooperative
 * rewrites no members. If a column is stale or was computed by other rules, a lookup computes the column,
 * and stores nothing.
 */

import type { Connection } from '../../sqlite/connection.ts';
import { zoneIn } from '../../sqlite/registry-facts.ts';
import { DAY_SECONDS, type TimeZone } from '../../values/date-time.ts';
import { type ExactInteger, narrow } from '../../values/decimal.ts';
import { IS_STALE, READ_MODEL_COLUMNS, type ReadModelColumn } from '../changes/tables.ts';
import type { SavingsSummary, TransactionKind } from '../entries.ts';
import { type Loan, selectLoanHistory } from '../loans.ts';
import {
  type DatedProduction,
  type DatedSummary,
  type Delivery,
  type ExpiringDelivery,
  type ProductionSummary,
  subtractExpired,
  summarizeProduction,
  windowStart,
} from '../recent-deliveries.ts';
import { type Financials, serializeLoanHistory, serializeSavings } from './consolidate.ts';
import { LOAN_HISTORY_ROW } from './rows.ts';

// Format of a column: the version of the rules, then the content. Production is stored as data, because the
// window of a lookup ends at the time of the request. Loans and savings are stored as responses show them.

export interface ReadModelFormat {
  readonly version: string;
  /** Time zone of the date-times in loans and savings. */
  readonly zone: TimeZone;
}

export const VERSION_LENGTH = 8;

/** Each column may be stale, or null if the member has no entries of this kind. */
export type StoredColumns = { readonly [column in ReadModelColumn]: string | null };

export const pack = (content: string, version: string): string => version + content;

/** @returns undefined if the column is stale or has a different version */
export const unpack = (column: string, version: string): string | undefined =>
  column.startsWith(version) ? column.slice(VERSION_LENGTH) : undefined;

type Exact = number | string;
type CurrentProduction = [
  validFrom: number,
  validUntil: number | null,
  count: number,
  grams: Exact,
  lastAt: number | null,
];
// JSON numbers are exact only up to 2^53, so larger integers are stored as text.
const packExact = (value: ExactInteger): Exact => (typeof value === 'bigint' ? String(value) : value);
const unpackExact = (value: Exact): ExactInteger => (typeof value === 'string' ? BigInt(value) : value);

/** Reads the summary and its period of validity, but not the deliveries that leave the window later. */
export function unpackProduction(content: string): DatedSummary {
  const current = JSON.parse(content.slice(0, content.indexOf(';'))) as CurrentProduction;
  return {
    entriesCount: current[2],
    totalGrams: unpackExact(current[3]),
    lastDeliveryAt: current[4],
    validFrom: current[0],
    validUntil: current[1],
  };
}

/** Reads the deliveries that leave the window after the summary's period of validity. */
export function unpackExpiring(content: string): Pick<DatedProduction, 'expiring' | 'knownUntil'> {
  const [knownUntil, ...flat] = JSON.parse(content.slice(content.indexOf(';') + 1)) as [
    number | null,
    ...number[],
  ];
  const expiring: ExpiringDelivery[] = [];
  let expiresAt = 0;
  for (let i = 0; i < flat.length; i += 2) {
    expiresAt += flat[i] as number;
    expiring.push({ expiresAt, grams: flat[i + 1] as number });
  }
  return { expiring, knownUntil };
}

function packProduction(dated: DatedProduction): string {
  const current: CurrentProduction = [
    dated.validFrom,
    dated.validUntil,
    dated.entriesCount,
    packExact(dated.totalGrams),
    dated.lastDeliveryAt,
  ];
  // Each time is stored as the difference from the previous time, which mostly has fewer digits.
  const flat = dated.expiring.flatMap(({ expiresAt, grams }, i) => [
    expiresAt - (dated.expiring[i - 1]?.expiresAt ?? 0),
    grams,
  ]);
  return `${JSON.stringify(current)};${JSON.stringify([dated.knownUntil, ...flat])}`;
}

/**
 * Raise this version, which has two characters, whenever a rule changes: the window, the length and order of
 * the loan history, sums or formats. A test compares the columns of a sample with a fingerprint.
 */
export const RULES_VERSION = '02';

export const createReadModelFormat = (zone: TimeZone): ReadModelFormat => ({
  version: RULES_VERSION + zone.suffix,
  zone,
});

export const formatOf = (db: Connection, configured: TimeZone | undefined): ReadModelFormat =>
  createReadModelFormat(zoneIn(db, configured));

// Values computed from the entries of one membership. Every stored column must equal these values.

/** Sum in two parts, because SQLite's sum of large amounts overflows. */
interface ExactSum {
  readonly count: number;
  readonly millions: number | null;
  readonly rest: number | null;
}

interface DatedSum extends ExactSum {
  readonly last_at: number | null;
}

const MILLION = 1_000_000;
const exactSum = (column: string): string =>
  `count(*) AS count, sum(${column} / ${MILLION}) AS millions, sum(${column} % ${MILLION}) AS rest`;
const toExact = (sum: ExactSum): bigint =>
  BigInt(sum.millions ?? 0) * BigInt(MILLION) + BigInt(sum.rest ?? 0);
export const toExactInteger = (sum: ExactSum): ExactInteger => narrow(toExact(sum));

export function openFinancials(db: Connection, zone: TimeZone) {
  const sumProduction = db.prepare<[memberId: number, after: number, until: number], DatedSum>(
    `SELECT ${exactSum('grams')}, max(delivered_at) AS last_at FROM production_entries
     WHERE member_id = ? AND delivered_at > ? AND delivered_at <= ?`,
    'the entries of one member in 365 days',
  );
  const listDeliveries = db.prepare<[memberId: number, from: number], Delivery>(
    `SELECT delivered_at AS at, grams FROM production_entries WHERE member_id = ? AND delivered_at >= ?
     ORDER BY delivered_at`,
  );
  const selectLoans = db.prepare<[memberId: number], Loan>(
    `SELECT ${LOAN_HISTORY_ROW} FROM loans l WHERE l.member_id = ?`,
  );
  const countAccounts = db.prepare<[memberId: number], { count: number }>(
    'SELECT count(*) AS count FROM savings_accounts WHERE member_id = ?',
    'the accounts of one member',
  );
  const sumSavings = db.prepare<[memberId: number, kind: TransactionKind], DatedSum>(
    `SELECT ${exactSum('t.amount_minor')}, max(t.transacted_at) AS last_at
     FROM savings_accounts a JOIN savings_transactions t ON t.account_id = a.id
     WHERE a.member_id = ? AND t.kind = ?`,
    'the savings transactions of one member',
  );

  return {
    /** @param at end of the window in epoch seconds */
    productionOf(memberId: number, at: number): ProductionSummary {
      const sum = sumProduction.get(memberId, windowStart(at), at) as DatedSum;
      return { entriesCount: sum.count, totalGrams: toExactInteger(sum), lastDeliveryAt: sum.last_at };
    },

    /** Computes the same summary as `productionOf` from an earlier summary and the deliveries since then. */
    productionSince(
      memberId: number,
      earlier: ProductionSummary & { readonly at: number },
      at: number,
    ): ProductionSummary {
      const expired = sumProduction.get(memberId, windowStart(earlier.at), windowStart(at)) as DatedSum;
      const added = sumProduction.get(memberId, earlier.at, at) as DatedSum;
      const lastDeliveryAt = added.last_at ?? earlier.lastDeliveryAt;
      return {
        entriesCount: earlier.entriesCount - expired.count + added.count,
        totalGrams: narrow(BigInt(earlier.totalGrams) - toExact(expired) + toExact(added)),
        lastDeliveryAt: lastDeliveryAt !== null && lastDeliveryAt > windowStart(at) ? lastDeliveryAt : null,
      };
    },

    /** Lists deliveries in time order. */
    deliveriesOf: (memberId: number, from: number): Delivery[] => listDeliveries.all(memberId, from),

    loanHistoryOf: (memberId: number): string =>
      serializeLoanHistory(selectLoanHistory(selectLoans.all(memberId)), zone),

    savingsOf(memberId: number): string {
      const contributions = sumSavings.get(memberId, 'contribution') as DatedSum;
      const withdrawals = sumSavings.get(memberId, 'withdrawal') as DatedSum;
      const lastAt = [contributions.last_at, withdrawals.last_at].filter((each) => each !== null);
      const summary: SavingsSummary = {
        accountsCount: (countAccounts.get(memberId) as { count: number }).count,
        totalContributionsMinor: toExactInteger(contributions),
        totalWithdrawalsMinor: toExactInteger(withdrawals),
        lastTransactionAt: lastAt.length === 0 ? null : Math.max(...lastAt),
      };
      return serializeSavings(summary, zone);
    },
  };
}

const NO_PRODUCTION: ProductionSummary = { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null };
const NO_SAVINGS: SavingsSummary = {
  accountsCount: 0,
  totalContributionsMinor: 0,
  totalWithdrawalsMinor: 0,
  lastTransactionAt: null,
};

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

  /** @param at end of the production window in epoch seconds */
  return (memberId: number, { production, loans, savings }: StoredColumns, at: number): Financials => ({
    production: productionOf(memberId, production, at),
    loanHistory: loans === null ? noLoans : (unpack(loans, version) ?? financials.loanHistoryOf(memberId)),
    savingsSummary:
      savings === null ? noSavings : (unpack(savings, version) ?? financials.savingsOf(memberId)),
  });
}

/** Deliveries of this many days before the window are read too, in case the wall clock steps back. */
const KNOWN_DAYS = 31;
/** A transaction of this many members holds the lock for 100 ms, or 350 ms if every column is computed. */
const BATCH = 5_000;

interface RefreshOptions {
  readonly nowSeconds: number;
  /** Called between two transactions, so that a waiting writer gets the lock. */
  readonly pause: () => void;
  /** Set by tests. */
  readonly batch?: number;
}

export const IS_OUT_OF_DATE = READ_MODEL_COLUMNS.map(
  (column) => `substr(${column}, 1, ${VERSION_LENGTH}) <> @version`,
).join(' OR ');

/** Finds stale members by an index. Returns the number of refreshed members. */
export function refreshStale(db: Connection, format: ReadModelFormat, options: RefreshOptions): number {
  const listStale = db.prepareTuples<[number], readonly [id: number]>(
    `SELECT id FROM main.members INDEXED BY members_unsummarized WHERE ${IS_STALE} LIMIT ?`,
  );
  return refreshAll(db, format, options, (_afterId, batch) => listStale.all(batch));
}

/** Like `refreshStale`, but scans all members, and also refreshes columns with a different version. */
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
 * @returns a function that computes and stores a column. Call it after writing the rows, in the same
 *   transaction: the writes fire triggers that mark the column as stale.
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

/**
 * Format of the read model: each column is prefixed with the version that wrote it. Production is stored as
 * data, because it depends on the time of the request; loans and savings are stored as they are sent.
 */

import type { Connection } from '../../sqlite/connection.ts';
import type { Storage } from '../../sqlite/storage.ts';
import type { TimeZone } from '../../values/date-time.ts';
import type { ExactInteger } from '../../values/decimal.ts';
import { type Financials, serializeLoanHistory, serializeSavings } from '../consolidate.ts';
import {
  type DatedProduction,
  type DatedSummary,
  type ExpiringDelivery,
  type ProductionSummary,
  type SavingsSummary,
  subtractExpired,
} from '../entries.ts';
import { openFinancials } from './compute-read-model.ts';

/** Version and time zone of stored columns. */
export interface ReadModelFormat {
  readonly version: string;
  /** Zone of the date-times in loans and savings. */
  readonly zone: TimeZone;
}

/** In characters. */
export const VERSION_LENGTH = 8;

/**
 * Columns of a member's row; null without entries of the kind, otherwise see changes/tables.ts and `unpack`.
 */
export interface StoredColumns {
  readonly production: string | null;
  readonly loans: string | null;
  readonly savings: string | null;
}

export const pack = (content: string, version: string): string => version + content;

/** @returns undefined if the column is stale, or was written under another version */
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

/** The summary with its period of validity, without the deliveries that expire later. */
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

/** Deliveries that expire after the end of the summary's validity. */
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

export function packProduction(dated: DatedProduction): string {
  const current: CurrentProduction = [
    dated.validFrom,
    dated.validUntil,
    dated.entriesCount,
    packExact(dated.totalGrams),
    dated.lastDeliveryAt,
  ];
  // Times are stored as seconds since the previous one, which is usually shorter.
  const flat = dated.expiring.flatMap(({ expiresAt, grams }, i) => [
    expiresAt - (dated.expiring[i - 1]?.expiresAt ?? 0),
    grams,
  ]);
  return `${JSON.stringify(current)};${JSON.stringify([dated.knownUntil, ...flat])}`;
}

/**
 * Version of all rules that decide what is stored, in two characters: the window, the length and order of the
 * loan history, the sums and their format. A test compares the stored columns of a sample with a fingerprint
 * and fails after a change of a rule; increase this version then.
 */
export const RULES_VERSION = '02';

/** Loans and savings are stored as they are sent, with date-times in the registry's time zone. */
export const createReadModelFormat = (zone: TimeZone): ReadModelFormat => ({
  version: RULES_VERSION + zone.suffix,
  zone,
});

export const formatOf = (storage: Storage): ReadModelFormat => createReadModelFormat(storage.zone);

// The read model of a lookup holds the results derived from a member's entries, in the member's own row. It
// holds nothing of the cooperative, so renaming one rewrites no members.
//
// Triggers mark a column as stale in the transaction that changes its entries, and each column carries the
// version of the rules that wrote it. A column of this version that is not stale is therefore correct.
// Lookups never write: they compute the others. `refresh-read-model.ts` stores them, after an import or by
// command.

const NO_PRODUCTION: ProductionSummary = { entriesCount: 0, totalGrams: 0, lastDeliveryAt: null };
const NO_SAVINGS: SavingsSummary = {
  accountsCount: 0,
  totalContributionsMinor: 0,
  totalWithdrawalsMinor: 0,
  lastTransactionAt: null,
};

/**
 * @returns a function that gives the financials of one membership from its stored columns, computing those
 *   that cannot be served
 */
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

  function loanHistoryOf(memberId: number, column: string | null): string {
    if (column === null) return noLoans;
    return unpack(column, version) ?? financials.loanHistoryOf(memberId);
  }

  function savingsOf(memberId: number, column: string | null): string {
    if (column === null) return noSavings;
    return unpack(column, version) ?? financials.savingsOf(memberId);
  }

  /** @param at end of the production window in epoch seconds */
  return (memberId: number, columns: StoredColumns, at: number): Financials => ({
    production: productionOf(memberId, columns.production, at),
    loanHistory: loanHistoryOf(memberId, columns.loans),
    savingsSummary: savingsOf(memberId, columns.savings),
  });
}

/**
 * What the columns of the read model hold, behind the format version that wrote it. Production is data, as it
 * depends on the moment; loans and savings are kept as they will be sent.
 */

import type { DatedProduction, DatedSummary, ExpiringDelivery } from '../../../domain/entries/production.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { ExactInteger } from '../../../domain/values/decimal.ts';

/** How the columns of the read model are written, and recognized again. */
export interface ReadModelFormat {
  readonly version: string;
  /** In which date-times are shown. */
  readonly zone: TimeZone;
}

/** Characters of a format version. */
export const VERSION_LENGTH = 8;

/** The columns of a member's row: null when it has no such entries, else see stale-flag.ts and `unpack`. */
export interface StoredColumns {
  readonly production: string | null;
  readonly loans: string | null;
  readonly savings: string | null;
}

export const pack = (content: string, version: string): string => version + content;

/** @returns undefined when the column is stale, or was written by other rules than those of the version */
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
// JSON holds integers above 2^53 only as text.
const packExact = (value: ExactInteger): Exact => (typeof value === 'bigint' ? String(value) : value);
const unpackExact = (value: Exact): ExactInteger => (typeof value === 'string' ? BigInt(value) : value);

/** The summary and when it is right, without the deliveries that expire later. */
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

/** What expires after the summary's end. */
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
  // Each time as the seconds since the one before: most are shorter so.
  const flat = dated.expiring.flatMap(({ expiresAt, grams }, i) => [
    expiresAt - (dated.expiring[i - 1]?.expiresAt ?? 0),
    grams,
  ]);
  return `${JSON.stringify(current)};${JSON.stringify([dated.knownUntil, ...flat])}`;
}

/**
 * Two characters for all rules that decide what is stored: the window, the loan history's length and order,
 * what is summed, how it is shown. A test compares what is stored for a sample with a fingerprint: whoever
 * changes a rule makes it fail, and takes the next version here.
 */
export const RULES_VERSION = '02';

/** Loans and savings are stored as they are sent, with date-times in the registry's time zone. */
export const createReadModelFormat = (zone: TimeZone): ReadModelFormat => ({
  version: RULES_VERSION + zone.suffix,
  zone,
});

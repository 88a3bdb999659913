/**
 * The production of the last 365 days: exact to the second, without adding up every delivery at each lookup.
 */
import { DAY_SECONDS } from '../values/date-time.ts';
import { type ExactInteger, narrow } from '../values/decimal.ts';

/** Days of the production summary (docs/api.md#looking-up-a-person). */
export const PRODUCTION_WINDOW_DAYS = 365;

export interface ProductionSummary {
  readonly entriesCount: number;
  readonly totalGrams: ExactInteger;
  /** Epoch seconds; null when the window is empty. */
  readonly lastDeliveryAt: number | null;
}

const PRODUCTION_WINDOW_SECONDS = PRODUCTION_WINDOW_DAYS * DAY_SECONDS;

export interface Delivery {
  /** Epoch seconds. */
  readonly at: number;
  readonly grams: number;
}

/** A delivery that expires, and when: it leaves the window. */
export interface ExpiringDelivery {
  readonly expiresAt: number;
  readonly grams: number;
}

/** A summary, and the moments at which it is right. */
export interface DatedSummary extends ProductionSummary {
  /** Right from here on. */
  readonly validFrom: number;
  /** Wrong from here on: the first delivery expires. Null when none ever will. */
  readonly validUntil: number | null;
}

/** A summary, and what changes it next. */
export interface DatedProduction extends DatedSummary {
  /** The next deliveries to expire, by time: with them the summary is known until `knownUntil`. */
  readonly expiring: readonly ExpiringDelivery[];
  readonly knownUntil: number | null;
}

/** The epoch second after which a delivery counts at a moment. */
export const windowStart = (at: number): number => at - PRODUCTION_WINDOW_SECONDS;

/** At most so many deliveries are listed as expiring: a month of two a day. */
const MAX_EXPIRING = 64;

/**
 * The summary at a moment. It changes when a delivery has happened or is a window old, and at no other time.
 * @param deliveries by time, every one since `knownFrom`, later ones than `at` too
 * @param at epoch seconds
 * @param knownFrom epoch seconds, not after the start of the window
 */
export function summarizeProduction(
  deliveries: readonly Delivery[],
  at: number,
  knownFrom: number,
): DatedProduction {
  // What happened before `knownFrom` has left the window by then.
  let validFrom = knownFrom + PRODUCTION_WINDOW_SECONDS;
  let nextDelivery = Number.POSITIVE_INFINITY;
  const inside: Delivery[] = [];
  let totalGrams = 0n;
  for (const delivery of deliveries) {
    const expiresAt = delivery.at + PRODUCTION_WINDOW_SECONDS;
    if (expiresAt <= at) validFrom = Math.max(validFrom, expiresAt);
    if (delivery.at <= at) validFrom = Math.max(validFrom, delivery.at);
    else nextDelivery = Math.min(nextDelivery, delivery.at);
    if (expiresAt <= at || delivery.at > at) continue;
    inside.push(delivery);
    totalGrams += BigInt(delivery.grams);
  }
  const expiring = inside
    .slice(0, MAX_EXPIRING)
    .map((each) => ({ expiresAt: each.at + PRODUCTION_WINDOW_SECONDS, grams: each.grams }));
  const firstUnlisted = inside[MAX_EXPIRING];
  const knownUntil = Math.min(
    nextDelivery,
    firstUnlisted === undefined ? Number.POSITIVE_INFINITY : firstUnlisted.at + PRODUCTION_WINDOW_SECONDS,
  );
  const validUntil = Math.min(knownUntil, expiring[0]?.expiresAt ?? Number.POSITIVE_INFINITY);
  return {
    entriesCount: inside.length,
    totalGrams: narrow(totalGrams),
    lastDeliveryAt: inside.at(-1)?.at ?? null,
    validFrom,
    validUntil: orNull(validUntil),
    expiring,
    knownUntil: orNull(knownUntil),
  };
}

const orNull = (moment: number): number | null => (moment === Number.POSITIVE_INFINITY ? null : moment);

/**
 * The summary at a later moment, from an earlier one and what has expired since.
 * @param at epoch seconds, before `knownUntil`
 */
export function subtractExpired(
  summary: ProductionSummary,
  expiring: readonly ExpiringDelivery[],
  at: number,
): ProductionSummary {
  let entriesCount = summary.entriesCount;
  let totalGrams = BigInt(summary.totalGrams);
  for (const { expiresAt, grams } of expiring) {
    if (expiresAt > at) break;
    entriesCount--;
    totalGrams -= BigInt(grams);
  }
  const lastDeliveryAt = entriesCount === 0 ? null : summary.lastDeliveryAt;
  return { entriesCount, totalGrams: narrow(totalGrams), lastDeliveryAt };
}

/**
 * Production of the last 365 days, exact to the second. Each summary has a period of validity. During this
 * period, a lookup uses the stored summary instead of adding up all deliveries.
 */

import { DAY_SECONDS } from '../values/date-time.ts';
import { type ExactInteger, narrow } from '../values/decimal.ts';

/** Days in the window of the production summary (docs/api.md#looking-up-a-person). */
export const PRODUCTION_WINDOW_DAYS = 365;

export interface ProductionSummary {
  readonly entriesCount: number;
  readonly totalGrams: ExactInteger;
  /** Epoch seconds, or null if the window is empty. */
  readonly lastDeliveryAt: number | null;
}

const PRODUCTION_WINDOW_SECONDS = PRODUCTION_WINDOW_DAYS * DAY_SECONDS;

export interface Delivery {
  /** Epoch seconds. */
  readonly at: number;
  readonly grams: number;
}

/** Delivery in the window. */
export interface ExpiringDelivery {
  /** Epoch second at which the delivery leaves the window. */
  readonly expiresAt: number;
  readonly grams: number;
}

/** Summary with its period of validity, in epoch seconds. */
export interface DatedSummary extends ProductionSummary {
  /** Inclusive start of the validity. */
  readonly validFrom: number;
  /** Exclusive end: the next moment at which a delivery enters or leaves the window; null if none does. */
  readonly validUntil: number | null;
}

export interface DatedProduction extends DatedSummary {
  /** Deliveries that leave the window next, in time order. */
  readonly expiring: readonly ExpiringDelivery[];
  /** Exclusive end of the period for which `expiring` suffices, in epoch seconds; null for no end. */
  readonly knownUntil: number | null;
}

/** Returns the exclusive start of the window that ends at `at`, in epoch seconds. */
export const windowStart = (at: number): number => at - PRODUCTION_WINDOW_SECONDS;

/** Maximum length of `expiring`: two deliveries a day for a month. */
const MAX_EXPIRING = 64;

/**
 * Returns the summary at a moment. A summary changes only when a delivery enters or leaves the window.
 * @param deliveries all deliveries since `knownFrom` in time order, including deliveries later than `at`
 * @param at epoch seconds
 * @param knownFrom epoch seconds, not after the start of the window
 */
export function summarizeProduction(
  deliveries: readonly Delivery[],
  at: number,
  knownFrom: number,
): DatedProduction {
  // At this moment, any delivery before `knownFrom` has left the window.
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
 * Subtracts the deliveries that have left the window at the moment `at` from an earlier summary.
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

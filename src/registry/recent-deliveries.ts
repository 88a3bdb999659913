/** Production of the last 365 days, exact to the second, and how long a stored summary of it is valid. */

import { DAY_SECONDS } from '../values/date-time.ts';
import { type ExactInteger, narrow } from '../values/decimal.ts';

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

export interface ExpiringDelivery {
  /** Epoch second at which the delivery leaves the window. */
  readonly expiresAt: number;
  readonly grams: number;
}

/** Summary with its period of validity, in epoch seconds. */
export interface DatedSummary extends ProductionSummary {
  /** Inclusive. */
  readonly validFrom: number;
  /** Exclusive: the next moment at which a delivery enters or leaves the window; null if none does. */
  readonly validUntil: number | null;
}

export interface DatedProduction extends DatedSummary {
  /** Deliveries that leave the window next, in time order. */
  readonly expiring: readonly ExpiringDelivery[];
  /** Epoch second until which `expiring` is enough to compute the summary, exclusive; null for no end. */
  readonly knownUntil: number | null;
}

/** Returns the exclusive start of the window that ends at `at`, in epoch seconds. */
export const windowStart = (at: number): number => at - PRODUCTION_WINDOW_SECONDS;

/** Maximum length of `expiring`: two deliveries a day for a month. */
const MAX_EXPIRING = 64;

/**
 * @param deliveries all deliveries since `knownFrom`, in time order, including deliveries later than `at`
 * @param at epoch seconds
 * @param knownFrom epoch seconds, not after the start of the window
 */
export function summarizeProduction(
  deliveries: readonly Delivery[],
  at: number,
  knownFrom: number,
): DatedProduction {
  // From this moment on, no delivery before `knownFrom` is in the window.
  let validFrom = knownFrom + PRODUCTION_WINDOW_SECONDS;
  let nextDelivery = Infinity;
  let lastDeliveryAt: number | null = null;
  const inside: ExpiringDelivery[] = [];
  let totalGrams = 0n;
  for (const { at: deliveredAt, grams } of deliveries) {
    if (deliveredAt > at) {
      nextDelivery = deliveredAt;
      break;
    }
    const expiresAt = deliveredAt + PRODUCTION_WINDOW_SECONDS;
    const isExpired = expiresAt <= at;
    validFrom = Math.max(validFrom, isExpired ? expiresAt : deliveredAt);
    if (isExpired) continue;
    inside.push({ expiresAt, grams });
    totalGrams += BigInt(grams);
    lastDeliveryAt = deliveredAt;
  }
  const knownUntil = Math.min(nextDelivery, inside[MAX_EXPIRING]?.expiresAt ?? Infinity);
  const validUntil = Math.min(knownUntil, inside[0]?.expiresAt ?? Infinity);
  return {
    entriesCount: inside.length,
    totalGrams: narrow(totalGrams),
    lastDeliveryAt,
    validFrom,
    validUntil: orNull(validUntil),
    expiring: inside.slice(0, MAX_EXPIRING),
    knownUntil: orNull(knownUntil),
  };
}

const orNull = (moment: number): number | null => (moment === Infinity ? null : moment);

/** @param at epoch seconds, before `knownUntil` */
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

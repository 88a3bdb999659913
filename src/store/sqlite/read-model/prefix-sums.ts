/**
 * Prefix sums of a member's deliveries by day (of UTC), as they are stored: a window is one subtraction, and
 * the deliveries of its two partial days.
 */

import { type Delivery, windowStart } from '../../../domain/entries/production.ts';
import { DAY_SECONDS } from '../../../domain/values/date-time.ts';

/** What was delivered until the end of a day, since the first known one. */
interface PrefixSum {
  readonly entriesCount: number;
  readonly totalGrams: bigint;
}

const RECORD_BYTES = 16;
const dayOf = (epochSeconds: number): number => Math.floor(epochSeconds / DAY_SECONDS);

/**
 * One record of 16 bytes a day that has deliveries: day, count and grams so far. The first is the day before
 * the first known one, with nothing.
 * @param deliveries by time, every one since the start of the day `knownFrom`
 */
export function encodePrefixSums(deliveries: readonly Delivery[], knownFrom: number): Uint8Array {
  const records = [{ day: dayOf(knownFrom) - 1, entriesCount: 0, totalGrams: 0n }];
  for (const { at, grams } of deliveries) {
    const before = records.at(-1) as (typeof records)[number];
    const total = { entriesCount: before.entriesCount + 1, totalGrams: before.totalGrams + BigInt(grams) };
    if (before.day === dayOf(at)) Object.assign(before, total);
    else records.push({ day: dayOf(at), ...total });
  }
  const bytes = Buffer.alloc(records.length * RECORD_BYTES);
  records.forEach(({ day, entriesCount, totalGrams }, i) => {
    bytes.writeInt32LE(day, i * RECORD_BYTES);
    bytes.writeInt32LE(entriesCount, i * RECORD_BYTES + 4);
    bytes.writeBigInt64LE(totalGrams, i * RECORD_BYTES + 8);
  });
  return bytes;
}

/** The full days of a window, and where its partial days end and begin. */
export interface FullDays extends PrefixSum {
  /**
   * First second of the first full day: deliveries before it and after the window's start are to be added.
   */
  readonly start: number;
  /** First second after the last full day: deliveries from it until the window's end are to be added. */
  readonly end: number;
}

/**
 * The deliveries on the full days of the window that ends at a moment.
 * @returns undefined when the first known day is later than the window's
 */
export function sumFullDays(days: Uint8Array, at: number): FullDays | undefined {
  const bytes = Buffer.from(days.buffer, days.byteOffset, days.byteLength);
  const firstDay = dayOf(windowStart(at)) + 1;
  const endDay = dayOf(at + 1);
  const before = prefixSumUntil(bytes, firstDay - 1);
  const until = prefixSumUntil(bytes, endDay - 1);
  if (before === undefined || until === undefined) return undefined;
  return {
    entriesCount: until.entriesCount - before.entriesCount,
    totalGrams: until.totalGrams - before.totalGrams,
    start: firstDay * DAY_SECONDS,
    end: endDay * DAY_SECONDS,
  };
}

/** The prefix sum of the last record that is not after a day. */
function prefixSumUntil(bytes: Buffer, day: number): PrefixSum | undefined {
  let low = 0;
  let high = bytes.length / RECORD_BYTES;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bytes.readInt32LE(middle * RECORD_BYTES) <= day) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return undefined;
  const place = (low - 1) * RECORD_BYTES;
  return { entriesCount: bytes.readInt32LE(place + 4), totalGrams: bytes.readBigInt64LE(place + 8) };
}

/** Schedules retries of failed deliveries (docs/webhooks.md#order-and-retries). */

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Waits of the example in Standard Webhooks 1.0.0, in milliseconds; the last one repeats. */
const WAITS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const LONGEST_ASKED_MS = 24 * HOUR;
/** Relative variation of a wait, so that messages that failed together are not retried together. */
const JITTER = 0.1;
export const LONGEST_WAIT_MS = LONGEST_ASKED_MS * (1 + JITTER);

/** Number of failures of one message after which the operator is notified. */
export const FAILURES_TO_REPORT = 5;

/**
 * @param failures of this message, at least 1
 * @param askedMs wait requested by the receiver, which replaces the schedule
 * @param random from 0 up to 1
 * @returns milliseconds
 */
export function retryWaitMs(failures: number, askedMs: number | undefined, random: number): number {
  // Never earlier than requested.
  if (askedMs !== undefined) return Math.min(askedMs, LONGEST_ASKED_MS) * (1 + JITTER * random);
  const wait = WAITS_MS[Math.min(failures, WAITS_MS.length) - 1] as number;
  return wait * (1 - JITTER + 2 * JITTER * random);
}

/**
 * Parses a `Retry-After` header, in seconds or as an HTTP date.
 * @returns milliseconds, at least a second; undefined if missing or invalid
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - nowMs;
  // Requires the weekday of an HTTP date, since Date.parse accepts many other formats.
  if (Number.isNaN(ms) || !/^(?:[0-9]+$|[A-Z][a-z]{2},)/.test(text)) return undefined;
  return Math.max(ms, SECOND);
}

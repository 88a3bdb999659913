/** Rate limiter, which is empty after a restart (docs/api.md#rate-limits, docs/operating.md#limits). */
import type { Clock } from '../runtime/scheduler.ts';

export const DEFAULT_PER_HOUR = 1_000;
export const DEFAULT_PER_DAY = 10_000;
/** Largest limit that an operator may set (docs/keys.md#create). */
export const MAX_LIMIT = 10_000_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface RateLimits {
  readonly perHour: number;
  readonly perDay: number;
}

/** Returns the value of `RateLimit-Policy`: for each window, q requests in w seconds. */
export const formatPolicy = (perHour: number | string, perDay: number | string): string =>
  `"hour";q=${perHour};w=${HOUR_MS / 1000}, "day";q=${perDay};w=${DAY_MS / 1000}`;

export interface WindowUsage {
  readonly limit: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** Milliseconds until `remaining` grows; 0 for a window without requests. */
  readonly resetMs: number;
}

interface KeyUsage {
  readonly hour: WindowUsage;
  readonly day: WindowUsage;
}

export interface Decision extends KeyUsage {
  readonly admitted: boolean;
  /** Milliseconds until a request would be admitted; 0 for an admitted request. */
  readonly waitMs: number;
}

/**
 * Times of the admitted requests of a key, in one ring buffer that doubles when full. No window `(t − w, t]`
 * ever contains more admitted requests than its limit, and no request within the limits is refused. Each
 * window has a cursor at its oldest time. The cursor passes each time once, so a decision costs O(1)
 * amortised. Times are whole milliseconds of a monotonic clock, and must not decrease from call to call.
 */
export class SlidingWindowLog {
  private times = new Float64Array(16);
  // Indexes, which never decrease. The i-th time is in slot i modulo the length of the ring.
  private admitted = 0;
  private hourStart = 0;
  private dayStart = 0;

  /** Admits and counts all `count` requests, or none. @param count at most the lower of the two limits */
  take(limits: RateLimits, nowMs: number, count = 1): Decision {
    this.advance(nowMs);
    const hourWaitMs = this.waitMs(this.hourStart, limits.perHour - count, HOUR_MS, nowMs);
    const dayWaitMs = this.waitMs(this.dayStart, limits.perDay - count, DAY_MS, nowMs);
    const waitMs = Math.max(hourWaitMs, dayWaitMs);
    if (waitMs === 0) for (let i = 0; i < count; i++) this.record(nowMs);
    return {
      admitted: waitMs === 0,
      waitMs,
      hour: this.windowUsage(this.hourStart, limits.perHour, HOUR_MS, nowMs),
      day: this.windowUsage(this.dayStart, limits.perDay, DAY_MS, nowMs),
    };
  }

  usage(limits: RateLimits, nowMs: number): KeyUsage {
    this.advance(nowMs);
    return {
      hour: this.windowUsage(this.hourStart, limits.perHour, HOUR_MS, nowMs),
      day: this.windowUsage(this.dayStart, limits.perDay, DAY_MS, nowMs),
    };
  }

  get bytes(): number {
    return this.times.byteLength;
  }

  private timeAt(index: number): number {
    // The length of the ring is a power of two, and indexes stay far below 2^53.
    return this.times[index % this.times.length] as number;
  }

  private advance(nowMs: number): void {
    while (this.hourStart < this.admitted && this.timeAt(this.hourStart) <= nowMs - HOUR_MS) this.hourStart++;
    while (this.dayStart < this.admitted && this.timeAt(this.dayStart) <= nowMs - DAY_MS) this.dayStart++;
  }

  private record(nowMs: number): void {
    if (this.admitted - this.dayStart === this.times.length) this.grow();
    this.times[this.admitted % this.times.length] = nowMs;
    this.admitted++;
  }

  private grow(): void {
    const grown = new Float64Array(this.times.length * 2);
    for (let i = this.dayStart; i < this.admitted; i++) grown[i % grown.length] = this.timeAt(i);
    this.times = grown;
  }

  /** Returns the milliseconds until the window contains `most` requests or fewer; 0 if it already does. */
  private waitMs(start: number, most: number, windowMs: number, nowMs: number): number {
    if (this.admitted - start <= most) return 0;
    return this.timeAt(this.admitted - most - 1) + windowMs - nowMs;
  }

  private windowUsage(start: number, limit: number, windowMs: number, nowMs: number): WindowUsage {
    const count = this.admitted - start;
    // If the limit was lowered below the count, `remaining` grows once the limit-th newest request has left.
    const next = Math.max(start, this.admitted - limit);
    const resetMs = count === 0 ? 0 : this.timeAt(next) + windowMs - nowMs;
    return { limit, windowMs, remaining: Math.max(0, limit - count), resetMs };
  }
}

interface LimitedKey {
  readonly id: number;
  readonly limits: RateLimits;
}

export class RateLimiter {
  private readonly windows = new Map<number, SlidingWindowLog>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** @param count at most the lower of the key's two limits */
  take(key: LimitedKey, count = 1): Decision {
    return this.windowsOf(key).take(key.limits, this.nowMs(), count);
  }

  usage(key: LimitedKey): KeyUsage {
    return this.windowsOf(key).usage(key.limits, this.nowMs());
  }

  get size(): { readonly keys: number; readonly bytes: number } {
    const bytes = [...this.windows.values()].reduce((sum, windows) => sum + windows.bytes, 0);
    return { keys: this.windows.size, bytes };
  }

  private windowsOf({ id }: LimitedKey): SlidingWindowLog {
    let windows = this.windows.get(id);
    if (windows === undefined) {
      windows = new SlidingWindowLog();
      this.windows.set(id, windows);
    }
    return windows;
  }

  // Arithmetic with whole milliseconds is exact. Changes of the wall clock do not affect a monotonic clock.
  private nowMs(): number {
    return Math.floor(this.clock.monotonicMs());
  }
}

/** The sliding-window rate limiter of a key: exact for both windows, at O(1) per decision. */

export const DEFAULT_PER_HOUR = 1_000;
export const DEFAULT_PER_DAY = 10_000;
/** Largest limit that an operator may set (docs/keys.md#create). */
export const MAX_LIMIT = 10_000_000;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export interface RateLimits {
  readonly perHour: number;
  readonly perDay: number;
}

/** The state of a window after a decision. */
export interface WindowUsage {
  readonly limit: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** Milliseconds until at least one more is free; 0 if none in the window was used. */
  readonly resetMs: number;
}

export interface Decision {
  readonly admitted: boolean;
  /** Milliseconds after which a request is admitted; 0 if this one was. */
  readonly waitMs: number;
  readonly hour: WindowUsage;
  readonly day: WindowUsage;
}

/**
 * A sliding-window log: stores the times of admitted requests and decides on the next one. In no window `(t −
 * w, t]` are more than n admitted, and none is refused while fewer were (docs/api.md#rate-limits). The times
 * are in one ring that grows by doubling. For each window, a cursor marks the oldest time still inside; each
 * cursor passes each time once, so a decision costs O(1) amortised.
 *
 * Times are whole milliseconds of a monotonic clock and must not decrease between calls.
 */
export class SlidingWindowLog {
  private times = new Float64Array(16);
  // Counters since the start, never reduced; the slot of the i-th admitted time is i mod the ring's length.
  private admitted = 0;
  private hourStart = 0;
  private dayStart = 0;

  /** Decides on one request now and, if it is admitted, counts it. */
  take(limits: RateLimits, nowMs: number): Decision {
    this.advance(nowMs);
    const hourWaitMs = this.waitMs(this.hourStart, limits.perHour, HOUR_MS, nowMs);
    const dayWaitMs = this.waitMs(this.dayStart, limits.perDay, DAY_MS, nowMs);
    const waitMs = Math.max(hourWaitMs, dayWaitMs);
    if (waitMs === 0) this.record(nowMs);
    return { admitted: waitMs === 0, waitMs, ...this.usageAt(limits, nowMs) };
  }

  /** Returns the state of both windows without counting a request. */
  usage(limits: RateLimits, nowMs: number): { hour: WindowUsage; day: WindowUsage } {
    this.advance(nowMs);
    return this.usageAt(limits, nowMs);
  }

  /** Bytes of the stored times. */
  get bytes(): number {
    return this.times.byteLength;
  }

  private usageAt(limits: RateLimits, nowMs: number): { hour: WindowUsage; day: WindowUsage } {
    return {
      hour: this.windowUsage(this.hourStart, limits.perHour, HOUR_MS, nowMs),
      day: this.windowUsage(this.dayStart, limits.perDay, DAY_MS, nowMs),
    };
  }

  private timeAt(index: number): number {
    // The ring's length is a power of two, and indexes stay far below 2^53.
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

  /** Returns the milliseconds until the limit-th newest time leaves the window; 0 if fewer are inside. */
  private waitMs(start: number, limit: number, windowMs: number, nowMs: number): number {
    if (this.admitted - start < limit) return 0;
    return this.timeAt(this.admitted - limit) + windowMs - nowMs;
  }

  private windowUsage(start: number, limit: number, windowMs: number, nowMs: number): WindowUsage {
    const used = this.admitted - start;
    // After a limit was lowered, the window may hold more requests: the limit-th newest then decides.
    const next = Math.max(start, this.admitted - limit);
    const resetMs = used === 0 ? 0 : this.timeAt(next) + windowMs - nowMs;
    return { limit, windowMs, remaining: Math.max(0, limit - used), resetMs };
  }
}

/** The rate limiter of a single process: exact, and empty after a restart (docs/operating.md#limits). */

import type { Clock } from '../runtime/scheduler.ts';
import type { ApiKey } from './api-keys.ts';
import { type Decision, SlidingWindowLog, type WindowUsage } from './sliding-window.ts';

/** Counts the requests of each key in two exact windows (docs/api.md#rate-limits). */
export interface RateLimiter {
  /** Decides on one request now and, if it is admitted, counts it. */
  take(key: ApiKey): Decision;
  /** Returns the state of both windows without counting a request. */
  usage(key: ApiKey): Pick<Decision, 'hour' | 'day'>;
}

export class InProcessRateLimiter implements RateLimiter {
  /** Windows by key id, for every key used since the start. */
  private readonly windows = new Map<number, SlidingWindowLog>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  take(key: ApiKey): Decision {
    return this.windowsOf(key).take(key.limits, this.nowMs());
  }

  usage(key: ApiKey): { hour: WindowUsage; day: WindowUsage } {
    return this.windowsOf(key).usage(key.limits, this.nowMs());
  }

  /** Number of keys in memory, and the bytes they take. */
  get size(): { readonly keys: number; readonly bytes: number } {
    const bytes = [...this.windows.values()].reduce((sum, windows) => sum + windows.bytes, 0);
    return { keys: this.windows.size, bytes };
  }

  private windowsOf(key: ApiKey): SlidingWindowLog {
    let windows = this.windows.get(key.id);
    if (windows === undefined) {
      windows = new SlidingWindowLog();
      this.windows.set(key.id, windows);
    }
    return windows;
  }

  // Whole milliseconds keep the arithmetic of the windows exact. The clock is monotonic, so that steps of the
  // wall clock have no effect.
  private nowMs(): number {
    return Math.floor(this.clock.monotonicMs());
  }
}

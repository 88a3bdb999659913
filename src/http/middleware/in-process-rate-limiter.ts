/** The rate limiter of one process: exact, and empty after a restart (docs/operating.md#limits). */

import type { ApiKey } from '../../domain/access/api-keys.ts';
import { type Decision, SlidingWindowLog, type WindowUsage } from '../../domain/access/sliding-window.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { RateLimiter } from '../../store/contract/registry.ts';

export class InProcessRateLimiter implements RateLimiter {
  /** By key id, of every key that has called since the start. */
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

  /** How many keys it remembers, and in how many bytes. */
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

  // Whole milliseconds keep the arithmetic of the windows exact. A step of the wall clock has no part in it.
  private nowMs(): number {
    return Math.floor(this.clock.monotonicMs());
  }
}

/** How often a key may call: exact sliding windows, and the headers that tell (contract section 4). */
import type { Clock } from '../../clock.ts';
import type { ApiKey } from '../../domain/api-keys.ts';
import {
  type Decision,
  type RateLimits,
  SlidingWindowLog,
  type WindowUsage,
} from '../../domain/rate-limit.ts';
import { HttpError } from '../errors.ts';
import type { Headers } from '../response.ts';
import type { Middleware } from './call.ts';

const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** The windows of every key that has called since the start. A restart empties them. */
export class RateLimiter {
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

/** @returns a middleware that throws HttpError 429 */
export function limitRate(limiter: RateLimiter, clock: Clock): Middleware {
  return ({ caller, headers }) => {
    if (caller === undefined) return;
    const decision = limiter.take(caller);
    addUsage(headers, caller.limits, decision, clock.now());
    if (decision.admitted) return;
    const seconds = toSeconds(decision.waitMs);
    const detail = `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`;
    throw new HttpError(429, detail, { 'Retry-After': String(seconds) });
  };
}

// A key's limits are one object until a change of keys is seen.
const policies = new WeakMap<RateLimits, string>();

function policyOf(limits: RateLimits): string {
  let policy = policies.get(limits);
  if (policy === undefined) {
    policy = `"hour";q=${limits.perHour};w=3600, "day";q=${limits.perDay};w=86400`;
    policies.set(limits, policy);
  }
  return policy;
}

function addUsage(headers: Headers, limits: RateLimits, { hour, day }: Decision, nowMs: number): void {
  headers['RateLimit-Policy'] = policyOf(limits);
  headers.RateLimit = `"hour";r=${hour.remaining};t=${toSeconds(hour.resetMs)}, "day";r=${day.remaining};t=${toSeconds(day.resetMs)}`;
  // The window with the least left; on a tie the longer one (contract section 13).
  const tightest = hour.remaining < day.remaining ? hour : day;
  headers['X-RateLimit-Limit'] = String(tightest.limit);
  headers['X-RateLimit-Remaining'] = String(tightest.remaining);
  headers['X-RateLimit-Reset'] = String(toSeconds(nowMs + tightest.resetMs));
}

/** How often a key may call, and the headers that report what is left (docs/api.md#rate-limits). */

import type { ApiKey } from '../../domain/access/api-keys.ts';
import {
  DAY_MS,
  type Decision,
  HOUR_MS,
  type RateLimits,
  type WindowUsage,
} from '../../domain/access/sliding-window.ts';
import { counted } from '../../domain/values/text.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { RateLimiter } from '../../store/contract/registry.ts';
import type { ApiRequest } from '../declare/request.ts';
import { type ApiResponse, type Headers, refusal } from '../declare/response.ts';
import type { Middleware } from './middleware.ts';

const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** Takes one request of both windows; refuses with status 429. The only middleware that uses quota. */
export function limitRate(limiter: RateLimiter, clock: Clock): Middleware {
  function accept({ headers }: ApiRequest, key: ApiKey, decision: Decision): ApiResponse | undefined {
    addUsage(headers, key.limits, decision, clock.now());
    if (decision.admitted) return undefined;
    const seconds = toSeconds(decision.waitMs);
    const detail = `Request was throttled. Expected available in ${counted(seconds, 'second')}.`;
    // Both windows may be used up: the longer one is what the client waits for.
    const reason = decision.day.remaining === 0 ? 'throttled_day' : 'throttled_hour';
    return refusal(429, detail, { 'Retry-After': String(seconds) }, reason);
  }

  return (request) => {
    const { caller } = request;
    if (caller === undefined) return undefined;
    return accept(request, caller, limiter.take(caller));
  };
}

/** Both windows, as the header writes them: requests (q) in seconds (w). */
export const formatPolicy = (perHour: number | string, perDay: number | string): string =>
  `"hour";q=${perHour};w=${HOUR_MS / 1000}, "day";q=${perDay};w=${DAY_MS / 1000}`;

// A key's limits are one object until a change of keys is seen.
const policies = new WeakMap<RateLimits, string>();

/** The value of `RateLimit-Policy`. */
function policyOf(limits: RateLimits): string {
  let policy = policies.get(limits);
  if (policy === undefined) {
    policy = formatPolicy(limits.perHour, limits.perDay);
    policies.set(limits, policy);
  }
  return policy;
}

const usageOf = (name: string, { remaining, resetMs }: WindowUsage): string =>
  `"${name}";r=${remaining};t=${toSeconds(resetMs)}`;

function addUsage(headers: Headers, limits: RateLimits, { hour, day }: Decision, nowMs: number): void {
  headers['RateLimit-Policy'] = policyOf(limits);
  headers.RateLimit = `${usageOf('hour', hour)}, ${usageOf('day', day)}`;
  // The window with the least left; on a tie the longer one.
  const tightest = hour.remaining < day.remaining ? hour : day;
  headers['X-RateLimit-Limit'] = String(tightest.limit);
  headers['X-RateLimit-Remaining'] = String(tightest.remaining);
  headers['X-RateLimit-Reset'] = String(toSeconds(nowMs + tightest.resetMs));
}

/** What limits how often a key may call. */
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { Decision } from '../../domain/access/sliding-window.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';

/** Counts the requests of each key in its two windows, both exact (docs/api.md#rate-limits). */
export interface RateLimiter {
  /** Decides on one request now and, when it is admitted, counts it. */
  take(key: ApiKey): Awaitable<Decision>;
  /** The state of both windows, without counting a request. */
  usage(key: ApiKey): Awaitable<Pick<Decision, 'hour' | 'day'>>;
}

/** The middleware that every request passes through, in the order of docs/api.md#order-of-checks. */

import type { AddressBlocks } from '../../domain/access/address-blocks.ts';
import { type Awaitable, isThenable } from '../../domain/values/awaitable.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { ApiKeyStore } from '../../store/ports/api-keys.ts';
import type { RateLimiter } from '../../store/ports/rate-limiter.ts';
import type { ApiRequest } from '../declare/request.ts';
import type { ApiResponse } from '../declare/response.ts';
import { authenticate } from './authenticate.ts';
import { limitRate } from './limit-rate.ts';
import type { Middleware } from './middleware.ts';
import { refuseByKey } from './refuse-by-key.ts';
import { requireScope } from './require-scope.ts';
import { restrict } from './restrict.ts';

export interface MiddlewareDependencies {
  readonly keys: Pick<ApiKeyStore, 'findBySecret'>;
  readonly trustedProxies: AddressBlocks;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
}

/** @returns what runs the middleware in order, until one refuses */
export function createMiddleware({
  keys,
  trustedProxies,
  limiter,
  clock,
  scheduler,
}: MiddlewareDependencies): Middleware {
  return chain([
    authenticate({ keys, clock, scheduler }),
    restrict(trustedProxies),
    requireScope,
    refuseByKey,
    limitRate(limiter, clock),
  ]);
}

/** Runs middleware one after the other, until one refuses. */
export function chain(stages: readonly Middleware[]): Middleware {
  function runFrom(first: number, request: ApiRequest): Awaitable<ApiResponse | undefined> {
    for (let i = first; i < stages.length; i++) {
      const outcome = (stages[i] as Middleware)(request);
      if (isThenable(outcome)) return outcome.then((refusal) => refusal ?? runFrom(i + 1, request));
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }
  return (request) => runFrom(0, request);
}

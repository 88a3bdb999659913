/** The way of every request through the middleware, in the contract's order (section 2). */
import type { Clock } from '../../clock.ts';
import type { AddressBlocks } from '../../domain/address-blocks.ts';
import type { ApiKeyStore } from '../../store/ports.ts';
import { authenticate } from './authenticate.ts';
import type { Middleware } from './call.ts';
import { limitRate, type RateLimiter } from './limit-rate.ts';
import { requireScope } from './require-scope.ts';
import { restrict } from './restrict.ts';

export interface MiddlewareDependencies {
  readonly keys: Pick<ApiKeyStore, 'findBySecret'>;
  readonly trustedProxies: AddressBlocks;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
}

export function createPipeline({ keys, trustedProxies, limiter, clock }: MiddlewareDependencies): Middleware {
  const stages = [
    authenticate(keys, clock),
    restrict(trustedProxies),
    requireScope,
    limitRate(limiter, clock),
  ];
  return (call) => {
    for (const stage of stages) stage(call);
  };
}

/** The middleware that every request passes through, in the order of docs/api.md#order-of-checks. */

import type { AddressBlocks } from '../../domain/access/address-blocks.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import type { RateLimiter } from '../../store/contract/registry.ts';
import type { ApiRequest } from '../declare/request.ts';
import type { ApiResponse } from '../declare/response.ts';
import { authenticate } from './authenticate.ts';
import { clientAddressText } from './client-address.ts';
import { limitRate } from './limit-rate.ts';
import type { Middleware } from './middleware.ts';
import { refuseByKey } from './refuse-by-key.ts';
import type { OverloadGuard } from './refuse-overload.ts';
import { RefusedAddresses } from './refused-addresses.ts';
import { requireScope } from './require-scope.ts';
import { restrict } from './restrict.ts';

export interface MiddlewareDependencies {
  readonly overload: Pick<OverloadGuard, 'refuse'>;
  readonly keys: Pick<ApiKeyStore, 'findBySecret'>;
  readonly trustedProxies: AddressBlocks;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Called when keys have been refused often from an address, once a minute for each. */
  readonly noteAddress: (address: string) => void;
}

/** @returns what runs the middleware in order, until one refuses */
export function createMiddleware({
  overload,
  keys,
  trustedProxies,
  limiter,
  clock,
  scheduler,
  noteAddress,
}: MiddlewareDependencies): Middleware {
  const checks = chain([
    overload.refuse,
    authenticate({ keys, clock, scheduler }),
    restrict(trustedProxies),
    requireScope,
    refuseByKey,
    limitRate(limiter, clock),
  ]);
  const addresses = new RefusedAddresses();
  function see({ incoming }: ApiRequest, response: ApiResponse | undefined): ApiResponse | undefined {
    if (response?.status !== 401 && response?.status !== 403) return response;
    const address = clientAddressText(incoming, trustedProxies);
    if (address !== null && addresses.count(address, clock.monotonicMs())) noteAddress(address);
    return response;
  }
  return (request) => see(request, checks(request));
}

/** Runs middleware one after the other, until one refuses. */
export const chain =
  (stages: readonly Middleware[]): Middleware =>
  (request) => {
    for (const stage of stages) {
      const refused = stage(request);
      if (refused !== undefined) return refused;
    }
    return undefined;
  };

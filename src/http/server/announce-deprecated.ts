/** Tells clients what they use that is deprecated, and counts it by key (docs/api.md#versions). */
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import { deprecatedOf, deprecationHeaders } from '../declare/deprecated.ts';
import type { Route } from '../declare/route.ts';
import type { Sender } from './send.ts';

export interface AnnounceDependencies {
  readonly routes: readonly Route[];
  readonly send: Sender;
  readonly keys: Pick<ApiKeyStore, 'countUse'>;
  readonly clock: Clock;
}

/** Refused for who asks, or how often: nothing was used. */
const UNUSED: readonly number[] = [401, 403, 429];

/**
 * @returns what sends the responses of the routes, refusals too: while nothing is deprecated, `send` itself
 * @throws Error at start-up for a declaration that leaves clients less than six months
 */
export function announceDeprecated({ routes, send, keys, clock }: AnnounceDependencies): Sender {
  const declared = routes.map((route) => [route, deprecatedOf(route)] as const);
  const byRoute = new Map(declared.filter(([, deprecated]) => deprecated.length > 0));
  if (byRoute.size === 0) return send;
  return (request, response) => {
    const { route, caller, headers } = request;
    const used = route && byRoute.get(route)?.filter((deprecated) => deprecated.isUsedBy(request));
    if (used !== undefined && used.length > 0) {
      Object.assign(headers, deprecationHeaders(used.map(({ deprecation }) => deprecation)));
      if (caller !== undefined && !UNUSED.includes(response.status))
        for (const { name } of used) keys.countUse(caller.id, 'deprecated', name, nowSeconds(clock));
    }
    send(request, response);
  };
}

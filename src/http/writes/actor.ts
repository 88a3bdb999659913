/** Who a write over HTTP is recorded under. */
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { Actor } from '../../store/contract/journal/history.ts';
import type { RouteRequest } from '../declare/route.ts';

/** @param request to a route that requires a scope, so that its key was accepted */
export const actorOf = ({ caller }: Pick<RouteRequest, 'caller'>): Actor => `key:${(caller as ApiKey).id}`;

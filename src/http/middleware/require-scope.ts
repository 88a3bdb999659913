/** What a key may do: the scope of the route (docs/api.md#authentication). */
import type { Scope } from '../../domain/access/api-keys.ts';
import { PERMISSION_DENIED } from '../declare/errors.ts';
import type { ApiRequest } from '../declare/request.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';
import { scopesOf } from '../declare/route.ts';
import { REALM } from './authenticate.ts';

const refusals = new Map<string, ApiResponse>();

/** Status 403 for a key without one of the scopes that are needed (RFC 6750, section 3: all are named). */
export function refuseWithout(...scopes: readonly Scope[]): ApiResponse {
  const needed = scopes.join(' ');
  let refused = refusals.get(needed);
  if (refused === undefined) {
    const challenge = `${REALM}, error="insufficient_scope", scope="${needed}"`;
    const response = refusal(403, PERMISSION_DENIED, { 'WWW-Authenticate': challenge }, 'scope');
    refused = { ...response, cause: needed };
    refusals.set(needed, refused);
  }
  return refused;
}

/** @returns status 403 for a key without a scope of the route */
export function requireScope({ caller, route }: ApiRequest): ApiResponse | undefined {
  if (route === undefined || typeof route.access === 'string') return undefined;
  const scopes = scopesOf(route);
  return scopes.every((scope) => caller?.scopes.includes(scope)) ? undefined : refuseWithout(...scopes);
}

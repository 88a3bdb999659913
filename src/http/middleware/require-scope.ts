/** What a key may do: the scope of the route (docs/api.md#authentication). */
import type { Scope } from '../../domain/access/api-keys.ts';
import { PERMISSION_DENIED } from '../declare/errors.ts';
import type { ApiRequest } from '../declare/request.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';
import { REALM } from './authenticate.ts';

const refusals = new Map<Scope, ApiResponse>();

/** Status 403 for a key without a scope. */
export function refuseWithout(scope: Scope): ApiResponse {
  let refused = refusals.get(scope);
  if (refused === undefined) {
    const challenge = `${REALM}, error="insufficient_scope", scope="${scope}"`;
    const response = refusal(403, PERMISSION_DENIED, { 'WWW-Authenticate': challenge }, 'scope');
    refused = { ...response, cause: scope };
    refusals.set(scope, refused);
  }
  return refused;
}

/** @returns status 403 for a key without the scope */
export function requireScope({ caller, route }: ApiRequest): ApiResponse | undefined {
  if (route === undefined || typeof route.access === 'string') return undefined;
  const { scope } = route.access;
  return caller?.scopes.includes(scope) === true ? undefined : refuseWithout(scope);
}

/** What a key may do: the route's scope (contract sections 2 and 3). */
import { HttpError, PERMISSION_DENIED } from '../errors.ts';
import { REALM } from './authenticate.ts';
import type { Call } from './call.ts';

/** @throws HttpError 403 */
export function requireScope({ caller, route }: Call): void {
  if (typeof route.access === 'string') return;
  const { scope } = route.access;
  if (caller?.scopes.includes(scope) !== true) {
    throw new HttpError(403, PERMISSION_DENIED, {
      'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${scope}"`,
    });
  }
}

/** What a key may not ask at all, whatever its scopes (docs/keys.md#narrow-keys, docs/keys.md#exports). */
import { PERMISSION_DENIED } from '../declare/errors.ts';
import type { ApiRequest } from '../declare/request.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';

const LOOKUP_ONLY = refusal(403, PERMISSION_DENIED, {}, 'lookup_only');
const NO_EXPORT = refusal(403, PERMISSION_DENIED, {}, 'export');
const NO_PURPOSE = refusal(400, 'X-Purpose: This key must say why it reads.', {}, 'purpose');
const SOME_COOPERATIVES = refusal(403, PERMISSION_DENIED, {}, 'cooperatives');

/** @returns 403 for what a narrow key is not allowed and exports without the right, 400 without a purpose */
export function refuseByKey(request: ApiRequest): ApiResponse | undefined {
  const { caller, route } = request;
  if (caller === undefined || route === undefined) return undefined;
  if (typeof route.access === 'object' && route.access.isExport === true && !caller.mayExport)
    return NO_EXPORT;
  if (caller.isLookupOnly) {
    const { lookupOnly } = route.narrowed;
    const isAllowed = typeof lookupOnly === 'function' ? lookupOnly(request) : lookupOnly === 'allowed';
    if (!isAllowed) return LOOKUP_ONLY;
  }
  if (caller.cooperatives !== null && route.narrowed.cooperatives === 'refused') return SOME_COOPERATIVES;
  return caller.requiresPurpose && lacksPurpose(request) ? NO_PURPOSE : undefined;
}

const lacksPurpose = ({ route, incoming }: ApiRequest): boolean =>
  route?.personal !== 'none' && incoming.headers['x-purpose'] === undefined;

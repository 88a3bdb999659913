/** What is recorded of a response that shows personal data, before it leaves (docs/ledger.md). */

import type { AddressBlocks } from '../../domain/access/address-blocks.ts';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { AccessLedger, Reading, Subject } from '../../store/contract/access-ledger.ts';
import { toErrorResponse } from '../declare/errors.ts';
import { describeShown } from '../declare/personal.ts';
import type { ApiRequest } from '../declare/request.ts';
import type { ApiResponse } from '../declare/response.ts';
import { METHODS, type Route } from '../declare/route.ts';
import { clientAddressText } from '../middleware/client-address.ts';

/** Where readings are recorded. */
export interface Recording {
  readonly ledger: AccessLedger;
  /** Proxies whose word for the address of a client is taken. */
  readonly trustedProxies: AddressBlocks;
}

/** @param timeMs epoch milliseconds */
export function toReading(
  request: ApiRequest,
  response: ApiResponse,
  subject: Subject,
  timeMs: number,
  trustedProxies: AddressBlocks,
): Reading {
  const { id, caller, incoming, route, stated } = request;
  return {
    timeMs,
    requestId: id,
    // Nothing personal is public: the middleware has found the key.
    reader: { keyId: (caller as ApiKey).id },
    ...describeShown(route as Route, response),
    address: clientAddressText(incoming, trustedProxies),
    purpose: stated.purpose,
    endUser: stated.endUser,
    subject,
  };
}

/** The response in the place of one that could not be recorded. */
export function refuseUnrecorded(
  { incoming }: Pick<ApiRequest, 'incoming'>,
  unsent: Pick<ApiResponse, 'status'>,
  error: unknown,
): ReturnType<typeof toErrorResponse> {
  const refused = toErrorResponse(error);
  if (refused.response.status !== 503) return refused;
  const isMade = METHODS[incoming.method as keyof typeof METHODS] !== 'GET' && unsent.status < 400;
  const detail = !isMade
    ? 'This reading could not be recorded. Try again.'
    : 'The change was made; it is not shown because this reading could not be recorded.';
  return { ...refused, response: { ...refused.response, body: { detail } } };
}

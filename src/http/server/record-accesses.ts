// Records in the ledger, made before a response with personal data leaves (docs/ledger.md)

import type { AccessLedger, AccessRecord, Subject } from '../../access/access-ledger.ts';
import type { ApiKey } from '../../access/api-keys.ts';
import type { AddressBlocks } from '../../values/address-blocks.ts';
import { describeShown } from '../declare/personal.ts';
import type { ApiRequest } from '../declare/request.ts';
import { type ApiResponse, toErrorResponse } from '../declare/response.ts';
import { METHODS, type Route } from '../declare/route.ts';
import { clientAddressText } from './middleware.ts';

/** The access ledger and the settings for its records. */
export interface Recording {
  readonly ledger: AccessLedger;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: AddressBlocks;
}

/** @param timeMs epoch milliseconds */
export function toReading(
  request: ApiRequest,
  response: ApiResponse,
  subject: Subject,
  timeMs: number,
  trustedProxies: AddressBlocks,
): AccessRecord {
  const { id, caller, incoming, route, stated } = request;
  return {
    timeMs,
    requestId: id,
    // No personal data is public, so the middleware has identified the key.
    reader: { keyId: (caller as ApiKey).id },
    ...describeShown(route as Route, response),
    address: clientAddressText(incoming, trustedProxies),
    purpose: stated.purpose,
    endUser: stated.endUser,
    subject,
  };
}

/** Returns the response that replaces one that could not be recorded. */
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

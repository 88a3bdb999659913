/** Responses before their conversion to bytes, and the responses to errors. */

import type { Subject } from '../../access/access-ledger.ts';
import type { Refusal, Scope } from '../../access/api-keys.ts';
import type { FieldGroup } from '../../values/declared-fields.ts';
import { RegistryError, type RegistryErrorCode, type UnavailableReason } from '../../values/errors.ts';

export type Headers = { [name: string]: string };

/** Headers that scripts on web pages may read (CORS). reference/headers.ts describes each header. */
export const RESPONSE_HEADERS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Key-Expires',
  'Retry-After',
  'WWW-Authenticate',
  'Allow',
  'Location',
  'Idempotency-Replayed',
  'Content-Location',
  'Content-Disposition',
  'Content-Encoding',
  'Vary',
  'X-Snapshot-Sequence',
  'X-Snapshot-Epoch',
  'X-Access-Receipt',
  'ETag',
] as const;
export type ResponseHeader = (typeof RESPONSE_HEADERS)[number];

export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const JSON_TYPE = 'application/json';

/** Each part is produced after the client has received the earlier parts. */
export class BodyParts {
  readonly parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
  readonly type: string;

  constructor(parts: BodyParts['parts'], type = JSON_TYPE) {
    this.parts = parts;
    this.type = type;
  }
}

/** Marks a `ServerResponse` that must not end the connection, because the next request already waits. */
export const IS_FOLLOWED = Symbol('is followed');

export interface ApiResponse {
  readonly status: number;
  /** Value to convert to JSON, a JsonText or BodyParts; undefined for no body. */
  readonly body: unknown;
  readonly headers?: Headers;
  /** Required in successful responses of routes with `personal` data, except for `showsOnlyItsRequest`. */
  readonly subject?: Subject | undefined;
  /** Groups of fields that the response shows, if fewer than the route declares. */
  readonly fields?: readonly FieldGroup[];
  readonly reason?: Refusal | UnavailableReason | undefined;
  /** Only for the log: the text may contain details that clients must not see. */
  readonly cause?: string;
}

export const ok = (body: unknown): ApiResponse => ({ status: 200, body });

/**
 * Middleware returns refusals instead of throwing errors, because an Error with its stack would cost more
 * than the rest of a refused request.
 */
export const refusal = (
  status: number,
  detail: string,
  headers: Headers = {},
  reason?: Refusal | UnavailableReason,
): ApiResponse => ({
  status,
  body: new JsonText(JSON.stringify({ detail })),
  headers,
  reason,
});

export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** Body to use instead of `{"detail": …}`. */
  readonly body: object | undefined;

  constructor(status: number, detail: string, headers: Headers = {}, body?: object) {
    super(detail);
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export const badRequest = (detail: string): HttpError => new HttpError(400, detail);
/** Uses the words of Django REST framework. */
export const invalidPage = (): HttpError => new HttpError(404, 'Invalid page.');
export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body too large.');

export const PERMISSION_DENIED = 'You do not have permission to perform this action.';
export const REALM = 'Bearer realm="cooperative-registry"';

const refusals = new Map<string, ApiResponse>();

/** Refuses a key that lacks a scope: status 403, naming all required scopes (RFC 6750, section 3). */
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

const STATUS: { readonly [code in RegistryErrorCode]: number } = {
  invalid: 400,
  not_found: 404,
  gone: 410,
  repeated: 409,
  unavailable: 503,
};

const SERVER_ERROR: ApiResponse = {
  status: 500,
  body: new JsonText('{"detail":"A server error occurred."}'),
};

/** Converts an error to a response. If `isUnexpected`, only the log may contain the text of the error. */
export function toErrorResponse(error: unknown): { response: ApiResponse; isUnexpected: boolean } {
  if (error instanceof HttpError) {
    const response = refusal(error.status, error.message, error.headers);
    const { body = response.body } = error;
    return { response: { ...response, body }, isUnexpected: false };
  }
  if (!(error instanceof RegistryError)) return { response: SERVER_ERROR, isUnexpected: true };
  const headers: Headers =
    error.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(error.retryAfterSeconds) };
  const status = STATUS[error.code];
  const body = error.fields ?? { detail: error.message };
  const response: ApiResponse = { status, body, headers };
  return {
    response: status === 503 ? { ...response, reason: error.reason, cause: causeOf(error) } : response,
    isUnexpected: false,
  };
}

const causeOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;

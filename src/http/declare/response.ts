/** A response before it is turned into bytes. */

import type { Subject } from '../../access/access-ledger.ts';
import type { Refusal, Scope } from '../../access/api-keys.ts';
import type { FieldGroup } from '../../values/declared-fields.ts';
import { RegistryError, type RegistryErrorCode, type UnavailableReason } from '../../values/errors.ts';

export type Headers = { [name: string]: string };

/** Headers that scripts on pages of other hosts may read; reference/headers.ts describes them. */
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

/** A body that is JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const JSON_TYPE = 'application/json';

/** A body in parts. Each part is made once the client has received the parts before it. */
export class BodyParts {
  readonly parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
  /** Media type. */
  readonly type: string;

  constructor(parts: BodyParts['parts'], type = JSON_TYPE) {
    this.parts = parts;
    this.type = type;
  }
}

/** Marks a response behind which another request waits, so that it must not end the connection. */
export const IS_FOLLOWED = Symbol('is followed');

export interface ApiResponse {
  readonly status: number;
  /** A value for JSON, a JsonText or BodyParts; undefined for no body. */
  readonly body: unknown;
  readonly headers?: Headers;
  /** Data subjects. A successful response of a `personal` route is not sent without them. */
  readonly subject?: Subject | undefined;
  /** Groups of fields shown, where those are fewer than the route declares. */
  readonly fields?: readonly FieldGroup[];
  /** Reason of a refusal, for the log and metrics. */
  readonly reason?: Refusal | UnavailableReason | undefined;
  /** Underlying cause, for the log only: it may hold more than the client should learn. */
  readonly cause?: string;
}

export const ok = (body: unknown): ApiResponse => ({ status: 200, body });

/**
 * A refusal as a value. Middleware returns it, since creating an Error with its stack would cost more than
 * the rest of the refused request.
 * @param reason reason for the log
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

// Errors: those of HTTP itself, and the mapping from error codes to statuses

/** An error with its status, thrown while a request is read or handled. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** Body other than `{"detail": …}`. */
  readonly body: object | undefined;

  constructor(
    status: number,
    detail: string,
    headers: Headers = {},
    { body, ...options }: ErrorOptions & { body?: object } = {},
  ) {
    super(detail, options);
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export const badRequest = (detail: string): HttpError => new HttpError(400, detail);
/** Response of Django REST framework for a page that does not exist. */
export const invalidPage = (): HttpError => new HttpError(404, 'Invalid page.');
export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body too large.');

export const PERMISSION_DENIED = 'You do not have permission to perform this action.';
export const REALM = 'Bearer realm="cooperative-registry"';

const refusals = new Map<string, ApiResponse>();

/** Returns status 403 for a key that lacks a required scope, naming all of them (RFC 6750, section 3). */
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

/**
 * Returns the response to an error. `isUnexpected` is true for any other error, whose text only the log
 * may show.
 */
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

/** Errors → responses: the errors that HTTP itself knows, and the one table from error code to status. */
import { RegistryError, type RegistryErrorCode } from '../../domain/values/errors.ts';
import { type ApiResponse, type Headers, JsonText, refusal } from './response.ts';

/** An error with its status, thrown while a request is read or handled. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, detail: string, headers: Headers = {}, options?: ErrorOptions) {
    super(detail, options);
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
  }
}

export const badRequest = (detail: string): HttpError => new HttpError(400, detail);
/** DRF's response for a page that does not exist. */
export const invalidPage = (): HttpError => new HttpError(404, 'Invalid page.');
export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body too large.');

export const PERMISSION_DENIED = 'You do not have permission to perform this action.';

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
 * @returns the response, with the reason of a 503 for the log; `isUnexpected` for an error of neither class,
 * which belongs in the log only
 */
export function toErrorResponse(error: unknown): { response: ApiResponse; isUnexpected: boolean } {
  if (error instanceof HttpError)
    return { response: refusal(error.status, error.message, error.headers), isUnexpected: false };
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

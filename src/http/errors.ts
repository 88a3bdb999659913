/** Errors → replies: refusals that HTTP itself knows, and the one table from fault code to status. */
import { RegistryError, type RegistryErrorCode } from '../domain/errors.ts';
import type { ApiResponse, Headers } from './response.ts';

/** A refusal with its status, thrown by the server, the router, the middleware and the resources. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, detail: string, headers: Headers = {}) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

export const badRequest = (detail: string): HttpError => new HttpError(400, detail);
export const notFoundError = (): HttpError => new HttpError(404, 'Not found.');
/** DRF's answer to a page that is none. */
export const invalidPage = (): HttpError => new HttpError(404, 'Invalid page.');
export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body too large.');

export const PERMISSION_DENIED = 'You do not have permission to perform this action.';

const STATUS: { readonly [code in RegistryErrorCode]: number } = {
  invalid: 400,
  not_found: 404,
  unavailable: 503,
};

/** Every status that any route may answer with beside its own success, for OpenAPI and the documents. */
export const SERVER_ERROR: ApiResponse = { status: 500, body: { detail: 'A server error occurred.' } };

/**
 * @returns the reply; `isDefect` when the error was none that anybody meant to throw, and its cause belongs in the
 * log alone
 */
export function toErrorResponse(error: unknown): { reply: ApiResponse; isDefect: boolean } {
  if (error instanceof HttpError) {
    return {
      reply: { status: error.status, body: { detail: error.message }, headers: error.headers },
      isDefect: false,
    };
  }
  if (error instanceof RegistryError) {
    const headers: Headers =
      error.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(error.retryAfterSeconds) };
    return {
      reply: { status: STATUS[error.code], body: error.fields ?? { detail: error.message }, headers },
      isDefect: false,
    };
  }
  return { reply: SERVER_ERROR, isDefect: true };
}

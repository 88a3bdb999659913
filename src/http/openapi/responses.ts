/** The responses of every operation, as OpenAPI describes them: each refusal with its meaning. */

import type { ResponseHeader, Route, SuccessResponse } from '../declare/route.ts';
import { always, type HeaderName, header, type Json, usage } from './headers.ts';

interface Refusal {
  readonly description: string;
  /** A text of its `detail`. */
  readonly example: string;
  /** Whether the rate limits are in it: always, never, or where the limiter was reached. */
  readonly usage: 'always' | 'never' | 'maybe';
  /** Other headers: true where they are always there. */
  readonly headers?: { readonly [name in HeaderName]?: boolean };
}

/** Every status other than success; docs/api.md#responses-and-errors has the texts. */
const REFUSALS: { readonly [status: number]: Refusal } = {
  400: {
    description:
      'A parameter, the body or the request itself is wrong; all faults are reported together, by field.',
    example: 'Expected a national ID of exactly 16 digits, or a member id.',
    usage: 'maybe',
  },
  401: {
    description: 'No key, or one that is malformed, unknown, expired or disabled.',
    example: 'Invalid API key.',
    usage: 'never',
    headers: { 'WWW-Authenticate': true },
  },
  403: {
    description: "The key's scopes, address allowlist or host allowlist do not allow this.",
    example: 'You do not have permission to perform this action.',
    usage: 'maybe',
    headers: { 'WWW-Authenticate': false },
  },
  404: { description: 'There is no such resource or page.', example: 'Not found.', usage: 'maybe' },
  405: {
    description: 'The path does not have this method.',
    example: 'Method "DELETE" not allowed.',
    usage: 'never',
    headers: { Allow: true },
  },
  408: {
    description: 'The request or its body did not arrive in time.',
    example: 'The request body did not arrive in time.',
    usage: 'maybe',
  },
  409: {
    description: 'Another request is in the way. Try again.',
    example: 'A request with this Idempotency-Key is still running.',
    usage: 'always',
    headers: { 'Retry-After': false },
  },
  410: {
    description: 'It was there once; the text says what to do.',
    example: 'Merged into member 12.',
    usage: 'always',
  },
  412: {
    description: 'The resource is not in a state that If-Match names. Nothing was written.',
    example: 'The resource has changed since it was read.',
    usage: 'always',
  },
  413: {
    description: 'The body is larger than 64 KiB.',
    example: 'Request body too large.',
    usage: 'maybe',
  },
  415: {
    description: 'The body is not JSON.',
    example: 'Unsupported media type "text/plain" in request.',
    usage: 'always',
  },
  417: {
    description: 'The Expect header asks for something other than 100-continue.',
    example: 'The expectation in the Expect header cannot be met.',
    usage: 'never',
  },
  422: {
    description: 'Another request has used the Idempotency-Key. Nothing was written.',
    example: 'This Idempotency-Key was used for another request.',
    usage: 'always',
  },
  429: {
    description: 'The key has used its requests of the hour or the day.',
    example: 'Request was throttled. Expected available in 57 seconds.',
    usage: 'always',
    headers: { 'Retry-After': true },
  },
  431: {
    description: 'The header fields are larger than 16 KiB.',
    example: 'Request header fields too large.',
    usage: 'never',
  },
  500: {
    description: 'An unexpected error; the log of the server tells more under the X-Request-Id.',
    example: 'A server error occurred.',
    usage: 'maybe',
  },
  501: {
    description: 'The body has a transfer coding other than chunked.',
    example: 'Unsupported transfer encoding in request.',
    usage: 'never',
  },
  503: {
    description: 'The database is busy, the disk is nearly full, or the server is shutting down. Try again.',
    example: 'The database is busy. Try again.',
    usage: 'maybe',
    headers: { 'Retry-After': true },
  },
};

const statuses = Object.keys(REFUSALS).map(Number);
const refusalName = (status: number, isApi: boolean): string =>
  `${isApi ? 'Refused' : 'OutsideApi'}${status}`;

/** The refusals that operations refer to, under the API and outside it. */
export const responseComponents = (): Json =>
  Object.fromEntries(
    [true, false].flatMap((isApi) =>
      statuses.map((status) => [refusalName(status, isApi), refusalResponse(status, isApi)]),
    ),
  );

function refusalResponse(status: number, isApi: boolean): Json {
  const { description, example, usage: carried, headers = {} } = REFUSALS[status] as Refusal;
  const error = { $ref: '#/components/schemas/Error' };
  const own = (Object.entries(headers) as [HeaderName, boolean][]).map(([name, isRequired]) =>
    header(name, isRequired),
  );
  return {
    description,
    headers: Object.assign(
      {},
      always(isApi),
      // Outside the API, refusals from below the routes have it as well.
      isApi ? {} : header('Cache-Control', false),
      isApi && carried !== 'never' ? usage(carried === 'always') : {},
      ...own,
    ),
    content: {
      'application/json': {
        schema: status === 400 ? { oneOf: [error, { $ref: '#/components/schemas/FieldErrors' }] } : error,
        example: { detail: example },
      },
    },
  };
}

/** Every status with which a client of the route can be refused, from its declaration. */
function refusalStatuses(route: Route): number[] {
  const found = new Set<number>([400, 405, 408, 413, 417, 431, 500, 501, ...(route.refusals ?? [])]);
  if (route.access !== 'public') for (const status of [401, 403, 429]) found.add(status);
  if (route.body !== undefined) found.add(415);
  if (route.method === 'POST') for (const status of [409, 422]) found.add(status);
  return [...found].sort((a, b) => a - b);
}

const isApiRoute = (route: Route): boolean => route.isOutsideApi !== true;

const refusals = (found: readonly number[], isApi: boolean): Json =>
  Object.fromEntries(
    found.map((status) => [status, { $ref: `#/components/responses/${refusalName(status, isApi)}` }]),
  );

/**
 * @param toSchema moves schemas with a title into the components
 * @param hasContent false for HEAD, whose responses have the headers of GET and no content
 */
export function responsesOf(
  route: Route,
  toSchema: (response: SuccessResponse) => unknown,
  hasContent = true,
): Json {
  const isApi = isApiRoute(route);
  const successes = Object.entries(route.responses).map(([status, response]) => [
    status,
    {
      description: response.description,
      headers: {
        ...always(isApi),
        ...(route.access === 'public' ? {} : usage(true)),
        ...(status === '201' ? header('Location') : {}),
        ...(route.method === 'POST' ? header('Idempotency-Replayed', false) : {}),
        ...ownHeaders(response),
      },
      ...(hasContent
        ? { content: { 'application/json': { schema: toSchema(response), example: response.example } } }
        : {}),
    },
  ]);
  return {
    ...Object.fromEntries(successes),
    ...(route.requestHeaders?.includes('If-None-Match') === true ? { 304: NOT_MODIFIED } : {}),
    ...refusals(refusalStatuses(route), isApi),
  };
}

const ownHeaders = ({ headers = {} }: SuccessResponse): Json =>
  Object.assign(
    {},
    ...Object.entries(headers).map(([name, presence]) =>
      header(name as ResponseHeader, presence === 'required'),
    ),
  );

const NOT_MODIFIED: Json = {
  description: 'The resource is in a state that If-None-Match names. No content.',
  headers: { ...always(true), ...usage(true), ...header('ETag') },
};

/** OPTIONS needs no key and says which methods the path has. */
export const optionsOperation = (route: Route): Json => ({
  summary: 'The methods of this path',
  tags: [route.tag],
  security: [],
  responses: {
    204: {
      description: 'No content; the methods are in Allow.',
      headers: { ...always(isApiRoute(route)), ...header('Allow') },
    },
    ...refusals([400, 408, 413, 417, 431, 500, 501], isApiRoute(route)),
  },
});

/** The responses of every operation, as OpenAPI describes them: each refusal with its meaning. */

import { exampleOf } from '../../json/example.ts';
import { object, type Schema, string } from '../../json/schema.ts';
import type { ResponseHeader, Route, SuccessResponse } from '../declare/route.ts';
import type { Components, Json } from './components.ts';
import { type HeaderName, header, usage } from './headers.ts';

const ERROR = object({ detail: string() }, { title: 'Error' });

const FIELD_ERRORS: Schema = {
  title: 'FieldErrors',
  type: 'object',
  description:
    'Messages by field; `non_field_errors` holds those about all of it. ' +
    'No field is called `detail`, which is the text of an Error.',
  propertyNames: { not: { const: 'detail' } },
  minProperties: 1,
  additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
};

interface Refusal {
  readonly description: string;
  /** A text of its `detail`. */
  readonly example: string;
  /** True where they are always there. */
  readonly headers?: { readonly [name in HeaderName]?: boolean };
}

/** Every status other than success; docs/api.md#responses-and-errors has the texts. */
const REFUSALS: { readonly [status: number]: Refusal } = {
  400: {
    description:
      'A parameter, the body or the request itself is wrong; all faults are reported together, by field.',
    example: 'Expected a national ID of exactly 16 digits, or a member id.',
    headers: { 'X-Access-Receipt': false },
  },
  401: {
    description: 'No key, or one that is malformed, unknown, expired or disabled.',
    example: 'Invalid API key.',
    headers: { 'WWW-Authenticate': true },
  },
  403: {
    description:
      "The key's scopes, address allowlist or host allowlist do not allow this; or it is an export and the " +
      'key has no right to export, or the key is narrow: for lookups only, or for some cooperatives only. ' +
      'What belongs to other cooperatives is 404, and not in lists. `/me` says what the key may do.',
    example: 'You do not have permission to perform this action.',
    headers: { 'WWW-Authenticate': false },
  },
  404: {
    description: 'There is no such resource or page.',
    example: 'Not found.',
    headers: { 'X-Access-Receipt': false },
  },
  409: {
    description: 'Another request is in the way. Try again.',
    example: 'A request with this Idempotency-Key is still running.',
    headers: { 'Retry-After': false },
  },
  410: {
    description: 'It was there once; the text says what to do.',
    example: 'Merged into member 12.',
  },
  412: {
    description: 'The resource is not in a state that If-Match names. Nothing was written.',
    example: 'The resource has changed since it was read.',
  },
  413: {
    description: 'The body is larger than 64 KiB.',
    example: 'Request body too large.',
  },
  415: {
    description: 'The body is not JSON.',
    example: 'Unsupported media type "text/plain" in request.',
  },
  422: {
    description: 'Another request has used the Idempotency-Key. Nothing was written.',
    example: 'This Idempotency-Key was used for another request.',
  },
  429: {
    description: 'The key has used its requests of the hour or the day.',
    example: 'Request was throttled. Expected available in 57 seconds.',
    headers: { 'Retry-After': true },
  },
  503: {
    description:
      'The service is overloaded or shutting down, the database busy, the disk nearly full, or the reading ' +
      'cannot be recorded. Try again.',
    example: 'The database is busy. Try again.',
    headers: { 'Retry-After': true },
  },
};

/** What is refused before an operation is reached, and what nobody expected. */
const OTHERS: Refusal = {
  description:
    'Any other refusal: 405 (Allow has the methods of the path), 408, 413, 417, 431 or 501 for a request ' +
    'that could not be read as one of this operation, and 500 for an unexpected error, of which the log of ' +
    'the server has more under the X-Request-Id.',
  example: 'A server error occurred.',
  headers: { Allow: false },
};

function refusal(components: Components, status: number | 'default'): Json {
  const isOther = status === 'default';
  const { description, example, headers = {} } = isOther ? OTHERS : (REFUSALS[status] as Refusal);
  const own = Object.entries(headers) as [HeaderName, boolean][];
  const error = components.schema(ERROR);
  const schema = status === 400 ? { oneOf: [error, components.schema(FIELD_ERRORS)] } : error;
  return components.refer('responses', isOther ? 'Refused' : `Refused${status}`, {
    description,
    headers: Object.assign({}, ...own.map(([name, isRequired]) => header(components, name, isRequired))),
    content: { 'application/json': { schema, example: { detail: example } } },
  });
}

/** Every status with which a client of the route is refused by what it declares. */
function refusalStatuses(route: Route): number[] {
  const found = new Set<number>([400, ...(route.refusals ?? [])]);
  if (route.isAlwaysAnswered !== true) found.add(503);
  if (route.access !== 'public') for (const status of [401, 403, 429]) found.add(status);
  if (route.body !== undefined) for (const status of [413, 415]) found.add(status);
  if (route.method === 'POST') for (const status of [409, 422]) found.add(status);
  return [...found].sort((a, b) => a - b);
}

/** Of an export, `x-itemSchema` describes a line of JSON; OpenAPI 3.2 will have `itemSchema`. */
function contentOf(
  components: Components,
  { schema, example = exampleOf(schema), isExport }: SuccessResponse,
): Json {
  const described = components.schema(schema);
  if (isExport !== true) return { 'application/json': { schema: described, example } };
  const lines = { type: 'string', description: 'A JSON object in each line.' };
  return {
    'application/x-ndjson': {
      schema: lines,
      'x-itemSchema': described,
    },
    'text/csv': { schema: { type: 'string', description: 'A header, and a row in each line.' } },
  };
}

function success(components: Components, route: Route, response: SuccessResponse, isCreated: boolean): Json {
  const { description, isExport, headers = {} } = response;
  const own = Object.entries(headers) as [ResponseHeader, 'required' | 'optional'][];
  const described = {
    description,
    headers: Object.assign(
      route.access === 'public' ? {} : usage(components),
      route.personal === 'none' ? {} : header(components, 'X-Access-Receipt', false),
      isCreated && route.createsPart !== true ? header(components, 'Location', true) : {},
      isCreated ? header(components, 'Idempotency-Replayed', false) : {},
      ...own.map(([name, presence]) => header(components, name, presence === 'required')),
    ),
    content: contentOf(components, response),
  };
  // What several operations answer with.
  const { title } = response.schema;
  return isCreated || isExport === true || typeof title !== 'string'
    ? described
    : components.refer('responses', title, described);
}

const notModified = (components: Components): Json =>
  components.refer('responses', 'NotModified', {
    description: 'The resource is in a state that If-None-Match names. No content.',
    headers: {
      ...usage(components),
      ...header(components, 'ETag', true),
      ...header(components, 'X-Access-Receipt', false),
    },
  });

export function responsesOf(components: Components, route: Route): Json {
  const successes = Object.entries(route.responses).map(([status, response]) => [
    status,
    success(components, route, response, status === '201'),
  ]);
  const isConditional = route.requestHeaders?.includes('If-None-Match') === true;
  return {
    ...Object.fromEntries(successes),
    ...(isConditional ? { 304: notModified(components) } : {}),
    ...Object.fromEntries(
      [...refusalStatuses(route), 'default' as const].map((status) => [status, refusal(components, status)]),
    ),
  };
}

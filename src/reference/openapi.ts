/** Generates the OpenAPI 3.1 description from the declarations of routes. */

import { SCOPES } from '../access/api-keys.ts';
import { PAGE_PARAMETERS } from '../http/declare/query.ts';
import { type BodyDeclaration, type BodyField, mediaTypesOf } from '../http/declare/request-body.ts';
import { JsonText, ok } from '../http/declare/response.ts';
import {
  fullPath,
  type Route,
  requestHeadersOf,
  SHOWS_NO_ROWS,
  type SuccessResponse,
  scopesOf,
} from '../http/declare/route.ts';
import type { Html } from '../values/html.ts';
import {
  deprecationKeywords,
  exampleOf,
  nullable,
  object,
  objectWith,
  type Schema,
  string,
} from '../values/schema.ts';
import { Components, type Json, type Presences, requestHeaders, responseHeaders, USAGE } from './headers.ts';

// Error responses

const ERROR = object({ detail: string() }, { title: 'Error' });

const MESSAGES: Schema = { type: 'array', items: { type: 'string' }, minItems: 1 };
const FIELD_ERRORS: Schema = {
  title: 'FieldErrors',
  type: 'object',
  description:
    'Messages by field; `non_field_errors` has the messages about the entire body. ' +
    'No field is called `detail`, which is the text of an Error.',
  propertyNames: { not: { const: 'detail' } },
  minProperties: 1,
  additionalProperties: {
    anyOf: [
      MESSAGES,
      {
        type: 'object',
        description: 'For a list: messages by the index of the item.',
        propertyNames: { pattern: '^[0-9]+$' },
        minProperties: 1,
        additionalProperties: MESSAGES,
      },
    ],
  },
};

interface Refusal {
  readonly description: string;
  /** Example of `detail`. */
  readonly example: string;
  readonly headers?: Presences;
}

/** Error responses by status (docs/api.md#responses-and-errors). */
const REFUSALS: { readonly [status: number]: Refusal } = {
  400: {
    description:
      'A parameter, the body or the request itself is wrong; all faults are reported together, by field.',
    example: 'Expected a national ID of exactly 16 digits, or a member id.',
    headers: { 'X-Access-Receipt': 'optional' },
  },
  401: {
    description: 'No key, or one that is malformed, unknown, expired or disabled.',
    example: 'Invalid API key.',
    headers: { 'WWW-Authenticate': 'required' },
  },
  403: {
    description:
      "The key's scopes, address allowlist or host allowlist do not allow this; or it is an export and the " +
      'key has no right to export, or the key is restricted: for lookups only, or for some cooperatives ' +
      'only. Resources of other cooperatives are 404, and not in lists. `/me` says what the key may do.',
    example: 'You do not have permission to perform this action.',
    headers: { 'WWW-Authenticate': 'optional' },
  },
  404: {
    description: 'There is no such resource or page.',
    example: 'Not found.',
    headers: { 'X-Access-Receipt': 'optional' },
  },
  409: {
    description: 'Another request is being processed. Try again.',
    example: 'A request with this Idempotency-Key is still running.',
    headers: { 'Retry-After': 'optional' },
  },
  410: {
    description: 'The resource no longer exists; the text says what to do.',
    example: 'Merged into member 12.',
  },
  412: {
    description: 'The resource is not in a state that If-Match lists. Nothing was written.',
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
    headers: { 'Retry-After': 'required' },
  },
  503: {
    description:
      'The service is overloaded or shutting down, the database busy, the disk nearly full, or the ' +
      'access cannot be recorded. Try again.',
    example: 'The database is busy. Try again.',
    headers: { 'Retry-After': 'required' },
  },
};

const OTHERS: Refusal = {
  description:
    'Any other refusal: 405 (Allow has the methods of the path), 408, 413, 417, 431 or 501 for a request ' +
    'that could not be read as one of this operation, and 500 for an unexpected error, whose details the ' +
    'log of the server has under the X-Request-Id.',
  example: 'A server error occurred.',
  headers: { Allow: 'optional' },
};

function refusal(components: Components, status: number | 'default'): Json {
  const isOther = status === 'default';
  const { description, example, headers = {} } = isOther ? OTHERS : (REFUSALS[status] as Refusal);
  const error = components.schema(ERROR);
  const schema = status === 400 ? { oneOf: [error, components.schema(FIELD_ERRORS)] } : error;
  return components.refer('responses', isOther ? 'Refused' : `Refused${status}`, {
    description,
    headers: responseHeaders(components, headers),
    content: { 'application/json': { schema, example: { detail: example } } },
  });
}

function refusalStatuses(route: Route): number[] {
  const statuses = new Set<number>([400, ...(route.refusals ?? [])]);
  if (route.isAlwaysAnswered !== true) statuses.add(503);
  if (route.access !== 'public') for (const status of [401, 403, 429]) statuses.add(status);
  if (route.body !== undefined) for (const status of [413, 415]) statuses.add(status);
  if ('creation' in route) for (const status of [409, 422]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
}

/** For an export, `x-itemSchema` describes a line (OpenAPI 3.2: `itemSchema`). */
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
  const { description, isExport, headers } = response;
  const presences: Presences = {
    ...(route.access !== 'public' && USAGE),
    ...(route.personal !== 'none' && { 'X-Access-Receipt': 'optional' }),
    ...(isCreated && route.createsPart !== true && { Location: 'required' }),
    ...(isCreated && { 'Idempotency-Replayed': 'optional' }),
    ...headers,
  };
  const described = {
    description,
    headers: responseHeaders(components, presences),
    content: contentOf(components, response),
  };
  // A response whose schema has a title is shared by several operations, so it becomes a component.
  const { title } = response.schema;
  return isCreated || isExport === true || typeof title !== 'string'
    ? described
    : components.refer('responses', title, described);
}

const notModified = (components: Components): Json =>
  components.refer('responses', 'NotModified', {
    description: 'The resource is in a state that If-None-Match lists. No content.',
    headers: responseHeaders(components, { ...USAGE, ETag: 'required', 'X-Access-Receipt': 'optional' }),
  });

function responsesOf(components: Components, route: Route): Json {
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

const TAGS = [
  { name: 'members', description: 'People in cooperatives: lookups by national ID, lists, single members.' },
  { name: 'cooperatives', description: 'The cooperatives of the registry.' },
  { name: 'loans', description: 'Loans of members, from the application to the last payment.' },
  { name: 'payments', description: 'Repayments of loans.' },
  { name: 'statistics', description: 'Totals of cooperatives.' },
  { name: 'events', description: 'The sequence of changes, for systems that follow it.' },
  { name: 'operation', description: 'The caller itself, the state of the service, and this description.' },
];

/** Address of the server, relative to the address of the description. */
const ROOT = '/';
const SERVER = JSON.stringify({ url: ROOT });

/** Version of the API. Its major version is the `v1` in paths (docs/api.md#versions). */
export const API_VERSION = '1.1.0';

export interface OutgoingMessages {
  describe(components: Components): Json;
  explain(): Html;
}

export function describeApi(all: readonly Route[], outgoing?: OutgoingMessages): Json {
  const routes = all.filter(({ isPage }) => isPage !== true);
  const components = new Components();
  const paths: { [path: string]: Json } = {};
  for (const route of routes) {
    const path = fullPath(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const webhooks = outgoing?.describe(components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cooperative Registry',
      version: API_VERSION,
      description:
        'Members and cooperatives of a national registry. ' +
        'A person is known by a 16-digit national ID and may belong to several cooperatives.\n\n' +
        'Every path may also end with a slash. HEAD is answered like GET, without the content; OPTIONS, ' +
        'without a key, with status 204 and the methods of the path in Allow.\n\n' +
        'Every response has an X-Request-Id, which names the request in the log: your own, if it has at ' +
        'most 64 letters, digits and `._:-`. Responses under /api/v1/ have ' +
        '`Cache-Control: private, no-store`. Every response to a request that reached the rate limiter, ' +
        'refused (429) or not, has the RateLimit headers. A response to a request with a valid key that ' +
        'expires soon has X-Key-Expires. A response to a request that uses a deprecated feature has ' +
        'Deprecation, Sunset and Link.\n\n' +
        'Ignore fields of responses that you do not know: new ones may be added, as may optional ' +
        'parameters and operations. Nothing is removed before it has been deprecated for six months, ' +
        'during which it works as before.\n\n' +
        'Browsers (CORS): a preflight is answered without a key. A response has ' +
        'Access-Control-Allow-Origin, and Vary with Origin, if the host allowlist of the key has the host ' +
        'of Origin.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: ROOT }],
    tags: TAGS,
    paths,
    webhooks,
    components: {
      ...components.registered,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key. Scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
        },
      },
    },
  };
}

function parametersOf(route: Route, components: Components): Json[] {
  const inPath = Object.entries(route.params ?? {}).map(([name, { description, schema, example }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema,
    example,
  }));
  const inQuery = Object.entries(route.query ?? {}).map(([name, { description, schema, deprecated }]) => {
    const parameter = { name, in: 'query', description, schema, ...deprecationKeywords(deprecated) };
    return name in PAGE_PARAMETERS ? components.refer('parameters', name, parameter) : parameter;
  });
  return [...inPath, ...inQuery, ...requestHeaders(components, requestHeadersOf(route))];
}

const IGNORED: Schema = {
  title: 'Ignored',
  readOnly: true,
  description: 'Accepted as GET returns it, and ignored.',
};

function bodySchema({ title, fields, readOnly = [], oneOf, isPatch, patch }: BodyDeclaration): Schema {
  const declared = Object.values(fields);
  const isRequired = ({ presence }: BodyField) => presence === 'required' && isPatch !== true;
  const required = declared.filter(isRequired).map(({ name }) => name);
  const ofWhichOne = oneOf === undefined ? {} : { anyOf: oneOf.map((names) => ({ required: names })) };
  const withDefault = ({ fallback }: BodyField, schema: Schema): Schema =>
    fallback === undefined ? schema : { ...schema, default: fallback };
  if (patch !== undefined) return { title, type: 'object', allOf: [bodySchema(patch)], required };
  const properties = declared.map((field): [string, Schema] => {
    const plain = field.bodySchema ?? field.schema;
    const schema = withDefault(field, field.presence === 'nullable' ? nullable(plain) : plain);
    return [field.name, { ...schema, ...deprecationKeywords(field.deprecated) }];
  });
  const ignored = readOnly.map((name): [string, Schema] => [name, IGNORED]);
  const all = Object.fromEntries([...properties, ...ignored]);
  return { ...objectWith(all, required, { title }), additionalProperties: false, ...ofWhichOne };
}

/** If a patch can change the status, its example has only the status. */
export function exampleOfBody({ fields, isPatch }: BodyDeclaration): { readonly [name: string]: unknown } {
  const all = Object.values(fields).map(({ name, schema }) => [name, exampleOf(schema)] as const);
  const changed = all.filter(([name]) => name === 'status');
  return Object.fromEntries(isPatch === true && changed.length > 0 ? changed : all);
}

function requestBody(body: BodyDeclaration, components: Components): Json {
  const content = { schema: components.schema(bodySchema(body)), example: exampleOfBody(body) };
  const types = mediaTypesOf(body).map((type) => [type, content]);
  return { required: true, content: Object.fromEntries(types) };
}

function operation(route: Route, components: Components): Json {
  const { operationId, summary, description, tag, access, optionalScopes, body } = route;
  const parameters = parametersOf(route, components);
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...deprecationKeywords(route.deprecated),
    security: access === 'public' ? [] : [{ apiKey: scopesOf(route) }],
    ...(optionalScopes === undefined ? {} : { 'x-optional-scopes': optionalScopes }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, components) }),
    responses: responsesOf(components, route),
  };
}

const DESCRIPTION: Schema = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { const: '3.1.0' }, info: { type: 'object' }, paths: { type: 'object' } },
  additionalProperties: true,
};

/** Adds `GET /openapi.json`, which also describes itself. */
export function withOpenApi(routes: readonly Route[], outgoing?: OutgoingMessages): Route[] {
  const all: Route[] = [...routes];
  let text: string | undefined;
  all.push({
    method: 'GET',
    path: '/openapi.json',
    isOutsideApi: true,
    operationId: 'getOpenApi',
    summary: 'This description',
    tag: 'operation',
    access: 'public',
    narrowed: SHOWS_NO_ROWS,
    personal: 'none',
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        schema: DESCRIPTION,
        example: {
          openapi: '3.1.0',
          info: { title: 'Cooperative Registry', version: API_VERSION },
          paths: {},
        },
      },
    },
    handle({ prefix }) {
      text ??= JSON.stringify(describeApi(all, outgoing));
      return ok(new JsonText(prefix === '' ? text : text.replace(SERVER, JSON.stringify({ url: prefix }))));
    },
  });
  return all;
}

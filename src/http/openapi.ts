/** OpenAPI 3.1, derived from the routes. */
import { SCOPES } from '../domain/api-keys.ts';
import { bodySchema } from './body-fields.ts';
import { JsonText, ok } from './response.ts';
import { fullPath, type Route } from './route.ts';
import type { Schema } from './schema.ts';

type Json = { [name: string]: unknown };

/** What a refusal with each status means; the texts are the contract's (section 5). */
const REFUSALS: { readonly [status: number]: string } = {
  400: 'A parameter, the body or the request itself is wrong; all faults are told at once, by field.',
  401: 'No key, or one that is malformed, unknown, expired or disabled.',
  403: "The key's scopes, address allowlist or host allowlist do not allow this.",
  404: 'There is no such resource or page.',
  408: 'The body did not arrive in time.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is no JSON.',
  429: 'The key has used its requests of the hour or the day.',
  500: 'A defect of the server; its log tells more under the X-Request-Id.',
  503: 'The database is busy, the disk is nearly full, or the server is shutting down. Try again.',
};

const HEADERS: Json = {
  RateLimitPolicy: header('Both windows: `"hour";q=1000;w=3600, "day";q=10000;w=86400`.'),
  RateLimit: header('What is left (r) and the seconds until more is free (t), for both windows.'),
  RateLimitLimit: header('Requests of the window that has the least left.'),
  RateLimitRemaining: header('Requests left in that window.'),
  RateLimitReset: header('Epoch second at which one more of that window is free.'),
  RetryAfter: header('Seconds after which trying again makes sense.'),
  RequestId: header('Names this request in the log; your own X-Request-Id is kept.'),
};

const RATE_LIMIT_HEADERS: Json = {
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'X-RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'X-RateLimit-Reset': { $ref: '#/components/headers/RateLimitReset' },
};

function header(description: string): Json {
  return { description, schema: { type: 'string' } };
}

/** @param version of the API's description, without the path's `v1` */
export function describeApi(routes: readonly Route[], version: string): Json {
  const schemas: Json = {
    Error: {
      title: 'Error',
      type: 'object',
      properties: { detail: { type: 'string' } },
      required: ['detail'],
      additionalProperties: false,
    },
    FieldErrors: {
      title: 'FieldErrors',
      type: 'object',
      description: 'Messages by field; `non_field_errors` holds those about the whole.',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
  };
  const paths: { [path: string]: Json } = {};
  for (const route of routes) {
    const path = fullPath(route);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cooperative Registry',
      version,
      description:
        'Members and cooperatives of a national registry. Every path is also served with a slash at its end. A person is known by a 16-digit national ID and may belong to several cooperatives.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'members' }, { name: 'cooperatives' }, { name: 'operation' }],
    paths,
    components: {
      schemas,
      headers: HEADERS,
      responses: Object.fromEntries(
        Object.keys(REFUSALS).map((status) => [`Refused${status}`, refusal(Number(status))]),
      ),
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

function operation(route: Route, schemas: Json): Json {
  const named = (schema: Schema): unknown => extract(schema, schemas);
  const parameters = [
    ...Object.entries(route.params ?? {}).map(([name, { description, schema }]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: named(schema),
    })),
    ...Object.entries(route.query ?? {}).map(([name, { description, schema }]) => ({
      name,
      in: 'query',
      description,
      schema: named(schema),
    })),
  ];
  const { access } = route;
  const scopes = typeof access === 'string' ? [] : [access.scope];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    security: access === 'public' ? [] : [{ apiKey: scopes }],
    ...(route.optionalScopes === undefined ? {} : { 'x-optional-scopes': route.optionalScopes }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: named(bodySchema(route.body)) } },
          },
        }),
    responses: { ...successes(route, named), ...refusals(route) },
  };
}

function successes(route: Route, named: (schema: Schema) => unknown): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema }]) => [
      status,
      {
        description,
        headers: {
          'X-Request-Id': { $ref: '#/components/headers/RequestId' },
          ...(route.access === 'public' ? {} : RATE_LIMIT_HEADERS),
          ...(status === '201' ? { Location: header('Path of the new resource.') } : {}),
        },
        content: { 'application/json': { schema: named(schema) } },
      },
    ]),
  );
}

/** Every refusal a client of the route can meet, from its declaration. */
export function refusalStatuses(route: Route): number[] {
  const statuses = new Set<number>([400, 500, ...(route.refusals ?? [])]);
  if (route.access !== 'public') for (const status of [401, 403, 429]) statuses.add(status);
  if (route.body !== undefined) for (const status of [408, 413, 415]) statuses.add(status);
  return [...statuses].sort();
}

const refusals = (route: Route): Json =>
  Object.fromEntries(
    refusalStatuses(route).map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
  );

function refusal(status: number): Json {
  const shapes = status === 400 ? [{ $ref: '#/components/schemas/FieldErrors' }] : [];
  const error = { $ref: '#/components/schemas/Error' };
  return {
    description: REFUSALS[status],
    ...(status === 429 || status === 503
      ? { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }
      : {}),
    content: { 'application/json': { schema: shapes.length === 0 ? error : { anyOf: [error, ...shapes] } } },
  };
}

/** Moves every schema that has a title into the components and leaves a reference to it. */
function extract(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => extract(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title } = schema as { title?: string };
  const plain = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, extract(value, schemas)]),
  );
  if (typeof title !== 'string') return plain;
  if (JSON.stringify(schemas[title] ?? plain) !== JSON.stringify(plain)) {
    throw new Error(`Two different schemas have the title ${title}.`);
  }
  schemas[title] = plain;
  return { $ref: `#/components/schemas/${title}` };
}

/** `GET /openapi.json`, of all routes and itself. */
export function withOpenApi(routes: readonly Route[], version: string): Route[] {
  const all: Route[] = [...routes];
  let text: JsonText | undefined;
  all.push({
    method: 'GET',
    path: '/openapi.json',
    isOutsideApi: true,
    operationId: 'getOpenApi',
    summary: 'This description',
    tag: 'operation',
    access: 'public',
    answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
    handle() {
      text ??= new JsonText(JSON.stringify(describeApi(all, version)));
      return ok(text);
    },
  });
  return all;
}

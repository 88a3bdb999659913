/** OpenAPI 3.1, derived from the routes. */
import { SCOPES } from '../../domain/access/api-keys.ts';
import type { Schema } from '../../json/schema.ts';
import { bodySchema, mediaTypesOf } from '../declare/body-fields.ts';
import { JsonText, ok } from '../declare/response.ts';
import { fullPath, type RequestHeader, type Route, requestHeadersOf } from '../declare/route.ts';
import { headerComponents, type Json, requestHeaders } from './headers.ts';
import { optionsOperation, responseComponents, responsesOf } from './responses.ts';

const TAGS = [
  { name: 'members', description: 'People in cooperatives: lookups by national ID, lists, single members.' },
  { name: 'cooperatives', description: 'The cooperatives of the registry.' },
  { name: 'loans', description: 'Loans of members, from the application to the last payment.' },
  { name: 'payments', description: 'What is paid back on loans.' },
  { name: 'events', description: 'The sequence of changes, for systems that follow it.' },
  { name: 'operation', description: 'The caller itself, the state of the service, and this description.' },
];

const ERROR_SCHEMAS: Json = {
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
    description:
      'Messages by field; `non_field_errors` holds those about all of it. ' +
      'No field is called `detail`, which is the text of an Error.',
    propertyNames: { not: { const: 'detail' } },
    minProperties: 1,
    additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
  },
};

/** @param version of the API's description, without the path's `v1` */
export function describeApi(routes: readonly Route[], version: string): Json {
  const schemas: Json = { ...ERROR_SCHEMAS };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cooperative Registry',
      version,
      description:
        'Members and cooperatives of a national registry. ' +
        'Every path is served with and without a slash at its end. ' +
        'A person is known by a 16-digit national ID and may belong to several cooperatives.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths: pathItems(routes, schemas),
    components: {
      schemas,
      headers: headerComponents(),
      responses: responseComponents(),
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

/** The operations of each path, and for its spelling with a slash at the end a reference to them. */
function pathItems(routes: readonly Route[], schemas: Json): Json {
  const paths: { [path: string]: Json } = {};
  for (const route of routes) {
    const path = fullPath(route);
    paths[path] ??= { options: { ...optionsOperation(route), ...parametersOf(route, schemas) } };
    paths[path][route.method.toLowerCase()] = operation(route, schemas);
    if (route.method === 'GET') paths[path].head = headOperation(route, schemas);
  }
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) => [
      [path, item],
      [`${path}/`, { $ref: `#/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}` }],
    ]),
  );
}

function parametersOf(
  route: Route,
  schemas: Json,
  query: Route['query'] = {},
  headers: readonly RequestHeader[] = [],
): Json {
  const parameters = [
    ...Object.entries(route.params ?? {}).map(([name, { description, schema, example }]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: extract(schema, schemas),
      example,
    })),
    ...Object.entries(query).map(([name, { description, schema }]) => ({
      name,
      in: 'query',
      description,
      schema: extract(schema, schemas),
    })),
    ...requestHeaders(headers),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

/** What HEAD and GET have in common. */
function access({ access, optionalScopes }: Route): Json {
  const scopes = typeof access === 'string' ? [] : [access.scope];
  return {
    security: access === 'public' ? [] : [{ apiKey: scopes }],
    ...(optionalScopes === undefined ? {} : { 'x-optional-scopes': optionalScopes }),
  };
}

function operation(route: Route, schemas: Json): Json {
  const { body } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    ...access(route),
    ...parametersOf(route, schemas, route.query, requestHeadersOf(route)),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              mediaTypesOf(body).map((type) => [
                type,
                { schema: extract(bodySchema(body), schemas), example: body.example },
              ]),
            ),
          },
        }),
    responses: responsesOf(route, ({ schema }) => extract(schema, schemas)),
  };
}

const headOperation = (route: Route, schemas: Json): Json => ({
  summary: `${route.summary}: the headers only`,
  tags: [route.tag],
  ...access(route),
  ...parametersOf(route, schemas, route.query, requestHeadersOf(route)),
  responses: responsesOf(route, () => undefined, false),
});

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

const DESCRIPTION: Schema = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { const: '3.1.0' }, info: { type: 'object' }, paths: { type: 'object' } },
};

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
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        schema: DESCRIPTION,
        example: { openapi: '3.1.0', info: { title: 'Cooperative Registry', version }, paths: {} },
      },
    },
    handle() {
      text ??= new JsonText(JSON.stringify(describeApi(all, version)));
      return ok(text);
    },
  });
  return all;
}

/** OpenAPI 3.1, derived from the routes. */

import { SCOPES } from '../../domain/access/api-keys.ts';
import { deprecationKeywords, type Schema } from '../../json/schema.ts';
import { PAGE_PARAMETERS } from '../declare/list.ts';
import { SHOWS_NO_ROWS } from '../declare/narrowing.ts';
import { type BodyDeclaration, bodySchema, exampleOfBody, mediaTypesOf } from '../declare/parse-body.ts';
import { JsonText, ok } from '../declare/response.ts';
import { fullPath, type Route, requestHeadersOf, scopesOf } from '../declare/route.ts';
import { Components, type Json } from './components.ts';
import { requestHeaders } from './headers.ts';
import { responsesOf } from './responses.ts';
import { webhooksOf } from './webhooks.ts';

const TAGS = [
  { name: 'members', description: 'People in cooperatives: lookups by national ID, lists, single members.' },
  { name: 'cooperatives', description: 'The cooperatives of the registry.' },
  { name: 'loans', description: 'Loans of members, from the application to the last payment.' },
  { name: 'payments', description: 'What is paid back on loans.' },
  { name: 'statistics', description: 'Sums over cooperatives.' },
  { name: 'events', description: 'The sequence of changes, for systems that follow it.' },
  { name: 'operation', description: 'The caller itself, the state of the service, and this description.' },
];

/** The server's address, relative to that of the description. */
const ROOT = '/';
const SERVER = JSON.stringify({ url: ROOT });

/** @param version of the API's description, without the path's `v1` */
export function describeApi(all: readonly Route[], version: string): Json {
  const routes = all.filter(({ isPage }) => isPage !== true);
  const components = new Components();
  const paths: { [path: string]: Json } = {};
  for (const route of routes) {
    const path = fullPath(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const webhooks = webhooksOf(components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cooperative Registry',
      version,
      description:
        'Members and cooperatives of a national registry. ' +
        'A person is known by a 16-digit national ID and may belong to several cooperatives.\n\n' +
        'Every path may also end with a slash. HEAD is answered like GET, without the content; OPTIONS, ' +
        'without a key, with status 204 and the methods of the path in Allow.\n\n' +
        'Every response has an X-Request-Id, which names the request in the log: your own, if it has at ' +
        'most 64 letters, digits and `._:-`. Responses under /api/v1/ have ' +
        '`Cache-Control: private, no-store`. A request that the rate limiter admits or refuses (429) has ' +
        'the RateLimit headers of a success in whatever response it gets. A response to a request that ' +
        'uses what is deprecated has Deprecation, Sunset and Link.\n\n' +
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
      ...components.found,
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
    ...(description === undefined ? {} : { description }),
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

/** `GET /openapi.json`, of all routes and itself. */
export function withOpenApi(routes: readonly Route[], version: string): Route[] {
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
        example: { openapi: '3.1.0', info: { title: 'Cooperative Registry', version }, paths: {} },
      },
    },
    handle({ prefix }) {
      text ??= JSON.stringify(describeApi(all, version));
      return ok(new JsonText(prefix === '' ? text : text.replace(SERVER, JSON.stringify({ url: prefix }))));
    },
  });
  return all;
}

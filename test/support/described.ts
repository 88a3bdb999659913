/**
 * What a validating proxy would do: each response of the suite, and each request that was accepted, is
 * compared with the description of the API.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fullPath } from '../../src/http/declare/route.ts';
import { describeApi } from '../../src/reference/openapi.ts';
import { WEBHOOKS_DESCRIBED } from '../../src/webhooks/webhook-reference.ts';
import { declaredRoutes } from './openapi-file.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
type Description = any;

export interface SentRequest {
  readonly method: string;
  /** With its query, as it was sent. */
  readonly target: string;
  readonly contentType: string | undefined;
  /** In lower case. */
  readonly headers?: { readonly [name: string]: unknown };
  readonly body: string;
}

export interface ReceivedResponse {
  readonly status: number;
  /** In lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly text: string;
}

/** Of HTTP itself, added to every response. */
const OWN_TO_HTTP = [
  'connection',
  'content-type',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
];
const API = '/api/v1/';

/** What the description says of all responses, in prose. */
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const NOT_KEPT = 'private, no-store';
const USAGE = [
  ...['RateLimit-Policy', 'RateLimit', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
];
const IN_PROSE = ['X-Request-Id', 'Cache-Control', 'Deprecation', 'Sunset', 'Link', 'Vary'];
const OF_CORS = /^access-control-(?:allow-(?:origin|methods|headers)|expose-headers|max-age)$/;
/** Refusals from behind the limiter, and from before it; others may be either. */
const LIMITED = [409, 410, 412, 415, 422, 429];
const UNLIMITED = [401, 405, 417, 431, 501];

/** They are for people, and so not described. */
const PAGES = declaredRoutes()
  .filter(({ isPage }) => isPage === true)
  .map((route) => toPattern(fullPath(route)));

export interface Describer {
  /** @throws AssertionError for what the description does not allow */
  check(request: SentRequest, response: ReceivedResponse): void;
  /** Checks a refusal of what never became a request. */
  checkRefusal(response: ReceivedResponse): void;
  /** Checks what an endpoint of webhooks has received. @param headers with names in lower case */
  checkMessage(headers: { readonly [name: string]: unknown }, message: { readonly type: string }): void;
  /** @param schema of the document */
  checkValue(schema: unknown, value: unknown): void;
  /** @returns what a part of the document refers to, or the part itself */
  resolve(part: unknown): Description;
}

/** @param document of the API; tests give broken ones */
export function createDescriber(
  document: Description = describeApi(declaredRoutes(), WEBHOOKS_DESCRIBED),
): Describer {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, strictRequired: false });
  addFormats.default(ajv);
  ajv.addVocabulary(['x-deprecation']);
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema(toAjv(schema), name);
  const validators = new Map<string, ValidateFunction>();
  const templates = Object.keys(document.paths)
    .map((path) => ({ path, pattern: toPattern(path) }))
    // Literal segments win over parameters.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);

  /** Resolves a reference into the document. */
  function resolve(part: Description): Description {
    if (part?.$ref === undefined) return part;
    const pointer = decodeURIComponent(part.$ref).slice(2).split('/');
    return resolve(pointer.reduce((at, name) => at[name.replaceAll('~1', '/')], document));
  }

  /** @param schema of the document, or what refers to one */
  function fits(schema: Description, value: unknown, what: string): void {
    const key = JSON.stringify(schema);
    let validate = validators.get(key);
    if (validate === undefined) {
      validate = ajv.compile(toAjv(schema));
      validators.set(key, validate);
    }
    assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
  }

  const header = (headers: ReceivedResponse['headers'], name: string) => headers[name.toLowerCase()];

  /** @param own the headers that are described with the response */
  function checkHeaders(
    own: Description,
    { status, headers }: ReceivedResponse,
    isApi: boolean,
    what: string,
  ) {
    assert.match(String(header(headers, 'X-Request-Id')), REQUEST_ID, what);
    // Outside the API, refusals from below the routes have it as well.
    if (isApi || 'cache-control' in headers) assert.equal(header(headers, 'Cache-Control'), NOT_KEPT, what);
    const declared = { ...own };
    if (status >= 400 && USAGE.some((name) => header(headers, name) !== undefined)) {
      assert.ok(isApi && !UNLIMITED.includes(status), `${what} has rate limits`);
      for (const name of USAGE) declared[name] = document.components.headers[name];
    } else assert.ok(!LIMITED.includes(status), `${what} has no rate limits`);
    if (status >= 400 && !UNLIMITED.includes(status))
      declared['X-Key-Expires'] = document.components.headers['X-Key-Expires-Optional'];
    const names = [...IN_PROSE, ...Object.keys(declared)].map((name) => name.toLowerCase());
    for (const name of Object.keys(headers))
      assert.ok(
        [...names, ...OWN_TO_HTTP].includes(name) || OF_CORS.test(name),
        `${what}: the header ${name} is not described`,
      );
    for (const [name, reference] of Object.entries(declared)) {
      const { required, schema } = resolve(reference);
      const value = header(headers, name);
      if (value === undefined) assert.ok(required !== true, `${what}: the header ${name} is missing`);
      else fits(schema, schema.type === 'integer' ? Number(value) : value, `${what}: ${name}`);
    }
  }

  function checkResponse(
    described: Description,
    response: ReceivedResponse,
    { isApi, isHead, what }: { isApi: boolean; isHead: boolean; what: string },
  ): void {
    assert.ok(described, `${what} is not described`);
    checkHeaders(described.headers, response, isApi, what);
    const type = String(response.headers['content-type'] ?? 'application/json').split(';')[0] as string;
    const content = described.content?.[type];
    if (described.content === undefined || isHead) assert.equal(response.text, '', `${what} has content`);
    else {
      assert.ok(content, `${what}: ${type} is not described`);
      const items = content['x-itemSchema'];
      if (items !== undefined)
        for (const line of response.text.split('\n').slice(0, -1)) fits(items, JSON.parse(line), what);
      if (type !== 'application/json') return;
      fits(content.schema, JSON.parse(response.text), what);
    }
  }

  /** A refusal without a description of its own must be named in that of all others. */
  function refusalOf(status: number): Description {
    const { [`Refused${status}`]: own, Refused: others } = document.components.responses;
    const isNamed = (own ?? others).description.includes(status);
    return own ?? (isNamed ? others : undefined);
  }

  const responseOf = (operation: Description, status: number): Description =>
    resolve(operation.responses[status]) ?? (operation.responses.default && refusalOf(status));

  /** Each with what HEAD and OPTIONS are, which are described in prose. */
  const methodsOf = (item: Description): string[] =>
    [...Object.keys(item), ...('get' in item ? ['head'] : []), 'options']
      .map((name) => name.toUpperCase())
      .sort();

  function checkRequest(
    operation: Description,
    match: RegExpExecArray,
    request: SentRequest,
    what: string,
  ): void {
    const parameters: Description[] = (operation.parameters ?? []).map(resolve);
    const query = new URLSearchParams(request.target.split('?')[1] ?? '');
    for (const { name, in: place, schema } of parameters) {
      if (place === 'header') {
        const value = request.headers?.[name.toLowerCase()];
        if (value !== undefined) fits(schema, value, `${what}: ${name}`);
        continue;
      }
      const text = place === 'path' ? match.groups?.[name] : (query.get(name) ?? undefined);
      if (text !== undefined)
        fits(schema, schema.type === 'integer' ? Number(text) : text, `${what}: ${name}`);
      if (place === 'query') query.delete(name);
    }
    assert.deepEqual([...query.keys()], [], `${what}: parameters that are not described`);
    const content = operation.requestBody?.content;
    if (content === undefined) assert.equal(request.body, '', `${what} has a body`);
    else {
      const body = content[(request.contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''];
      assert.ok(body, `${what}: the media type is not described`);
      fits(body.schema, JSON.parse(request.body), `the body of ${what}`);
    }
  }

  return {
    check(request, response) {
      const path = request.target.split('?')[0] ?? '';
      if (PAGES.some((page) => page.test(path))) return;
      const { status, headers } = response;
      const what = `${request.method} ${path.replace(/[0-9]{6,}/g, '…')} ${status}`;
      const isHead = request.method === 'HEAD';
      const at = { isApi: path.startsWith(API), isHead, what };
      const template = templates.find(({ pattern }) => pattern.test(path));
      const item = template && document.paths[template.path];
      if (item !== undefined && [204, 405].includes(status)) {
        assert.equal(status === 204, request.method === 'OPTIONS', what);
        assert.equal(headers.allow, methodsOf(item).join(', '), what);
        const options = { headers: { Allow: { $ref: '#/components/headers/Allow-Optional' } } };
        checkResponse(status === 204 ? options : refusalOf(405), response, at);
        return;
      }
      const operation = item?.[isHead ? 'get' : request.method.toLowerCase()];
      if (operation === undefined) {
        const expected = item === undefined ? [400, 404, 501] : [400, 501];
        assert.ok(expected.includes(status), what);
        checkResponse(refusalOf(status), response, at);
        return;
      }
      checkResponse(responseOf(operation, status), response, at);
      const match = template?.pattern.exec(path);
      if (status < 300) checkRequest(operation, match as RegExpExecArray, request, what);
    },

    checkMessage(headers, message) {
      const { post } = resolve(document.webhooks[message.type]);
      for (const { name, schema } of post.parameters.map(resolve))
        fits(schema, schema.type === 'integer' ? Number(headers[name]) : headers[name], name);
      fits(post.requestBody.content['application/json'].schema, message, message.type);
    },

    resolve,

    checkValue: (schema, value) => fits(schema, value, 'the value'),

    checkRefusal(response) {
      const isApi = 'cache-control' in response.headers;
      const what = `a refusal ${response.status}`;
      checkResponse(refusalOf(response.status), response, { isApi, isHead: false, what });
    },
  };
}

/**
 * References to components → names of schemas that the validator knows. Objects are closed: clients ignore
 * what they do not know, but a handler sends nothing that is not declared.
 */
const toAjv = (schema: Description): AnySchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"'), (_name, part) =>
    part?.type === 'object' && typeof part.properties === 'object'
      ? { additionalProperties: false, ...part }
      : part,
  );

function toPattern(path: string): RegExp {
  const pattern = path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${pattern}/?$`);
}

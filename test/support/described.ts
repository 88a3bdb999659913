/**
 * What a validating proxy would do: each response of the suite, and each request that was accepted, is
 * compared with the description of the API.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeApi } from '../../src/http/openapi/openapi.ts';
import { API_VERSION } from '../../src/http/routes.ts';
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
const OWN_TO_HTTP = ['content-type', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];
const API = '/api/v1/';

export interface Describer {
  /** @throws AssertionError for what the description does not allow */
  check(request: SentRequest, response: ReceivedResponse): void;
  /** Checks a refusal of what never became a request. */
  checkRefusal(response: ReceivedResponse): void;
  /** @param schema of the document */
  checkValue(schema: unknown, value: unknown): void;
}

/** @param document of the API; tests give broken ones */
export function createDescriber(
  document: Description = describeApi(declaredRoutes(), API_VERSION),
): Describer {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, strictRequired: false });
  addFormats.default(ajv);
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

  function checkHeaders(declared: Description, { headers }: ReceivedResponse, what: string): void {
    const names = Object.keys(declared ?? {}).map((name) => name.toLowerCase());
    for (const name of Object.keys(headers)) {
      assert.ok([...names, ...OWN_TO_HTTP].includes(name), `${what}: the header ${name} is not described`);
    }
    for (const [name, reference] of Object.entries(declared ?? {})) {
      const { required, schema } = resolve(reference);
      const value = headers[name.toLowerCase()];
      if (value === undefined) assert.ok(required !== true, `${what}: the header ${name} is missing`);
      else fits(schema, schema.type === 'integer' ? Number(value) : value, `${what}: ${name}`);
    }
  }

  function checkResponse(
    declared: Description,
    response: ReceivedResponse,
    isHead: boolean,
    what: string,
  ): void {
    const described = resolve(declared);
    assert.ok(described, `${what} is not described`);
    checkHeaders(described.headers, response, what);
    const content = described.content?.['application/json'];
    if (content === undefined || isHead) assert.equal(response.text, '', `${what} has content`);
    else {
      assert.equal(response.headers['content-type'], 'application/json', what);
      fits(content.schema, JSON.parse(response.text), what);
    }
  }

  const refusalOf = (status: number, isApi: boolean): Description =>
    document.components.responses[`${isApi ? 'Refused' : 'OutsideApi'}${status}`];

  function checkRequest(
    operation: Description,
    match: RegExpExecArray,
    request: SentRequest,
    what: string,
  ): void {
    const parameters: Description[] = operation.parameters ?? [];
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
      const { status } = response;
      const what = `${request.method} ${path.replace(/[0-9]{6,}/g, '…')} ${status}`;
      const isHead = request.method === 'HEAD';
      const template = templates.find(({ pattern }) => pattern.test(path));
      const item = template && resolve(document.paths[template.path]);
      const operation = item?.[request.method.toLowerCase()];
      if (operation === undefined) {
        const expected = item === undefined ? [400, 404, 501] : [400, 405, 501];
        assert.ok(expected.includes(status), what);
        checkResponse(refusalOf(status, path.startsWith(API)), response, isHead, what);
        return;
      }
      checkResponse(operation.responses[status], response, isHead, what);
      const match = template?.pattern.exec(path);
      if (status < 300 && request.method !== 'OPTIONS') {
        checkRequest(operation, match as RegExpExecArray, request, what);
      }
    },

    checkValue: (schema, value) => fits(schema, value, 'the value'),

    checkRefusal(response) {
      checkResponse(
        refusalOf(response.status, 'cache-control' in response.headers),
        response,
        false,
        `a refusal ${response.status}`,
      );
    },
  };
}

/** References to components → names of schemas that the validator knows. */
const toAjv = (schema: Description): AnySchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"'));

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

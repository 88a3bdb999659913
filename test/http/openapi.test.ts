/** The description of the API is derived from the routes, valid, complete and committed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { RegistryEvent } from '../../src/events/feed.ts';
import { fullPath } from '../../src/http/declare/route.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { IDENTITY_CARD } from '../../src/values/identity-card.ts';
import { WEBHOOK_TYPES } from '../../src/webhooks/target.ts';
import {
  eventMessage,
  importMessage,
  newSecret,
  restartMessage,
  signedHeaders,
  testMessage,
} from '../../src/webhooks/webhook-message.ts';
import { startApp } from '../support/app.ts';
import { createDescriber } from '../support/described.ts';
import { declaredRoutes, OPENAPI_FILE, openApiText } from '../support/openapi-file.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
type Description = any;
const description = (): Description => JSON.parse(openApiText());
const METHODS = ['get', 'post', 'put', 'patch'];

test('openapi.json is what the routes declare; `make openapi` writes it', () => {
  assert.equal(JSON.stringify(JSON.parse(readFileSync(OPENAPI_FILE, 'utf8'))), openApiText());
});

test('openapi.json describes each operation once, in at most 250 kB', () => {
  assert.ok(readFileSync(OPENAPI_FILE).length <= 250_000);
  const { info, paths } = description();
  for (const [path, item] of Object.entries<object>(paths)) {
    assert.ok(!path.endsWith('/'), path);
    assert.deepEqual(
      Object.keys(item).filter((method) => !METHODS.includes(method)),
      [],
      path,
    );
  }
  for (const word of [
    'slash',
    'HEAD',
    'OPTIONS',
    'X-Request-Id',
    'Cache-Control',
    'RateLimit',
    'Deprecation',
    'CORS',
  ])
    assert.ok(info.description.includes(word), word);
});

test('each operation that may be refused in an overload says so', () => {
  const all = Object.entries<Description>(description().paths);
  const never = all.filter(([, item]) =>
    Object.values<Description>(item).some(({ responses }) => !('503' in responses)),
  );
  assert.deepEqual(
    never.map(([path]) => path),
    ['/healthz'],
  );
});

test('every component is used by an operation or a webhook, and each of these has an id of its own', () => {
  const document = description();
  const used = new Set<string>();
  const ids: unknown[] = [];
  function walk(part: Description): void {
    if (typeof part !== 'object' || part === null) return;
    if ('responses' in part) ids.push(part.operationId);
    const reference = part.$ref;
    if (typeof reference === 'string' && !used.has(reference)) {
      used.add(reference);
      const names = reference.replace('#/', '').split('/');
      const component = names.reduce((parent, name) => parent?.[name], document);
      assert.ok(component, reference);
      walk(component);
    }
    for (const child of Object.values(part)) walk(child);
  }
  walk(document.paths);
  walk(document.webhooks);
  const { securitySchemes: _, ...components } = document.components;
  const names = Object.entries<object>(components).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  );
  assert.deepEqual([...used].sort(), names.sort());
  assert.ok(ids.length > 35);
  assert.deepEqual(
    ids.filter((id) => typeof id !== 'string'),
    [],
  );
  assert.equal(new Set(ids).size, ids.length);
});

test('schemas of responses allow fields that later versions add, those of request bodies do not', () => {
  const { components, paths } = description();
  const operations = Object.values<Description>(paths).flatMap((item) => Object.values<Description>(item));
  for (const { requestBody } of operations)
    for (const { schema } of Object.values<Description>(requestBody?.content ?? {}))
      assert.match(schema.$ref, /Body$/);
  for (const [name, schema] of Object.entries<Description>(components.schemas)) {
    const isClosed = JSON.stringify(schema).includes('"additionalProperties":false');
    if (schema.properties !== undefined) assert.equal(isClosed, name.endsWith('Body'), name);
  }
});

test('openapi.json is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const outcome = await validator.validate(JSON.parse(openApiText()));
  assert.deepEqual(outcome, { valid: true });
  assert.equal(validator.version, '3.1');
  const spoiled: ((document: Description) => void)[] = [
    (document) => delete document.info.title,
    (document) => (document.webhooks['member.updated'] = { post: { parameters: [{ name: 'x' }] } }),
    (document) => delete document.components.pathItems.Event.post.requestBody.content,
  ];
  for (const spoil of spoiled) {
    const broken = JSON.parse(openApiText());
    spoil(broken);
    assert.equal((await new Validator().validate(broken)).valid, false, String(spoil));
  }
});

test('openapi.json describes every message to endpoints of webhooks, with the headers that sign it', () => {
  const { webhooks } = description();
  assert.deepEqual(Object.keys(webhooks), [...WEBHOOK_TYPES, 'webhook.test']);
  const describer = createDescriber();
  const to = { endpointId: 1, epoch: '5f1c09a3b2d4e687' };
  const event: RegistryEvent = {
    ...{ sequence: 7, at: 1, id: 2, cooperativeId: 3, fieldsChanged: ['mobile'] },
    ...({ type: 'member.updated', actor: 'undo:5' } as const),
  };
  const counts = new Map([['member.deleted', 3] as const]);
  for (const message of [
    eventMessage(to, event, KIGALI),
    importMessage(to, event, { first: 7, last: 9 }, counts, KIGALI),
    restartMessage(to, 0, 1, KIGALI),
    testMessage(1, 1, KIGALI),
  ]) {
    const headers = signedHeaders(message, [newSecret(), newSecret()], 1_750_000_000);
    const body = JSON.parse(message.body);
    assert.equal(body.type, message.type);
    describer.checkMessage(headers, body);
    assert.throws(() => describer.checkMessage(headers, { ...body, data: { ...body.data, more: 1 } }));
    for (const name of Object.keys(headers))
      assert.throws(() => describer.checkMessage({ ...headers, [name]: undefined }, body), name);
  }
});

test('the server serves the committed description, with every route in it', async (context) => {
  const app = await startApp(context);
  const { json } = await app.send('//openapi.json', { key: null });
  assert.deepEqual(json, JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')));
  const described = Object.entries(json.paths as { [path: string]: object }).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(
    described.sort(),
    declaredRoutes()
      .filter(({ isPage }) => isPage !== true)
      .map((route) => `${route.method} ${fullPath(route)}`)
      .sort(),
  );
});

test('every operation has examples of its body and response, which fit, and of nobody who exists', () => {
  const { paths } = description();
  const describer = createDescriber();
  let bodies = 0;
  for (const [path, item] of Object.entries<Description>(paths)) {
    for (const method of METHODS.filter((each) => each in item)) {
      const { requestBody, responses } = item[method];
      if (requestBody !== undefined) {
        for (const { schema, example } of Object.values<Description>(requestBody.content))
          describer.checkValue(schema, example);
        bodies++;
      }
      for (const status of Object.keys(responses).filter((each) => each.startsWith('2'))) {
        const { content } = describer.resolve(responses[status]);
        if ('application/x-ndjson' in content) continue;
        const { schema, example } = content['application/json'];
        assert.ok(example !== undefined, `${method} ${path} ${status}`);
        describer.checkValue(schema, example);
      }
    }
  }
  assert.equal(bodies, 15);
  const people = [...openApiText().matchAll(/"([0-9]{16})"/g)].map(([, nid = '']) => nid);
  assert.ok(people.length > 5);
  for (const nid of people) {
    assert.match(nid, IDENTITY_CARD);
    assert.ok(Number(nid.slice(6, 13)) >= 9_000_000, nid);
  }
});

test('beside its fields the description says what null means, which ten loans come, and in what order', () => {
  const { info, components } = description();
  const { Membership, Statistics, CountryStatistics } = components.schemas;
  const { production_summary, loan_history, savings_summary } = Membership.properties;
  for (const { description: meaning } of [
    ...[production_summary, loan_history, savings_summary],
    ...[Statistics, CountryStatistics].flatMap(({ properties: { production, loans, savings } }) => [
      ...[production, loans, savings],
    ]),
  ])
    assert.match(meaning, /Null without the scope `members:financials`/);
  assert.match(loan_history.description, /^At most 10 loans: first granted loans .* newest first\./);
  assert.match(production_summary.description, /365 × 24 hours/);
  assert.match(info.description, /deprecated for six months/);
  for (const cause of ['scopes', 'address allowlist', 'host allowlist', 'export', 'some cooperatives', '404'])
    assert.ok(components.responses.Refused403.description.includes(cause), cause);
});

test('every tag that an operation has is described', () => {
  const { tags, paths } = description();
  const described = tags.map((tag: Description) => tag.description.length > 10 && tag.name);
  for (const item of Object.values<Description>(paths))
    for (const operation of Object.values<Description>(item))
      for (const tag of operation.tags ?? []) assert.ok(described.includes(tag), tag);
});

const GET = { method: 'GET', target: '/api/v1/cooperatives/1', contentType: undefined, body: '' };
const HEADERS = {
  'x-request-id': 'a',
  'cache-control': 'private, no-store',
  connection: 'keep-alive',
  'content-type': 'application/json',
};
const LIMITS = {
  'ratelimit-policy': '"hour";q=1;w=3600, "day";q=1;w=86400',
  ratelimit: '"hour";r=1;t=1, "day";r=1;t=1',
  'x-ratelimit-limit': '1',
  'x-ratelimit-remaining': '1',
  'x-ratelimit-reset': '1',
};

test('the check that sees every response of the tests finds what a description lacks or has wrong', () => {
  const responseIn = (document: Description) => document.components.responses.Cooperative;
  const response = () => {
    const { example } = responseIn(description()).content['application/json'];
    return { status: 200, headers: { ...HEADERS, ...LIMITS, etag: '"a.1"' }, text: JSON.stringify(example) };
  };
  const broken = (spoil: (document: Description) => void): (() => void) => {
    const document = description();
    spoil(document);
    return () => createDescriber(document).check(GET, response());
  };
  broken(() => {})();
  const operation = (document: Description) => document.paths['/api/v1/cooperatives/{id}'].get;
  const cooperative = (document: Description) => document.components.schemas.Cooperative;
  assert.throws(
    broken((d) => delete responseIn(d).headers['X-RateLimit-Limit']),
    /is not described/,
  );
  assert.throws(
    broken((d) => (responseIn(d).headers.Location = { required: true })),
    /is missing/,
  );
  assert.throws(
    broken((d) => delete operation(d).responses[200]),
    /is not described/,
  );
  assert.throws(
    broken((d) => (cooperative(d).properties.members_count = { type: 'string' })),
    /must be string/,
  );
  assert.throws(
    broken((d) => delete cooperative(d).properties.district),
    /additional properties/,
  );
  assert.throws(
    broken((d) => cooperative(d).required.push('seat')),
    /required property/,
  );
  assert.throws(
    broken((d) => (operation(d).parameters[0].schema = { type: 'string', pattern: '^x$' })),
    /must match pattern/,
  );
  const describer = createDescriber();
  const refused = { status: 400, headers: { ...HEADERS, ...LIMITS } };
  const check = (value: unknown) => () => describer.check(GET, { ...refused, text: JSON.stringify(value) });
  check({ detail: 'No.' })();
  check({ code: ['No.'] })();
  for (const value of [
    {},
    { detail: ['No.'] },
    { code: 'No.' },
    { detail: 'No.', code: ['No.'] },
    { code: [] },
  ])
    assert.throws(check(value), JSON.stringify(value));
});

test('the check holds all responses to what the description says of them in prose', () => {
  const describer = createDescriber();
  const error = JSON.stringify({ detail: 'No.' });
  const check = (method: string, status: number, headers: { [name: string]: string }, text = error) =>
    describer.check({ ...GET, method }, { status, headers: { ...HEADERS, ...headers }, text });
  const ALLOW = 'GET, HEAD, OPTIONS, PATCH, PUT';
  check('DELETE', 405, { allow: ALLOW });
  check('OPTIONS', 204, { allow: ALLOW }, '');
  check('HEAD', 404, LIMITS, '');
  check('GET', 500, {});
  check('GET', 400, LIMITS);
  for (const target of ['/api/v1/cooperatives/1/', '/api/v1/cooperatives/1'])
    describer.check(
      { ...GET, target, method: 'OPTIONS' },
      { status: 204, headers: { ...HEADERS, allow: ALLOW }, text: '' },
    );
  const { 'x-ratelimit-reset': _reset, ...incomplete } = LIMITS;
  const wrong: [string, number, { [name: string]: string }, string?][] = [
    ['DELETE', 405, { allow: 'GET' }],
    ['DELETE', 405, {}],
    ['DELETE', 405, { ...LIMITS, allow: ALLOW }],
    ['OPTIONS', 204, { allow: `${ALLOW}, POST` }, ''],
    ['OPTIONS', 204, { allow: ALLOW }],
    ['OPTIONS', 204, { ...LIMITS, allow: ALLOW }, ''],
    ['GET', 204, { allow: ALLOW }, ''],
    ['HEAD', 404, LIMITS],
    ['GET', 418, {}],
    ['GET', 404, incomplete],
    ['GET', 429, { 'retry-after': '1' }],
    ['GET', 401, { ...LIMITS, 'www-authenticate': 'Bearer realm="cooperative-registry"' }],
    ['GET', 500, { 'x-request-id': '' }],
    ['GET', 500, { 'cache-control': 'no-cache' }],
  ];
  for (const [method, status, headers, text] of wrong)
    assert.throws(
      () => check(method, status, headers, text),
      `${method} ${status} ${JSON.stringify(headers)}`,
    );
});

/** Deprecated routes, parameters and fields (docs/api.md#versions), shown with routes of the test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeys } from '../../src/access/api-key-store.ts';
import { issueSecret } from '../../src/access/api-keys.ts';
import { RateLimiter } from '../../src/access/rate-limiter.ts';
import { declareBodies } from '../../src/http/declare/request-body.ts';
import { parseBody } from '../../src/http/declare/resource.ts';
import { ok } from '../../src/http/declare/response.ts';
import { fullPath, type Route, SHOWS_NO_ROWS } from '../../src/http/declare/route.ts';
import { createAccessLog } from '../../src/http/server/access-log.ts';
import { createMiddleware } from '../../src/http/server/middleware.ts';
import { openOverloadGuard } from '../../src/http/server/overload.ts';
import { announceDeprecated, createHandler } from '../../src/http/server/request-lifecycle.ts';
import { createSender } from '../../src/http/server/send.ts';
import { describeApi } from '../../src/reference/openapi.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import { type AddressBlocks, parseAddressBlocks } from '../../src/values/address-blocks.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { shownFields, shownObject } from '../../src/values/field-json.ts';
import { say } from '../../src/values/message.ts';
import { array, object, string } from '../../src/values/schema.ts';
import { KEY } from '../store/conformance/sample.ts';
import { deprecatedTable } from '../support/api-tables.ts';
import { type Sent, sendToOwnRoute, temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { createDescriber } from '../support/described.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';
import { declaredRoutes } from '../support/openapi-file.ts';
import { storageAt } from '../support/storage.ts';

const OLD = { since: '2023-06-30', sunset: '2023-12-31', link: 'https://registry.example.rw/old' };
const OLDER = { since: '2023-05-01', sunset: '2024-05-01', link: 'https://registry.example.rw/older' };
const OLD_HEADERS = ['@1688083200', 'Sun, 31 Dec 2023 00:00:00 GMT', `<${OLD.link}>; rel="deprecation"`];
const OLDER_HEADERS = ['@1682899200', 'Wed, 01 May 2024 00:00:00 GMT', `<${OLDER.link}>; rel="deprecation"`];
const BOTH = [OLDER_HEADERS[0], OLD_HEADERS[1], `${OLD_HEADERS[2]}, ${OLDER_HEADERS[2]}`];
const NONE = [undefined, undefined, undefined];

const FIELDS = {
  name: { label: say('Name'), kind: 'text', maxLength: 9, description: 'Its name.' },
  nickname: {
    label: say('Nickname'),
    kind: 'past_date',
    description: 'Not used.',
    isNullable: true,
    deprecated: OLD,
  },
} as const;
const EXAMPLE = { name: 'Ana', nickname: null };
const THING = shownObject<typeof EXAMPLE>('Thing', shownFields(FIELDS, ['name', 'nickname']));
const NAMED = object({ name: string() }, { title: 'Named' });
const BODY = declareBodies(FIELDS, {
  title: 'Thing',
  response: THING.schema,
}).put;

const shared = {
  tag: 'operation',
  access: 'any key',
  narrowed: SHOWS_NO_ROWS,
  personal: 'none',
} as const;
const success = (schema: Route['responses'][number]['schema'], example: unknown) => ({
  200: { description: 'Things.', schema, example },
});
const get = (path: string, more: Partial<Route>): Route => ({
  ...{ ...shared, method: 'GET', path, operationId: `get${path.slice(1)}`, summary: 'Things' },
  responses: success(NAMED, { name: 'Ana' }),
  handle: () => ok({ name: 'Ana' }),
  ...(more as object),
});
const OLD_FILTER = { description: 'A filter.', schema: string(), parse: String, deprecated: OLDER };
const ROUTES: readonly Route[] = [
  get('/current', {}),
  get('/old', { deprecated: OLD, query: { old: OLD_FILTER } }),
  get('/filtered', { query: { old: OLD_FILTER, name: { ...OLD_FILTER, deprecated: undefined as never } } }),
  get('/shown', {
    responses: success(object({ results: array(THING.schema) }), { results: [EXAMPLE] }),
    handle: () => ok({ results: [EXAMPLE] }),
  }),
  {
    ...{ ...shared, method: 'PUT', path: '/things', operationId: 'putThing', summary: 'A thing', body: BODY },
    responses: success(NAMED, { name: 'Ana' }),
    handle({ body }) {
      const { values, faults } = parseBody(BODY, body, { zone: KIGALI, nowSeconds: 0 });
      faults.throwIfAny();
      return ok({ name: values.name });
    },
  },
];

async function serve(context: TestContext) {
  const location = join(temporaryFolder(context), 'registry.db');
  createEmptyRegistry(location);
  const keys = openKeys(storageAt(location), 'issue');
  const [secret, elsewhere] = [issueSecret(), issueSecret()];
  const open = { allowedAddresses: [], allowedHosts: [], limits: { perHour: 100, perDay: 100 } };
  await keys.create({ ...KEY, ...open, expiresAt: null, name: 'Bank' }, secret, 1);
  await keys.create(
    { ...KEY, ...open, allowedHosts: ['a.example'], expiresAt: null, name: 'Union' },
    elsewhere,
    1,
  );
  const clock = testClock();
  const scheduler = new Scheduler();
  const log = createAccessLog({ level: 'silent', write: () => {}, now: clock.now, scheduler });
  const limiter = new RateLimiter(clock);
  const trustedProxies = parseAddressBlocks([]) as AddressBlocks;
  const handler = createHandler({
    ...{ routes: ROUTES, keys, clock, log, limiter, publicUrl: undefined },
    middleware: createMiddleware({
      ...{ keys, trustedProxies, limiter, clock, scheduler },
      overload: openOverloadGuard(clock, trustedProxies),
      noteAddress: () => assert.fail('nobody is refused often'),
    }),
    create: () => assert.fail('no route creates'),
    send: createSender({ scheduler, keys: { countUse: () => {} }, log, clock, isDraining: () => false }),
  });
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const describer = createDescriber(describeApi([...declaredRoutes(), ...ROUTES]));
  return {
    keys,
    /** Key that may be used only for another host. */
    elsewhere: elsewhere.text,
    run: (...args: string[]) => command(['keys', ...args], { REGISTRY_DB: location }, clock),
    async send(path: string, sent: Sent = {}) {
      const response = await sendToOwnRoute(port, path, { key: secret.text, ...sent });
      const [method, body] = [sent.method ?? 'GET', sent.body === undefined ? '' : JSON.stringify(sent.body)];
      const contentType = body === '' ? undefined : 'application/json';
      if (response.status === 200)
        describer.check({ method, target: `/api/v1${path}`, contentType, body }, response);
      const { status, headers } = response;
      return [status, headers.deprecation, headers.sunset, headers.link];
    },
  };
}

test('what a request uses of what is deprecated is in the headers of its response, refusals too', async (context) => {
  const { send, keys } = await serve(context);
  context.after(() => keys.close());
  assert.deepEqual(await send('/current'), [200, ...NONE]);
  assert.deepEqual(await send('/old'), [200, ...OLD_HEADERS]);
  assert.deepEqual(await send('/old/', { method: 'HEAD' }), [200, ...OLD_HEADERS]);
  assert.deepEqual(await send('/old', { key: null }), [401, ...OLD_HEADERS]);
  assert.deepEqual(await send('/old?unknown=1'), [400, ...OLD_HEADERS]);
  assert.deepEqual(await send('/old', { method: 'PUT', body: {} }), [405, ...NONE]);
  assert.deepEqual(await send('/filtered?name=a'), [200, ...NONE]);
  assert.deepEqual(await send('/filtered?old=a'), [200, ...OLDER_HEADERS]);
  assert.deepEqual(await send('/old?old=a'), [200, ...BOTH]);
  assert.deepEqual(await send('/shown'), [200, ...OLD_HEADERS]);
  const put = (body: unknown) => send('/things', { method: 'PUT', body });
  assert.deepEqual(await put({ name: 'Ana' }), [200, ...NONE]);
  assert.deepEqual(await put(EXAMPLE), [200, ...OLD_HEADERS]);
  assert.deepEqual(await put({ nickname: 'never' }), [400, ...OLD_HEADERS]);
  assert.deepEqual(await put([]), [400, ...NONE]);
});

test('keys list and keys show say which key used what, how often, and when last', async (context) => {
  const { send, keys, elsewhere, run } = await serve(context);
  assert.doesNotMatch((await run('list')).out, /DEPRECATED/);
  for (const path of ['/current', '/old', '/old?unknown=1', '/filtered?old=a', '/filtered']) await send(path);
  await send('/old', { key: null });
  assert.equal((await send('/old', { key: elsewhere }))[0], 403);
  await keys.close();
  const { out } = await run('list');
  assert.match(out, / DEPRECATED\n1 .* 3 requests until 2025-06-15\n2 .*\S\n$/);
  assert.equal(out.match(/until/g)?.length, 1);
  const [old, filter] = ['GET /api/v1/old', 'GET /api/v1/filtered, parameter old'];
  const at = '2025-06-15T12:00:00+02:00';
  assert.ok((await run('show', '1')).out.includes(`\ndeprecated   ${old}: 2 requests, last at ${at}\n`));
  const listed = JSON.parse((await run('list', '--json')).out).keys;
  assert.deepEqual(
    listed.map((key: { deprecated_uses: unknown }) => key.deprecated_uses),
    [
      [
        { name: filter, requests: 1, last_used_at: at },
        { name: old, requests: 2, last_used_at: at },
      ],
      [],
    ],
  );
});

test('OpenAPI and the table of the documents show what is deprecated', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
  const { paths, components } = describeApi(ROUTES) as any;
  const at = (path: string) => paths[`/api/v1${path}`].get;
  const said = (part: { [name: string]: unknown }) => [part.deprecated, part['x-deprecation']];
  assert.deepEqual(said(at('/old')), [true, OLD]);
  assert.deepEqual(said(at('/current')), [undefined, undefined]);
  assert.deepEqual(at('/filtered').parameters.map(said), [
    [true, OLDER],
    [undefined, undefined],
  ]);
  const { Thing, ThingPatchBody } = components.schemas;
  for (const { properties } of [Thing, ThingPatchBody]) {
    assert.deepEqual(said(properties.nickname), [true, OLD]);
    assert.deepEqual(said(properties.name), [undefined, undefined]);
  }
  const row = (name: string, { since, sunset, link }: typeof OLD) =>
    `| ${name} | ${since} | ${sunset} | <${link}> |`;
  assert.deepEqual(deprecatedTable(ROUTES).split('\n').slice(2), [
    row('`GET /api/v1/old`', OLD),
    row('`GET /api/v1/old`, parameter old', OLDER),
    row('`GET /api/v1/filtered`, parameter old', OLDER),
    row('`GET /api/v1/shown`, field results.nickname of the response', OLD),
    row('`PUT /api/v1/things`, field nickname of the body', OLD),
  ]);
  assert.equal(deprecatedTable([get('/current', {})]), 'Nothing is deprecated.');
});

test('a sunset within six months, and a date or link that is none, is refused at start-up', () => {
  const send = () => {};
  const keys = { countUse: () => {} };
  const start = (deprecated: Partial<typeof OLD>, where: 'route' | 'query' = 'route') => {
    const declared = { deprecated: { ...OLD, ...deprecated } };
    const more = where === 'route' ? declared : { query: { old: { ...OLD_FILTER, ...declared } } };
    return announceDeprecated({ routes: [get('/old', more)], send, keys, clock: testClock() });
  };
  assert.notEqual(start({ sunset: '2023-12-30' }), send);
  for (const where of ['route', 'query'] as const)
    assert.throws(
      () => start({ sunset: '2023-12-29' }, where),
      /GET \S+\/old.*: its sunset 2023-12-29 is less/,
    );
  assert.throws(() => start({ since: '2023-6-30' }), /2023-6-30 is not a date/);
  assert.throws(() => start({ sunset: '2023-02-30' }), /2023-02-30 is not a date/);
  assert.throws(() => start({ link: '/old' }), /\/old is not an absolute URL/);
});

test('while nothing is deprecated, sending costs nothing more, as for every route today', () => {
  const send = () => {};
  const keys = { countUse: () => {} };
  const routes = declaredRoutes();
  assert.equal(announceDeprecated({ routes, send, keys, clock: testClock() }), send);
  assert.ok(routes.some((route) => fullPath(route) === '/api/v1/members/{id}'));
});

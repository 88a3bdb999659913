/** Behind a prefix, of PUBLIC_URL or of a framework (docs/operating.md#behind-a-prefix). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ConfigError, readConfig } from '../../src/runtime/config.ts';
import { type Sent, sendToOwnRoute, startApp, type TestApp } from '../support/app.ts';
import { correct } from '../support/correct.ts';
import { nid } from '../support/importing.ts';

/** A cooperative, three members, and a former national ID of the first. */
async function start(context: TestContext, publicUrl?: string): Promise<TestApp> {
  const app = await startApp(context, publicUrl === undefined ? {} : { settings: { PUBLIC_URL: publicUrl } });
  assert.equal((await app.send('/cooperatives', post({ code: 'A-1', name: 'A' }))).status, 201);
  for (const n of [1, 2, 3]) assert.equal((await app.send('/members', post(member(n)))).status, 201);
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(1), current: nid(8) }, options),
  );
  return app;
}

const post = (body: object, idempotencyKey?: string): Sent => ({
  ...{ method: 'POST', body },
  ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
});
const member = (n: number) => ({
  ...{ cooperative_id: '1', identity_card: nid(n), member_code: `M-${n}`, full_name: `Person ${n}` },
});

/** Every address that responses hold, of requests with something before their paths. */
async function addresses(app: TestApp, before: string, port = app.port): Promise<{ [of: string]: unknown }> {
  const send = async (path: string, sent: Sent = {}) => {
    const response = await sendToOwnRoute(port, `/${before}${path}`, { key: app.fullKey, ...sent });
    assert.ok(response.status < 300, `${path} ${response.status}`);
    return response;
  };
  const list = (await send('/api/v1/members/?page_size=1&page=2')).json;
  const code = `B${before.length}-${port}`;
  const creation = post({ code, name: 'B' }, code);
  const first = (await send('/api/v1/cooperatives', creation)).headers.location;
  const replayed = (await send('/api/v1/cooperatives', creation)).headers;
  assert.deepEqual([replayed.location, replayed['idempotency-replayed']], [first, 'true']);
  const former = await send(`/api/v1/members/${nid(1)}`);
  assert.equal(former.headers['cache-control'], 'private, no-store');
  return {
    lists: [list.next, list.previous],
    location: first?.replace(/[0-9]+$/, 'N'),
    contentLocation: former.headers['content-location'],
    server: (await send('/openapi.json', { key: null })).json.servers,
  };
}

const under = (origin: string, prefix: string) => ({
  lists: ['?page=3&page_size=1', '?page_size=1'].map((query) => `${origin}${prefix}/api/v1/members/${query}`),
  location: `${prefix}/api/v1/cooperatives/N`,
  contentLocation: `${prefix}/api/v1/members/${nid(8)}`,
  server: [{ url: prefix || '/' }],
});

test('all links are under the path of PUBLIC_URL, whether a proxy removes it or not', async (context) => {
  for (const prefix of ['/registry', '/api', '/a.b/c']) {
    const app = await start(context, `https://example.rw${prefix}/`);
    for (const sent of ['', prefix])
      assert.deepEqual(await addresses(app, sent), under('https://example.rw', prefix), `${prefix} ${sent}`);
    const statusOf = async (path: string) => (await sendToOwnRoute(app.port, `/${path}`, {})).status;
    assert.equal(await statusOf(`${prefix}/healthz`), 200);
    for (const path of [prefix, `${prefix}/`]) assert.equal(await statusOf(path), 200, path);
    for (const path of [`${prefix}x/healthz`, `${prefix}${prefix}/healthz`])
      assert.equal(await statusOf(path), 404, path);
    assert.doesNotMatch(app.logLines.join(), new RegExp(`"route":"${prefix}/(?!v1)`));
  }
  const plain = await start(context);
  assert.deepEqual(await addresses(plain, ''), under(plain.url, ''));
});

test('a request that is repeated under the prefix is the same request, with the Location of the prefix', async (context) => {
  const app = await start(context, 'https://example.rw/registry');
  const creation = { ...post({ code: 'C-3', name: 'C' }, 'one'), key: app.fullKey };
  const send = async (path: string) => (await sendToOwnRoute(app.port, path, creation)).headers;
  const first = await send('/cooperatives');
  const second = await send('//registry/api/v1/cooperatives');
  assert.deepEqual([second.location, second['idempotency-replayed']], [first.location, 'true']);
});

type Mounted = IncomingMessage & { originalUrl?: string; baseUrl?: string };

/** What Express does with `app.use(path, handler)`; middie does the same but for `baseUrl`. */
async function mount(context: TestContext, app: TestApp, path: string, asMiddie = false): Promise<number> {
  const server = createServer((incoming: Mounted, outgoing) => {
    const { url = '' } = incoming;
    incoming.originalUrl = url;
    if (!asMiddie) incoming.baseUrl = path;
    incoming.url = url.slice(path.length).replace(/^(?!\/)/, '/');
    app.registry.handler(incoming, outgoing);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('a handler that a framework has mounted gives links to where it is mounted', async (context) => {
  const app = await start(context);
  for (const asMiddie of [false, true]) {
    const port = await mount(context, app, '/registry', asMiddie);
    assert.deepEqual(await addresses(app, '/registry', port), under(`http://127.0.0.1:${port}`, '/registry'));
  }
  const port = await mount(context, app, '');
  assert.deepEqual(await addresses(app, '', port), under(`http://127.0.0.1:${port}`, ''));
});

test('PUBLIC_URL without a path leaves the mount in links; one with a path is all of it', async (context) => {
  const bare = await start(context, 'https://example.rw');
  const port = await mount(context, bare, '/registry');
  assert.deepEqual(await addresses(bare, '/registry', port), under('https://example.rw', '/registry'));
  const full = await start(context, 'https://example.rw/outer/registry');
  const other = await mount(context, full, '/registry');
  assert.deepEqual(await addresses(full, '/registry', other), under('https://example.rw', '/outer/registry'));
});

test('what a framework could not have mounted does not get into links', async (context) => {
  const app = await start(context);
  for (const path of ['//evil.example', '/a/../b', '/a"b', '/%2e%2e']) {
    const port = await mount(context, app, path);
    const response = await sendToOwnRoute(port, `/${path}/api/v1/members?page_size=1`, { key: app.fullKey });
    assert.equal(response.json.next, `http://127.0.0.1:${port}/api/v1/members?page=2&page_size=1`);
  }
});

test('PUBLIC_URL has a scheme, a host and perhaps a path, without the /api/v1 of the routes', () => {
  const read = (text: string) => readConfig({ PUBLIC_URL: text }).publicUrl;
  assert.deepEqual(read('HTTPS://Example.RW:443//'), { origin: 'https://example.rw', prefix: '' });
  assert.deepEqual(read('http://[::1]:81/a/b-c_d/'), { origin: 'http://[::1]:81', prefix: '/a/b-c_d' });
  const faultOf = (text: string): string => {
    try {
      read(text);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.faults.join();
    }
    return assert.fail(text);
  };
  for (const path of ['/api/v1', '/api/v1/', '/api/v1/x', '/registry/api/v1/'])
    assert.match(faultOf(`https://example.rw${path}`), /Leave out \/api\/v1/);
  for (const path of ['/a//b', '/a b', '/a%20b', '/a/../b', '/.', '?a', '#a', '/a?b', '/a#b'])
    assert.match(faultOf(`https://example.rw${path}`), /Expected a scheme, a host and perhaps a path/);
  for (const text of ['example.rw/x', 'ftp://example.rw', 'https://', 'https://a@b.rw', 'https://a:99999'])
    assert.match(faultOf(text), /^PUBLIC_URL: Expected a scheme/);
});

/** Programs in browsers, on pages of other hosts (docs/keys.md#use-in-browsers). */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { ApiKeyValues } from '../../src/access/api-keys.ts';
import { startApp } from '../support/app.ts';

const PORTAL = 'https://portal.example.rw:8443';

async function start(context: TestContext) {
  const app = await startApp(context);
  const issue = (more: Partial<ApiKeyValues> = {}) =>
    app.issue(['members:read', 'cooperatives:write'], { allowedHosts: ['*.example.rw'], ...more });
  const send = (path: string, key: string | null, more: object = {}, origin = PORTAL) =>
    app.send(path, { key, headers: { Origin: origin }, ...more });
  return { app, issue, send };
}

/** What a browser looks for before it shows a page the response. */
const grantOf = ({ headers }: { headers: IncomingHttpHeaders }) => [
  headers['access-control-allow-origin'],
  headers.vary,
];
const GRANTED = [PORTAL, 'Origin'];
const NOT_GRANTED = [undefined, undefined];

test('a page may read what a key gets whose host allowlist has its host, and no other page', async (context) => {
  const { app, issue, send } = await start(context);
  const { key } = issue();
  const found = await send('/members', key);
  assert.deepEqual([found.status, ...grantOf(found)], [200, ...GRANTED]);
  for (const origin of [
    'https://other.rw',
    'https://example.rw',
    'null',
    '',
    `${PORTAL}, https://other.rw`,
  ]) {
    const refused = await send('/members', key, {}, origin);
    assert.deepEqual([refused.status, ...grantOf(refused)], [403, ...NOT_GRANTED], origin);
  }
  const elsewhere = await app.send('/members', { key, headers: { Referer: `${PORTAL}/page` } });
  assert.deepEqual([elsewhere.status, ...grantOf(elsewhere)], [200, ...NOT_GRANTED]);
  const open = issue({ allowedHosts: [] });
  const unlisted = await send('/members', open.key);
  assert.deepEqual([unlisted.status, ...grantOf(unlisted)], [200, ...NOT_GRANTED]);
});

test('a page may read refusals of a key for its host too, and learns nothing without such a key', async (context) => {
  const { app, issue, send } = await start(context);
  const { key, id } = issue({ limits: { perHour: 4, perDay: 1_000 } });
  const abroad = issue({ allowedAddresses: ['203.0.113.0/24'] });
  const readable: [number, () => ReturnType<typeof send>][] = [
    [403, () => send('/loans', key)],
    [403, () => send('/members', abroad.key)],
    [404, () => send('/members/999', key)],
    [400, () => send('/members?page_size=x', key)],
    [415, () => send('/cooperatives', key, { method: 'POST', raw: 'x' })],
    [
      201,
      () =>
        send('/cooperatives', key, {
          method: 'POST',
          body: { code: 'A', name: 'A' },
          headers: { Origin: PORTAL },
        }),
    ],
    [429, () => send('/members', key)],
  ];
  for (const [status, request] of readable) {
    const response = await request();
    assert.deepEqual([response.status, ...grantOf(response)], [status, ...GRANTED]);
  }
  app.keys.update(id, { isActive: false }, Math.floor(app.clock.now() / 1000));
  const disabled = await send('/members', key);
  assert.deepEqual([disabled.status, ...grantOf(disabled)], [401, ...GRANTED]);
  for (const response of [
    await send('/members', null),
    await send('/members', `crs_${'0'.repeat(36)}`),
    await send('/nothing', key),
    await send('//healthz', null),
  ])
    assert.deepEqual(grantOf(response), NOT_GRANTED);
});

test('a page may read every header that a client needs', async (context) => {
  const { app, issue, send } = await start(context);
  const { key } = issue();
  const { headers } = await send('/members', key);
  const exposed = headers['access-control-expose-headers']?.toString().toLowerCase().split(', ') ?? [];
  const needed = [
    ...['retry-after', 'etag', 'link', 'location', 'content-location', 'deprecation', 'sunset'],
    ...['x-snapshot-sequence', 'x-snapshot-epoch', 'idempotency-replayed', 'www-authenticate'],
    'x-key-expires',
  ];
  const ofHttp =
    /^(?:access-control-.*|cache-control|connection|content-length|content-type|date|keep-alive)$/;
  const sent = Object.keys(headers).filter((name) => !ofHttp.test(name));
  assert.deepEqual(
    [...needed, ...sent].filter((name) => !exposed.includes(name)),
    [],
  );
  const exported = await send('/members/export', key);
  assert.deepEqual([exported.status, ...grantOf(exported)], [200, PORTAL, 'Accept-Encoding, Origin']);
  assert.equal(
    (await app.send('/members/export', { key, headers: { Host: 'a.example.rw' } })).headers.vary,
    'Accept-Encoding',
  );
});

test('a preflight is answered without a key, with what the route takes, and uses no quota', async (context) => {
  const { app, issue, send } = await start(context);
  const { key } = issue();
  const preflight = (path: string, more: object = {}) =>
    send(path, null, {
      method: 'OPTIONS',
      headers: { Origin: PORTAL, 'Access-Control-Request-Method': 'PUT', ...more },
    });
  const { status, headers, text } = await preflight('/cooperatives/1', {
    'Access-Control-Request-Headers': 'authorization,content-type,if-match',
  });
  assert.deepEqual([status, text, headers['access-control-allow-origin']], [204, '', '*']);
  assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, OPTIONS, PATCH, PUT');
  assert.equal(
    headers['access-control-allow-headers'],
    'Authorization, Content-Type, X-Request-Id, If-None-Match, If-Match',
  );
  assert.equal(headers['access-control-max-age'], '7200');
  const posting = await preflight('/cooperatives');
  assert.match(posting.headers['access-control-allow-headers']?.toString() ?? '', /, Idempotency-Key/);
  assert.equal((await preflight('/nothing')).status, 404);
  const withKey = await send('/me', key, { method: 'OPTIONS' });
  assert.deepEqual([withKey.status, ...grantOf(withKey)], [204, ...NOT_GRANTED]);
  const { rate_limits: limits } = (await send('/me', key)).json;
  assert.equal(limits.hour.limit - limits.hour.remaining, 1);
  assert.equal(
    (await app.send('/members', { method: 'OPTIONS', key: null })).headers['access-control-max-age'],
    undefined,
  );
});

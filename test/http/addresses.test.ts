/** Addresses, the order of checks, and methods (docs/api.md#order-of-checks). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../src/http/declare/route.ts';
import { createRouter } from '../../src/http/server/request-lifecycle.ts';
import { startApp } from '../support/app.ts';
import { declaredRoutes } from '../support/openapi-file.ts';

const NID_FAULT = { detail: 'Expected a national ID of exactly 16 digits, or a member id.' };
const NOT_FOUND = { detail: 'Not found.' };

test('each path is served with and without its trailing slash, never redirected', async (context) => {
  const app = await startApp(context);
  for (const path of ['/cooperatives', '/members', '/me', '/members?page_size=1']) {
    for (const each of [path, path.replace(/(\?|$)/, '/$1')])
      assert.equal((await app.send(each)).status, 200, each);
  }
  for (const path of ['//', '//healthz', '//healthz/', '//readyz', '//openapi.json/', '//docs/']) {
    assert.equal((await app.send(path, { key: null })).status, 200, path);
  }
  const body = { code: 'A', name: 'A' };
  assert.equal((await app.send('/cooperatives/', { method: 'POST', body })).status, 201);
});

test('paths are matched as they are sent: nothing is decoded, resolved or folded', async (context) => {
  const app = await startApp(context);
  for (const path of [
    '/unknown',
    '/Members',
    '/members//',
    '//api/v1//members',
    '/%6dembers',
    '/cooperatives/%2e%2e',
    '/cooperatives/1%2fmembers',
    '/cooperatives\\1',
    '//api/v1',
    '//api/v2/members',
    '/cooperatives/1/members/1198589000123042/x',
    '/constructor',
    '/__proto__',
  ]) {
    const response = await app.send(path);
    assert.equal(response.status, 404, path);
    assert.deepEqual(response.json, NOT_FOUND);
  }
  // Two dots are a segment like any other: no cooperative and no member is called so.
  assert.equal((await app.send('/cooperatives/../members')).status, 404);
  assert.equal((await app.send('/members/..')).status, 400);
});

test('a mistyped national ID never reads as "not a member"', async (context) => {
  const app = await startApp(context);
  for (const path of [
    '119858900012304',
    '11985890001230422',
    '1%201985890001230',
    'abc',
    '1198589000123O42',
    '1234567890123',
    '~',
    '1;2',
  ]) {
    const response = await app.send(`/members/${path}`);
    assert.equal(response.status, 400, path);
    assert.deepEqual(response.json, NID_FAULT);
  }
  for (const path of ['1198589000123042', '1', '123456789012']) {
    assert.deepEqual((await app.send(`/members/${path}`)).json, NOT_FOUND, path);
  }
  for (const path of ['119858900012304', 'abc', '1%2019']) {
    const response = await app.send(`/cooperatives/1/members/${path}/`);
    assert.equal(response.status, 400, path);
    assert.deepEqual(response.json, { detail: 'Expected a national ID of exactly 16 digits.' });
  }
});

test('a malformed cooperative id is 404', async (context) => {
  const app = await startApp(context);
  for (const path of [
    '/cooperatives/x',
    '/cooperatives/1234567890123',
    '/cooperatives/x/members',
    '/cooperatives/x/members/1198589000123042',
  ]) {
    assert.equal((await app.send(path)).status, 404, path);
  }
  assert.equal((await app.send('/cooperatives/x', { method: 'PUT', body: {} })).status, 404);
});

test('PUT takes a member id only', async (context) => {
  const app = await startApp(context);
  for (const id of ['1198589000123042', 'x', '1234567890123']) {
    const response = await app.send(`/members/${id}`, { method: 'PUT', body: {} });
    assert.equal(response.status, 400);
    assert.deepEqual(response.json, { detail: 'Expected a member id.' });
  }
  assert.equal((await app.send('/members/9', { method: 'PUT', body: {} })).status, 404);
});

test('a method that the path does not have is 405 with Allow, before the key is asked for', async (context) => {
  const app = await startApp(context);
  for (const [method, path, allow] of [
    ['DELETE', '/members', 'GET, HEAD, OPTIONS, POST'],
    ['PATCH', '/members', 'GET, HEAD, OPTIONS, POST'],
    ['POST', '/members/1', 'GET, HEAD, OPTIONS, PATCH, PUT'],
    ['TRACE', '//healthz', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const response = await app.send(path, { method, key: null });
    assert.equal(response.status, 405, method);
    assert.deepEqual(response.json, { detail: `Method "${method}" not allowed.` });
    assert.equal(response.headers.allow, allow);
  }
  assert.equal((await app.send('/unknown', { method: 'DELETE', key: null })).status, 404);
});

test('OPTIONS on a known path is 204 with Allow and needs no key', async (context) => {
  const app = await startApp(context);
  const response = await app.send('/cooperatives', { method: 'OPTIONS', key: null });
  assert.equal(response.status, 204);
  assert.equal(response.headers.allow, 'GET, HEAD, OPTIONS, POST');
  assert.equal(response.text, '');
  assert.equal((await app.send('/unknown', { method: 'OPTIONS', key: null })).status, 404);
});

test('HEAD is GET without a body', async (context) => {
  const app = await startApp(context);
  const get = await app.send('/cooperatives');
  const head = await app.send('/cooperatives', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(head.headers['content-length'], get.headers['content-length']);
  assert.equal((await app.send('/cooperatives', { method: 'HEAD', key: null })).status, 401);
});

test('the checks come in order: path, method, key, restriction, scope, rate, body, handler', async (context) => {
  const app = await startApp(context);
  const { id, key } = app.issue([], { allowedHosts: ['example.rw'], limits: { perHour: 1, perDay: 1 } });
  const bad = { method: 'POST', raw: '{', headers: { 'Content-Type': 'text/plain' } };
  const status = async (sent: object, path = '/members') =>
    (await app.send(path, { ...bad, ...sent })).status;
  assert.equal(await status({ key: null }, '/nothing'), 404);
  assert.equal(await status({ key: null, method: 'PUT' }), 405);
  assert.equal(await status({ key: null }), 401);
  assert.equal(await status({ key }), 403);
  app.keys.update(id, { allowedHosts: [] }, 0);
  const scope = await app.send('/members', { ...bad, key });
  assert.match(scope.headers['www-authenticate'] ?? '', /insufficient_scope/);
  app.keys.update(id, { scopes: ['members:write'] }, 0);
  assert.equal(await status({ key }), 415);
  assert.equal(await status({ key }), 429);
});

test('what the router cannot tell apart is refused at start-up', () => {
  const [route] = declaredRoutes().filter(({ operationId }) => operationId === 'getCooperative') as [Route];
  assert.throws(() => createRouter([route, route]), /Two routes answer GET/);
  assert.throws(() => createRouter([{ ...route, params: {} }]), /does not declare/);
  const other = {
    ...route,
    path: '/cooperatives/{code}/x',
    params: { code: { description: '', schema: {} as never, example: '' } },
  };
  assert.throws(() => createRouter([route, other]), /unlike another route/);
});

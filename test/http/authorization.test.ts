/** The authorization matrix, generated from the route table (docs/api.md#order-of-checks). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiKeyValues, SCOPES, type Scope } from '../../src/access/api-keys.ts';
import { fullPath, type Route, scopesOf } from '../../src/http/declare/route.ts';
import { SAMPLE_MS } from '../../src/http/server/overload.ts';
import { type Sent, startApp, type TestApp, type TestResponse } from '../support/app.ts';
import { declaredRoutes } from '../support/openapi-file.ts';

const NID = '1198589000123042';
const DENIED = { detail: 'You do not have permission to perform this action.' };
const REALM = 'Bearer realm="cooperative-registry"';
const INVALID = `${REALM}, error="invalid_token"`;

const pathOf = (route: Route): string => fullPath(route).replace('{id}', '1').replace('{nid}', NID);

const isExport = ({ access }: Route): boolean => typeof access === 'object' && access.isExport === true;

/**
 * Sends a call of the route that passes its checks; what it makes of it does not matter here. Of an export,
 * only the query is read.
 */
function call(app: TestApp, route: Route, sent: Sent): Promise<TestResponse> {
  return app.send(`/${pathOf(route)}${isExport(route) ? '?format=none' : ''}`, {
    method: route.method,
    ...(route.body === undefined ? {} : { body: {} }),
    ...sent,
  });
}

const passed = (response: TestResponse): void =>
  assert.ok(![401, 403, 429].includes(response.status), response.text);

function denied(response: TestResponse, authenticate: string | undefined): void {
  assert.equal(response.status, 403);
  assert.deepEqual(response.json, DENIED);
  assert.equal(response.headers['www-authenticate'], authenticate);
}

function unauthenticated(response: TestResponse, detail: string, authenticate: string): void {
  assert.equal(response.status, 401);
  assert.deepEqual(response.json, { detail });
  assert.equal(response.headers['www-authenticate'], authenticate);
  assert.equal(response.headers.ratelimit, undefined);
}

const routes = declaredRoutes();
const guarded = routes.filter((route) => route.access !== 'public');
const name = (route: Route): string => `${route.method} ${fullPath(route)}`;

/** What restricted keys get of each route: refused, or past the checks. */
const NARROW: { readonly [route: string]: readonly [lookupOnly: boolean, cooperatives: boolean] } = {
  'GET /api/v1/cooperatives': [true, true],
  'GET /api/v1/cooperatives/export': [false, true],
  'GET /api/v1/cooperatives/{id}': [true, true],
  'GET /api/v1/cooperatives/{id}/members': [false, true],
  'GET /api/v1/cooperatives/{id}/members/{nid}': [true, true],
  'GET /api/v1/cooperatives/{id}/statistics': [true, true],
  'GET /api/v1/deliveries/export': [false, true],
  'GET /api/v1/events': [false, true],
  'GET /api/v1/loans': [false, true],
  'GET /api/v1/loans/export': [false, true],
  'GET /api/v1/loans/{id}': [false, true],
  'GET /api/v1/me': [true, true],
  // By national ID only: test/http/narrow-keys.test.ts.
  'GET /api/v1/members': [false, true],
  'GET /api/v1/members/export': [false, true],
  'GET /api/v1/members/{id}': [false, true],
  'GET /api/v1/members/{id}/deliveries': [false, true],
  'GET /api/v1/members/{id}/savings-transactions': [false, true],
  'GET /api/v1/payments': [false, true],
  'GET /api/v1/payments/export': [false, true],
  'GET /api/v1/payments/{id}': [false, true],
  'GET /api/v1/savings-transactions/export': [false, true],
  'GET /api/v1/statistics': [true, true],
  'PATCH /api/v1/cooperatives/{id}': [true, true],
  'PATCH /api/v1/loans/{id}': [false, true],
  'PATCH /api/v1/members/{id}': [false, true],
  'PATCH /api/v1/payments/{id}': [false, true],
  'POST /api/v1/cooperatives': [true, false],
  'POST /api/v1/loans': [false, true],
  'POST /api/v1/members': [false, true],
  'POST /api/v1/members/lookups': [true, true],
  'POST /api/v1/members/{id}/deliveries': [false, true],
  'POST /api/v1/members/{id}/savings-transactions': [false, true],
  'POST /api/v1/payments': [false, true],
  'PUT /api/v1/cooperatives/{id}': [true, true],
  'PUT /api/v1/loans/{id}': [false, true],
  'PUT /api/v1/members/{id}': [false, true],
  'PUT /api/v1/payments/{id}': [false, true],
};

test('whatever is called export needs the right to it, and nothing else does', () => {
  for (const route of routes) assert.equal(isExport(route), route.path.endsWith('/export'), name(route));
});

test('every path of the API is in the matrix', () => {
  assert.deepEqual(guarded.map(name).sort(), [
    'GET /api/v1/cooperatives',
    'GET /api/v1/cooperatives/export',
    'GET /api/v1/cooperatives/{id}',
    'GET /api/v1/cooperatives/{id}/members',
    'GET /api/v1/cooperatives/{id}/members/{nid}',
    'GET /api/v1/cooperatives/{id}/statistics',
    'GET /api/v1/deliveries/export',
    'GET /api/v1/events',
    'GET /api/v1/loans',
    'GET /api/v1/loans/export',
    'GET /api/v1/loans/{id}',
    'GET /api/v1/me',
    'GET /api/v1/members',
    'GET /api/v1/members/export',
    'GET /api/v1/members/{id}',
    'GET /api/v1/members/{id}/deliveries',
    'GET /api/v1/members/{id}/savings-transactions',
    'GET /api/v1/payments',
    'GET /api/v1/payments/export',
    'GET /api/v1/payments/{id}',
    'GET /api/v1/savings-transactions/export',
    'GET /api/v1/statistics',
    'PATCH /api/v1/cooperatives/{id}',
    'PATCH /api/v1/loans/{id}',
    'PATCH /api/v1/members/{id}',
    'PATCH /api/v1/payments/{id}',
    'POST /api/v1/cooperatives',
    'POST /api/v1/loans',
    'POST /api/v1/members',
    'POST /api/v1/members/lookups',
    'POST /api/v1/members/{id}/deliveries',
    'POST /api/v1/members/{id}/savings-transactions',
    'POST /api/v1/payments',
    'PUT /api/v1/cooperatives/{id}',
    'PUT /api/v1/loans/{id}',
    'PUT /api/v1/members/{id}',
    'PUT /api/v1/payments/{id}',
  ]);
});

for (const route of routes.filter(({ access }) => access === 'public')) {
  test(`${name(route)} needs no key`, async (context) => {
    const app = await startApp(context);
    assert.equal((await call(app, route, { key: null })).status, 200);
  });
}

test('every other route checks the key, its restrictions, its scope and its limits', async (context) => {
  const app = await startApp(context);
  const keyOf = issuedOnce(app);
  const checks: (() => Promise<void>)[] = [];
  for (const route of guarded)
    await context.test(name(route), async (each) => {
      checks.push(await checkRoute(each, app, route, keyOf));
    });
  app.clock.advance(3_600_000);
  // To the guard of overloads this was one late sample, and three make an overload: it sees the next.
  for (let i = 0; i < 2; i++) await sleep(SAMPLE_MS + 1);
  for (const check of checks) await check();
});

type KeyOf = (scopes: readonly Scope[], restriction?: Partial<ApiKeyValues>) => string;

/** Keys without limits, each issued for the first route that needs it. */
function issuedOnce(app: TestApp): KeyOf {
  const keys = new Map<string, string>();
  return (scopes, restriction) => {
    const settings = JSON.stringify([scopes, restriction]);
    const key = keys.get(settings) ?? app.issue(scopes, restriction).key;
    keys.set(settings, key);
    return key;
  };
}

/** @returns checks an hour later that the quota of the hour is free again */
async function checkRoute(
  context: TestContext,
  app: TestApp,
  route: Route,
  keyOf: KeyOf,
): Promise<() => Promise<void>> {
  await context.test('is refused with 401 without a valid key, and says why', async () => {
    const expired = app.issue(SCOPES, { expiresAt: Math.floor(app.clock.now() / 1000) });
    const disabled = app.issue(SCOPES);
    app.keys.update(disabled.id, { isActive: false }, 0);
    const { id, key: unknown } = app.issue(SCOPES);
    app.keys.connection.exec(`DELETE FROM api_key_secrets WHERE key_id = ${id}`);
    const notProvided = 'Authentication credentials were not provided.';
    const cases: [header: string | undefined, detail: string, authenticate: string][] = [
      [undefined, notProvided, REALM],
      ['', notProvided, REALM],
      ['Basic dXNlcjpwYXNz', notProvided, REALM],
      ['Bearer', 'Invalid token header. No credentials provided.', INVALID],
      ['Bearer ', 'Invalid token header. No credentials provided.', INVALID],
      ['Bearer a b', 'Invalid token header. Token string should not contain spaces.', INVALID],
      ['Bearer malformed', 'Invalid API key.', INVALID],
      [`Bearer ${app.fullKey.slice(0, -1)}`, 'Invalid API key.', INVALID],
      [`Bearer ${unknown}`, 'Invalid API key.', INVALID],
      [`Bearer ${expired.key}`, 'Invalid API key.', INVALID],
      [`bearer ${disabled.key}`, 'API key is inactive.', INVALID],
    ];
    for (const [header, detail, authenticate] of cases) {
      const headers = header === undefined ? {} : { Authorization: header };
      unauthenticated(await call(app, route, { key: null, headers }), detail, authenticate);
    }
    passed(await call(app, route, { key: null, headers: { Authorization: `bEaReR ${app.fullKey}` } }));
  });

  await context.test('is allowed to its scopes only', async () => {
    const needed = scopesOf(route);
    const missing = `${REALM}, error="insufficient_scope", scope="${needed.join(' ')}"`;
    const sets: (readonly Scope[])[] = [
      [],
      ...SCOPES.map((scope) => [scope]),
      ...needed.map((each) => SCOPES.filter((scope) => scope !== each)),
      needed,
      SCOPES,
    ];
    for (const scopes of sets) {
      const response = await call(app, route, { key: keyOf(scopes) });
      if (needed.every((scope) => scopes.includes(scope))) passed(response);
      else denied(response, missing);
    }
  });

  await context.test('respects the address and host allowlists, before the scope', async () => {
    const cases: [restriction: Partial<ApiKeyValues>, isAllowed: boolean][] = [
      [{ allowedAddresses: ['127.0.0.0/8'] }, true],
      [{ allowedAddresses: ['10.0.0.0/8', '127.0.0.1/32'] }, true],
      [{ allowedAddresses: ['10.0.0.0/8', '::1/128'] }, false],
      [{ allowedHosts: ['127.0.0.1'] }, true],
      [{ allowedHosts: ['portal.example.rw', '*.example.org'] }, false],
      [{ allowedAddresses: ['127.0.0.1/32'], allowedHosts: ['127.0.0.1'] }, true],
      [{ allowedAddresses: ['127.0.0.1/32'], allowedHosts: ['example.rw'] }, false],
      [{ allowedAddresses: ['10.0.0.1/32'], allowedHosts: ['127.0.0.1'] }, false],
    ];
    for (const [restriction, isAllowed] of cases) {
      const response = await call(app, route, { key: keyOf(SCOPES, restriction) });
      if (isAllowed) passed(response);
      else denied(response, undefined);
      // A key without the scope learns of the restriction first: no WWW-Authenticate.
      if (!isAllowed) denied(await call(app, route, { key: keyOf([], restriction) }), undefined);
    }
  });

  await context.test('is open to restricted keys only as far as it says, after the scope', async () => {
    const [lookupOnly, cooperatives] = NARROW[name(route)] as readonly [boolean, boolean];
    const cases: [restriction: Partial<ApiKeyValues>, isAllowed: boolean][] = [
      [{ isLookupOnly: true }, lookupOnly],
      [{ cooperatives: [1] }, cooperatives],
      [{ cooperatives: [] }, cooperatives],
      [{ isLookupOnly: true, cooperatives: [1] }, lookupOnly && cooperatives],
      [{ mayExport: false }, !isExport(route)],
    ];
    const needed = scopesOf(route);
    for (const [restriction, isAllowed] of cases) {
      const response = await call(app, route, { key: keyOf(SCOPES, restriction) });
      if (isAllowed) passed(response);
      else denied(response, undefined);
      if (!isAllowed) assert.equal(response.headers.ratelimit, undefined);
      if (needed.length === 0) continue;
      const challenge = `${REALM}, error="insufficient_scope", scope="${needed.join(' ')}"`;
      denied(await call(app, route, { key: keyOf([], restriction) }), challenge);
    }
  });

  const { id, key } = app.issue(SCOPES, { limits: { perHour: 2, perDay: 5 } });
  await context.test('only an admitted request consumes quota', async () => {
    app.keys.update(id, { scopes: [], allowedHosts: ['example.rw'] }, 0);
    for (let i = 0; i < 3; i++) assert.equal((await call(app, route, { key })).status, 403);
    app.keys.update(id, { allowedHosts: [] }, 0);
    if (typeof route.access !== 'string') {
      for (let i = 0; i < 3; i++) assert.equal((await call(app, route, { key })).status, 403);
    }
    app.keys.update(id, { isActive: false }, 0);
    for (let i = 0; i < 3; i++) assert.equal((await call(app, route, { key })).status, 401);
    app.keys.update(id, { scopes: SCOPES, isActive: true }, 0);
    const first = await call(app, route, { key });
    passed(first);
    assert.equal(first.headers['x-ratelimit-remaining'], '1');
    passed(await call(app, route, { key }));
    for (let i = 0; i < 3; i++) assert.equal((await call(app, route, { key })).status, 429);
  });

  return async () => {
    const after = await call(app, route, { key });
    passed(after);
    assert.match(after.headers.ratelimit as string, /^"hour";r=1;t=3600, "day";r=2;t=82800$/, name(route));
  };
}

/** What the limiter reports, to the letter (docs/api.md#rate-limits). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOON, startApp, type TestApp, temporaryFolder } from '../support/app.ts';

const HOUR = 3_600_000;

test('every response that passed the limiter reports both windows', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 1000, perDay: 10_000 } });
  await app.send('/members', { key });
  app.clock.advance(188_000);
  for (const path of ['/members', '/members/1', '/members/x', '/members?page=9'])
    await app.send(path, { key });
  const response = await app.send('/members', { key });
  assert.equal(response.headers['ratelimit-policy'], '"hour";q=1000;w=3600, "day";q=10000;w=86400');
  assert.equal(response.headers.ratelimit, '"hour";r=994;t=3412, "day";r=9994;t=86212');
  assert.equal(response.headers['x-ratelimit-limit'], '1000');
  assert.equal(response.headers['x-ratelimit-remaining'], '994');
  assert.equal(response.headers['x-ratelimit-reset'], String((NOON + HOUR) / 1000));
});

test('a restart empties the limits', async (context) => {
  const folder = temporaryFolder(context);
  const app = await startApp(context, { folder });
  const { key } = app.issue(['members:read'], { limits: { perHour: 1, perDay: 1 } });
  const statusOf = async (service: TestApp) => (await service.send('/members', { key })).status;
  assert.deepEqual([await statusOf(app), await statusOf(app)], [200, 429]);
  await app.registry.close();
  const next = await startApp(context, { folder });
  assert.deepEqual([await statusOf(next), await statusOf(next)], [200, 429]);
});

test('a throttled request learns how long to wait, and is admitted after that wait', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 1, perDay: 10 } });
  await app.send('/members', { key });
  app.clock.advance(HOUR - 57_000 + 500);
  const throttled = await app.send('/members', { key });
  assert.equal(throttled.status, 429);
  assert.deepEqual(throttled.json, { detail: 'Request was throttled. Expected available in 57 seconds.' });
  assert.equal(throttled.headers['retry-after'], '57');
  assert.match(throttled.headers.ratelimit as string, /^"hour";r=0;t=57, "day";r=9;/);
  app.clock.advance(56_499);
  const singular = await app.send('/members', { key });
  assert.deepEqual(singular.json, { detail: 'Request was throttled. Expected available in 1 second.' });
  assert.equal(singular.headers['retry-after'], '1');
  app.clock.advance(1_000);
  assert.equal((await app.send('/members', { key })).status, 200);
});

test('when both windows refuse, the longer wait wins; on a tie the longer window is shown', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 1, perDay: 1 } });
  const first = await app.send('/members', { key });
  assert.equal(first.headers['x-ratelimit-remaining'], '0');
  assert.equal(first.headers['x-ratelimit-reset'], String((NOON + 24 * HOUR) / 1000));
  assert.equal((await app.send('/members', { key })).headers['retry-after'], '86400');
});

test('a step of the wall clock neither opens nor locks the limiter', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 1, perDay: 10 } });
  await app.send('/members', { key });
  app.clock.stepWall(25 * HOUR);
  assert.equal((await app.send('/members', { key })).status, 429);
  app.clock.stepWall(-50 * HOUR);
  app.clock.advance(HOUR);
  assert.equal((await app.send('/members', { key })).status, 200);
});

test('keys have their own windows, and a changed limit takes effect from the next request', async (context) => {
  const app = await startApp(context);
  const one = app.issue(['members:read'], { limits: { perHour: 1, perDay: 10 } });
  const two = app.issue(['members:read'], { limits: { perHour: 1, perDay: 10 } });
  assert.equal((await app.send('/members', one)).status, 200);
  assert.equal((await app.send('/members', two)).status, 200);
  assert.equal((await app.send('/members', one)).status, 429);
  app.keys.update(one.id, { limits: { perHour: 3, perDay: 10 } }, 0);
  const more = await app.send('/members', one);
  assert.equal(more.status, 200);
  assert.equal(more.headers['x-ratelimit-remaining'], '1');
});

test('a rotated key keeps its id, its limits and its quota, with two valid secrets during the overlap', async (context) => {
  const app = await startApp(context);
  const { id, key } = app.issue(['members:read'], { limits: { perHour: 2, perDay: 10 } });
  const { issueSecret } = await import('../../src/access/api-keys.ts');
  const secret = issueSecret();
  const now = NOON / 1000;
  await app.send('/members', { key });
  app.keys.rotate(id, secret, 60, now);
  const rotated = await app.send('/members', { key: secret.text });
  assert.equal(rotated.headers['x-ratelimit-remaining'], '0');
  assert.equal((await app.send('/members', { key })).status, 429);
  app.clock.advance(59_000);
  assert.equal((await app.send('/members', { key })).status, 429);
  app.clock.advance(1_000);
  assert.deepEqual((await app.send('/members', { key })).json, { detail: 'Invalid API key.' });
  assert.equal((await app.send('/members', { key: secret.text })).status, 429);
});

test('the caller sees its scopes, restrictions, limits and usage', async (context) => {
  const app = await startApp(context);
  const { id, key } = app.issue(['members:read'], {
    limits: { perHour: 5, perDay: 50 },
    allowedAddresses: ['127.0.0.1/32'],
    expiresAt: NOON / 1000 + 60,
  });
  assert.deepEqual((await app.send('/me', { key })).json, {
    id: String(id),
    name: 'test',
    scopes: ['members:read'],
    allowed_addresses: ['127.0.0.1/32'],
    allowed_hosts: [],
    lookup_only: false,
    allow_export: true,
    cooperatives: null,
    purpose: null,
    require_purpose: false,
    expires_at: '2025-06-15T12:01:00+02:00',
    rate_limits: {
      hour: { limit: 5, window_seconds: 3600, remaining: 4, reset_seconds: 3600 },
      day: { limit: 50, window_seconds: 86400, remaining: 49, reset_seconds: 86400 },
    },
  });
});

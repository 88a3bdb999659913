/** Requests that are repeated with an Idempotency-Key (docs/api.md#repeating-a-request). */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { SCOPES } from '../../src/access/api-keys.ts';
import { exampleOfBody } from '../../src/reference/openapi.ts';
import { type Sent, startApp, type TestApp, type TestResponse, temporaryFolder } from '../support/app.ts';
import { declaredRoutes } from '../support/openapi-file.ts';
import { openFile } from '../support/sqlite.ts';

const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324';
const COOPERATIVE = { code: 'A-1', name: 'Abahuje' };
const DAY_MS = 86_400_000;
const STILL_RUNNING = { detail: 'A request with this Idempotency-Key is still running.' };
const USED = { detail: 'This Idempotency-Key was used for another request.' };
const MALFORMED = { detail: 'Expected one Idempotency-Key of 1 to 255 printable ASCII characters.' };

const post = (
  app: TestApp,
  body: unknown,
  idempotencyKey: string | string[] = KEY,
  { path = '/cooperatives', ...more }: Sent & { path?: string } = {},
): Promise<TestResponse> =>
  app.send(path, { method: 'POST', body, headers: { 'Idempotency-Key': idempotencyKey }, ...more });

const isReplay = ({ headers }: TestResponse): boolean => headers['idempotency-replayed'] === 'true';

/** Checks that a response is the first one again. */
function sameAs(replay: TestResponse, first: TestResponse): void {
  assert.ok(isReplay(replay), `${replay.status} ${replay.text}`);
  assert.equal(replay.status, first.status);
  assert.equal(replay.text, first.text);
  assert.equal(replay.headers.location, first.headers.location);
  assert.equal(replay.headers.etag, first.headers.etag);
}

const countOf = async (app: TestApp): Promise<number> => (await app.send('/cooperatives')).json.count;

/** Requests reach their transactions while the lock is held, and run when it is released. */
async function whileLocked<T>(context: TestContext, app: TestApp, start: () => Promise<T>[]): Promise<T[]> {
  const lock = openFile(app.config.storage);
  context.after(() => lock.close());
  lock.exec('BEGIN IMMEDIATE');
  const started = start();
  await setTimeout(200);
  lock.exec('COMMIT');
  return Promise.all(started);
}

test('every POST gets its first answer again: status, body, Location and ETag; nothing is added', async (context) => {
  const app = await startApp(context);
  const routes = declaredRoutes().filter((route) => 'creation' in route);
  assert.ok(routes.length >= 4);
  for (const { path: template, body, createsPart } of routes) {
    const path = template.replace('{id}', '1');
    const example = body && exampleOfBody(body);
    const key = KEY + path.replace('/', '-');
    const first = await post(app, example, key, { path });
    assert.equal(first.status, 201, first.text);
    assert.equal(isReplay(first), false);
    for (const name of ['location', 'etag']) assert.equal(name in first.headers, createsPart !== true, name);
    const count = (await app.send(path)).json.count;
    for (const again of [path, `${path}/`]) sameAs(await post(app, example, key, { path: again }), first);
    assert.equal((await app.send(path)).json.count, count);
  }
  // Charged once.
  assert.equal((await app.send('/loans/1')).json.paid_amount, (await app.send('/payments/1')).json.amount);
});

test('the first answer is given again after the row has changed, and after the service was restarted', async (context) => {
  const folder = temporaryFolder(context);
  const app = await startApp(context, { folder });
  const first = await post(app, COOPERATIVE);
  await app.send('/cooperatives/1', { method: 'PATCH', body: { code: 'B-2' } });
  sameAs(await post(app, COOPERATIVE), first);
  await app.registry.close();
  const next = await startApp(context, { folder });
  sameAs(await post(next, COOPERATIVE, KEY, { key: app.fullKey }), first);
});

test('a key is the same in quotes and without; everything else in the header makes another or is 400', async (context) => {
  const app = await startApp(context);
  const first = await post(app, COOPERATIVE, 'order 1\\');
  sameAs(await post(app, COOPERATIVE, '"order 1\\\\"'), first);
  const longest = 'x'.repeat(255);
  const other = await post(app, { ...COOPERATIVE, code: 'B' }, longest);
  sameAs(await post(app, { ...COOPERATIVE, code: 'B' }, `"${longest}"`), other);
  assert.equal((await post(app, { ...COOPERATIVE, code: 'C' }, 'ORDER 1\\')).status, 201);
  const count = await countOf(app);
  for (const malformed of [
    ...['', '""', '"', '"a', 'a"', 'a"b', '"a"b', '"a";b=1', '"a\\b"', 'é', '"é"', 'a\tb'],
    ...[`${longest}x`, `"${longest}x"`],
    [KEY, 'b'],
    [KEY, KEY],
  ]) {
    const refused = await post(app, { ...COOPERATIVE, code: 'D' }, malformed);
    assert.equal(refused.status, 400, String(malformed));
    assert.deepEqual(refused.json, MALFORMED);
  }
  assert.equal(await countOf(app), count);
});

test('the key of another request is 422: another body, byte for byte, or another path', async (context) => {
  const app = await startApp(context);
  const raw = JSON.stringify(COOPERATIVE);
  const headers = { 'Idempotency-Key': KEY, 'Content-Type': 'application/json' };
  const first = await app.send('/cooperatives', { method: 'POST', raw, headers });
  sameAs(await app.send('/cooperatives/', { method: 'POST', raw, headers }), first);
  const others: [path: string, raw: string][] = [
    ['/cooperatives', ` ${raw}`],
    ['/cooperatives', raw.replace('A-1', 'B-2')],
    ['/cooperatives', '{}'],
    ['/cooperatives', ''],
    ['/members', raw],
  ];
  for (const [path, body] of others) {
    const refused = await app.send(path, { method: 'POST', raw: body, headers });
    assert.equal(refused.status, 422, body);
    assert.deepEqual(refused.json, USED);
  }
  assert.equal(await countOf(app), 1);
});

test('two API keys never see the answers of each other', async (context) => {
  const app = await startApp(context);
  const other = app.issue(SCOPES).key;
  const mine = await post(app, COOPERATIVE);
  const theirs = await post(app, { ...COOPERATIVE, code: 'B-2' }, KEY, { key: other });
  assert.equal(theirs.status, 201);
  assert.equal(isReplay(theirs), false);
  sameAs(await post(app, COOPERATIVE), mine);
  sameAs(await post(app, { ...COOPERATIVE, code: 'B-2' }, KEY, { key: other }), theirs);
});

test('an answer is kept for 24 hours, and its key is free afterwards', async (context) => {
  const app = await startApp(context);
  const first = await post(app, COOPERATIVE);
  app.clock.advance(DAY_MS - 1000);
  sameAs(await post(app, COOPERATIVE), first);
  app.clock.advance(1000);
  const later = await post(app, { ...COOPERATIVE, code: 'B-2' });
  assert.equal(later.status, 201);
  assert.equal(isReplay(later), false);
  sameAs(await post(app, { ...COOPERATIVE, code: 'B-2' }), later);
});

test('writes remove the answers that are older than 24 hours, a few at a time', async (context) => {
  const app = await startApp(context);
  for (let i = 0; i < 20; i++) await post(app, { ...COOPERATIVE, code: `A-${i}` }, `key-${i}`);
  const db = openFile(app.config.storage);
  context.after(() => db.close());
  const kept = () => db.raw.prepare('SELECT count(*) FROM idempotent_responses').pluck().get();
  app.clock.advance(DAY_MS - 1000);
  await app.send('/cooperatives', { method: 'POST', body: { ...COOPERATIVE, code: 'B' } });
  assert.equal(kept(), 20);
  app.clock.advance(1000);
  const counts = [];
  // A POST with a key, one without, a PATCH that changes nothing.
  const body = { ...COOPERATIVE, code: 'C' };
  for (const write of [
    () => post(app, body, 'new'),
    () => app.send('/cooperatives', { method: 'POST', body: { ...body, code: 'D' } }),
    () => app.send('/cooperatives/1', { method: 'PATCH', body: {} }),
  ]) {
    assert.ok((await write()).status < 300);
    counts.push(kept());
  }
  assert.deepEqual(counts, [13, 5, 1]);
});

test('only an answer of success is kept: after a refusal the same key takes the corrected request', async (context) => {
  const app = await startApp(context);
  await app.send('/cooperatives', { method: 'POST', body: { ...COOPERATIVE, code: 'TAKEN' } });
  for (const body of [{ code: 'A-1' }, { ...COOPERATIVE, code: 'TAKEN' }, []])
    for (let i = 0; i < 2; i++) assert.equal((await post(app, body)).status, 400);
  assert.equal((await post(app, COOPERATIVE)).status, 201);
});

test('a replay uses quota, and needs the scope, like any request', async (context) => {
  const app = await startApp(context);
  const { id, key } = app.issue(['cooperatives:write'], { limits: { perHour: 3, perDay: 9 } });
  await post(app, COOPERATIVE, KEY, { key });
  const again = await post(app, COOPERATIVE, KEY, { key });
  assert.ok(isReplay(again));
  assert.equal(again.headers['x-ratelimit-remaining'], '1');
  await post(app, COOPERATIVE, KEY, { key });
  assert.equal((await post(app, COOPERATIVE, KEY, { key })).status, 429);
  app.clock.advance(3_600_000);
  app.keys.update(id, { scopes: ['cooperatives:read'] }, 0);
  assert.equal((await post(app, COOPERATIVE, KEY, { key })).status, 403);
});

test('while the first request runs, its key is 409 with Retry-After, whatever else is sent', async (context) => {
  const app = await startApp(context);
  const [first, ...others] = await whileLocked(context, app, () => [
    post(app, COOPERATIVE),
    setTimeout(50).then(() => post(app, COOPERATIVE)),
    setTimeout(50).then(() => post(app, { ...COOPERATIVE, code: 'B-2' })),
  ]);
  assert.equal(first?.status, 201);
  for (const other of others) {
    assert.equal(other.status, 409);
    assert.deepEqual(other.json, STILL_RUNNING);
    assert.equal(other.headers['retry-after'], '1');
  }
  assert.ok(isReplay(await post(app, COOPERATIVE)));
  // A key is free again after a refusal, too.
  assert.equal((await post(app, {}, 'second')).status, 400);
  assert.equal((await post(app, { ...COOPERATIVE, code: 'C-3' }, 'second')).status, 201);
});

test('of two processes that get the same request at once, one creates and both give its answer', async (context) => {
  const folder = temporaryFolder(context);
  const apps = [await startApp(context, { folder }), await startApp(context, { folder })] as const;
  const key = apps[0].fullKey;
  const both = await whileLocked(context, apps[0], () =>
    apps.map((app) => post(app, COOPERATIVE, KEY, { key })),
  );
  assert.deepEqual(both.map(isReplay).sort(), [false, true]);
  const [created, replayed] = isReplay(both[0] as TestResponse) ? both.reverse() : both;
  sameAs(replayed as TestResponse, created as TestResponse);
  assert.equal(await countOf(apps[0]), 1);
  const different = await whileLocked(context, apps[0], () =>
    apps.map((app, i) => post(app, { ...COOPERATIVE, code: `B-${i}` }, 'second', { key })),
  );
  assert.deepEqual(different.map(({ status }) => status).sort(), [201, 422]);
});

test('100 requests at once with one key create one row', async (context) => {
  const app = await startApp(context);
  const responses = await Promise.all(Array.from({ length: 100 }, () => post(app, COOPERATIVE)));
  const created = responses.filter((response) => response.status === 201 && !isReplay(response));
  assert.equal(created.length, 1);
  for (const response of responses) assert.ok([201, 409].includes(response.status), response.text);
  assert.equal(await countOf(app), 1);
});

test('the header is ignored where nothing is created, and its value is in no log line', async (context) => {
  const app = await startApp(context);
  await post(app, COOPERATIVE);
  await post(app, { ...COOPERATIVE, code: 'B-2' });
  for (const [method, path] of [
    ['GET', '/cooperatives'],
    ['PATCH', '/cooperatives/1'],
  ] as const) {
    const body = method === 'GET' ? {} : { body: { name: 'Other' } };
    const headers = { 'Idempotency-Key': '"' };
    assert.equal((await app.send(path, { method, headers, ...body })).status, 200);
  }
  assert.ok(app.logLines.length >= 4);
  assert.equal(app.logLines.filter((line) => line.includes(KEY)).length, 0);
});

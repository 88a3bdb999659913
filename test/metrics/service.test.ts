/** `/metrics` of a service (docs/operating.md#metrics). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { verifyAndRecordBackup, writeAndRecordBackup } from '../../src/backup/numbered-backups.ts';
import { readStatus } from '../../src/health/registry-status.ts';
import { openWebhooks } from '../../src/webhooks/open-webhook-store.ts';
import { metricsAddress, startApp, type TestApp, temporaryFolder } from '../support/app.ts';
import { openSocket } from '../support/raw.ts';

const NID = '1198589000123042';

interface Measured {
  readonly app: TestApp;
  readonly url: string;
  /** The lines that start with a text. */
  read(start: string): Promise<string[]>;
}

async function startMeasured(context: TestContext): Promise<Measured> {
  const app = await startApp(context, { settings: { METRICS: '127.0.0.1:0' } });
  const url = `http://127.0.0.1:${metricsAddress(app)?.port}/metrics`;
  const read = async (start: string) =>
    (await (await fetch(url)).text()).split('\n').filter((line) => line.startsWith(start));
  return { app, url, read };
}

test('requests are counted by template, method and status, and unknown paths under one name', async (context) => {
  const { app, url, read } = await startMeasured(context);
  await app.send(`/members/${NID}/`);
  await app.send(`/members/${NID}/`, { method: 'OPTIONS' });
  await app.send('//nobody/knows/1', { key: null });
  await app.send(`//nobody/${NID}`, { key: null });
  assert.deepEqual(await read('registry_http_requests_total{'), [
    'registry_http_requests_total{route="/api/v1/members/{id}",method="GET",status="404"} 1',
    'registry_http_requests_total{route="/api/v1/members/{id}",method="OTHER",status="204"} 1',
    'registry_http_requests_total{route="unknown",method="GET",status="404"} 2',
  ]);
  const counted = await read('registry_http_request_duration_seconds_count{route="unknown"');
  assert.deepEqual(counted, ['registry_http_request_duration_seconds_count{route="unknown",method="GET"} 2']);
  assert.deepEqual(await read('registry_limiter_keys'), ['registry_limiter_keys 1']);
  const all = await (await fetch(url)).text();
  assert.doesNotMatch(all, /119858|crs_|nobody|127\.0\.0\.1/);
});

test('refusals are counted by reason', async (context) => {
  const { app, read } = await startMeasured(context);
  const { key } = app.issue(['members:read'], { limits: { perHour: 1, perDay: 1 } });
  await app.send('/members/', { key: null });
  await app.send('/members/', { key: null });
  await app.send('/cooperatives/', { key });
  await app.send('/members/', { key });
  await app.send('/members/', { key });
  assert.deepEqual(await read('registry_refusals_total{'), [
    'registry_refusals_total{status="401",reason="missing_key"} 2',
    'registry_refusals_total{status="403",reason="scope"} 1',
    'registry_refusals_total{status="429",reason="throttled_day"} 1',
  ]);
});

test('transactions of writes are measured', async (context) => {
  const { app, read } = await startMeasured(context);
  const body = { code: 'C-1', name: 'Abahuzamugambi', province: 'South', district: 'Huye' };
  assert.equal((await app.send('/cooperatives/', { method: 'POST', body })).status, 201);
  const counted = await read('registry_group_commit_');
  const name = 'registry_group_commit_duration_seconds_count';
  for (const line of [
    'registry_group_commit_writes_sum 1',
    'registry_group_commit_writes_count 1',
    `${name} 1`,
  ])
    assert.ok(counted.includes(line), line);
});

test('how the registry is doing is looked up once a second, and what is not known is left out', async (context) => {
  const { app, read } = await startMeasured(context);
  const { storage } = app.registry;
  assert.deepEqual(await read('registry_ready'), ['registry_ready 1']);
  assert.deepEqual(await read('registry_rows{table="members"}'), ['registry_rows{table="members"} 0']);
  assert.deepEqual(await read('registry_feed_sequence'), ['registry_feed_sequence 0']);
  assert.deepEqual(await read('registry_last_'), []);
  assert.deepEqual(await read('registry_webhook_'), []);

  const body = { code: 'C-1', name: 'Abahuzamugambi', province: 'South', district: 'Huye' };
  await app.send('/cooperatives/', { method: 'POST', body });
  const folder = join(temporaryFolder(context), 'backup');
  await writeAndRecordBackup(storage, folder, { program: '1.0.0', now: () => 6_500 });
  assert.deepEqual(await read('registry_feed_sequence'), ['registry_feed_sequence 0']);
  app.clock.advance(1_000);
  assert.deepEqual(await read('registry_feed_sequence'), ['registry_feed_sequence 1']);
  const backup = (isVerified: 0 | 1, isPresent: 0 | 1 = 1) => [
    'registry_last_backup_timestamp_seconds 6.5',
    `registry_last_backup_verified ${isVerified}`,
    `registry_last_backup_present ${isPresent}`,
  ];
  assert.deepEqual(await read('registry_last_'), backup(0));
  await verifyAndRecordBackup(storage, folder, () => 7_000);
  app.clock.advance(1_000);
  assert.deepEqual(await read('registry_last_'), backup(1));
  rmSync(folder, { recursive: true });
  app.clock.advance(1_000);
  assert.deepEqual(await read('registry_last_'), backup(1, 0));

  await app.registry.store.close();
  assert.equal((await app.send('//readyz')).status, 503);
  assert.deepEqual(await read('registry_ready'), ['registry_ready 0']);
  assert.deepEqual(await read('registry_refusals_total{status="503"'), [
    'registry_refusals_total{status="503",reason="not_ready"} 1',
  ]);
});

test('when the files cannot be read, the log says so, and the counts are served without them', async (context) => {
  const { app, read } = await startMeasured(context);
  rmSync(app.config.storage);
  assert.deepEqual(await read('registry_rows'), []);
  assert.equal((await read('registry_limiter_keys')).length, 1);
  const line = app.logLines.map((text) => JSON.parse(text)).find(({ level }) => level === 'error');
  assert.match(line.cause, /registry\.db is missing/);
});

test('the lag of each endpoint of a webhook is that of its oldest event', async (context) => {
  const { app, read } = await startMeasured(context);
  const { storage } = app.registry;
  const body = { code: 'C-1', name: 'Abahuzamugambi', province: 'South', district: 'Huye' };
  await app.send('/cooperatives/', { method: 'POST', body });
  const { epoch = '' } = (await readStatus(storage)).sequence ?? {};
  const webhooks = openWebhooks(storage, 'issue');
  // A key that does not exist: nothing is delivered.
  const values = { keyId: 99, url: 'https://example.rw/hook', types: null, allowsPrivate: false };
  for (const sequence of [1, 0]) await webhooks.add(values, new Uint8Array(24), { epoch, sequence }, 1);
  await webhooks.close();
  app.clock.advance(60_000);
  assert.deepEqual(await read('registry_webhook_'), [
    'registry_webhook_lag_seconds{endpoint="1"} 0',
    'registry_webhook_lag_seconds{endpoint="2"} 60',
    'registry_webhook_lag_events{endpoint="1"} 0',
    'registry_webhook_lag_events{endpoint="2"} 1',
    'registry_webhook_failures{endpoint="1"} 0',
    'registry_webhook_failures{endpoint="2"} 0',
    'registry_webhook_disabled{endpoint="1"} 0',
    'registry_webhook_disabled{endpoint="2"} 0',
  ]);
});

test('only GET and HEAD of /metrics are answered there, and the service itself has no such path', async (context) => {
  const { app, url } = await startMeasured(context);
  const head = await fetch(`${url}?at=once`, { method: 'HEAD' });
  assert.deepEqual(
    [head.status, head.headers.get('content-type'), await head.text()],
    [200, 'text/plain; version=0.0.4; charset=utf-8', ''],
  );
  const posted = await fetch(url, { method: 'POST', body: 'x' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
  for (const path of ['/', '/metrics/', '/api/v1/members/'])
    assert.equal((await fetch(new URL(path, url))).status, 404, path);
  assert.equal((await app.send('//metrics')).status, 404);
  assert.deepEqual(
    app.registry.routes.filter(({ path }) => path.includes('metrics')),
    [],
  );
});

test('a few connections are taken, and those beyond are closed', { timeout: 20_000 }, async (context) => {
  const { app } = await startMeasured(context);
  const port = metricsAddress(app)?.port ?? assert.fail();
  for (let open = 0; open < 16; open++) await openSocket(context, port);
  const beyond = await openSocket(context, port);
  await once(beyond, 'close');
});

test('nothing is served when METRICS is not set, and nothing after the service has stopped', async (context) => {
  const app = await startApp(context);
  assert.equal(metricsAddress(app), undefined);
  const { app: stopped, url } = await startMeasured(context);
  await stopped.registry.close();
  await assert.rejects(fetch(url));
});

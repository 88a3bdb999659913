/** Webhooks when services start, end, take over from each other, and after a restore (docs/webhooks.md). */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebhookStore } from '../../src/webhooks/open-webhook-store.ts';
import { startApp, temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { startReceiver } from '../support/receiver.ts';
import { openFile } from '../support/sqlite.ts';
import { startWebhooks, until } from '../support/webhooks.ts';

const FAST = { lookMs: 5 };

test('a service goes on where the one before it ended', async (context) => {
  const { app, receiver, add, create } = await startWebhooks(context);
  await add();
  await create('C-1');
  await receiver.waitFor(1);
  receiver.answer = 503;
  await create('C-2');
  await receiver.waitFor(2);
  await app.registry.close();
  receiver.answer = 200;
  const folder = dirname(app.config.storage);
  const startMs = app.clock.now() + 5_001;
  const next = await startApp(context, { folder, startMs, webhooks: FAST });
  await next.send('/cooperatives', { method: 'POST', body: { code: 'C-3', name: 'Third' } });
  await receiver.waitFor(4);
  const sequences = receiver.deliveries.map(({ json }) => json.sequence);
  assert.deepEqual(sequences, [1, 2, 2, 3]);
  assert.equal(receiver.deliveries[1]?.id, receiver.deliveries[2]?.id);
});

test('what was to be tried again by a clock that was years ahead is tried within a day or so', async (context) => {
  const startMs = Date.now();
  const ahead = startMs + 5 * 365 * 24 * 3_600_000;
  const { app, receiver, add, create, stored } = await startWebhooks(context, {}, { startMs: ahead });
  receiver.answer = 503;
  await add();
  await create('C-1');
  await until(async () => (await stored()).failures === 1);
  await app.registry.close();
  receiver.answer = 200;
  const next = await startApp(context, { folder: dirname(app.config.storage), startMs, webhooks: FAST });
  // It has looked at its endpoints when it serves another.
  const other = await startReceiver(context);
  await add('--url', other.url);
  await next.send('/cooperatives', { method: 'POST', body: { code: 'C-2', name: 'Second' } });
  await other.waitFor(1);
  assert.equal(receiver.deliveries.length, 1);
  next.clock.advance(1.1 * 24 * 3_600_000 + 1);
  await receiver.waitFor(3);
  assert.deepEqual(
    receiver.deliveries.map(({ json }) => json.sequence),
    [1, 1, 2],
  );
});

test('of two services on one registry one delivers, and the other takes over when it ends', async (context) => {
  const { app, receiver, add, create } = await startWebhooks(context);
  await add();
  await create('C-1');
  await receiver.waitFor(1);
  const folder = dirname(app.config.storage);
  const other = await startApp(context, { folder, webhooks: FAST, startMs: app.clock.now() });
  const post = (code: string) => other.send('/cooperatives', { method: 'POST', body: { code, name: code } });
  for (const code of ['C-2', 'C-3', 'C-4']) {
    await create(code);
    await post(`${code}-OTHER`);
  }
  await receiver.waitFor(7);
  await app.registry.close();
  await post('C-5');
  await receiver.waitFor(8);
  assert.deepEqual(
    receiver.deliveries.map(({ json }) => json.sequence),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
});

test('without an endpoint no file is created, and the first one is noticed', async (context) => {
  const { app, add, create, receiver } = await startWebhooks(context);
  const file = app.config.storage.replace('.db', '.webhooks.db');
  await create('C-1');
  assert.ok(!existsSync(file) && !existsSync(file.replace('.db', '.lock')));
  await add();
  await create('C-2');
  await receiver.waitFor(1);
  assert.ok(existsSync(file));
});

test('what cannot be stored is reported once, and deliveries go on when it can', async (context) => {
  const { app, receiver, add, create } = await startWebhooks(context);
  await add();
  await create('C-1');
  await receiver.waitFor(1);
  const other = openFile(app.config.storage.replace('.db', '.webhooks.db'));
  context.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  await create('C-2');
  const reports = () => app.logLines.filter((line) => line.includes('"webhooks: '));
  await until(() => reports().length > 0);
  // Long enough for a dozen more looks.
  await sleep(100);
  assert.equal(reports().length, 1);
  other.exec('COMMIT');
  await create('C-3');
  await receiver.waitFor(3);
  assert.deepEqual(
    receiver.deliveries.map(({ json }) => json.sequence),
    [1, 2, 3],
  );
});

test('a change that cannot be read is read later', async (context) => {
  const { app, receiver, add, create } = await startWebhooks(context);
  const list = context.mock.method(WebhookStore.prototype, 'list', () => {
    list.mock.restore();
    throw new Error('disk I/O error');
  });
  await add();
  await until(() => app.logLines.some((line) => line.includes('webhooks: disk I/O error')));
  await create('C-1');
  await receiver.waitFor(1);
});

test('after a restore receivers are told to start again, and get what follows', async (context) => {
  const { app, receiver, add, create, json, run } = await startWebhooks(context);
  const db = app.config.storage;
  const folder = join(temporaryFolder(context), 'backup');
  await create('C-1');
  await add();
  assert.equal((await command(['backup', folder, '--db', db])).status, 0);
  await create('C-2');
  await create('C-3');
  await receiver.waitFor(2);
  app.keys.close();
  await app.registry.close();
  const restored = await command(['restore', folder, '--db', db, '--replace']);
  assert.equal(restored.status, 0, restored.err);
  assert.match(
    restored.err,
    /it posts to them\. .*: .*webhooks list --db \S+, .*webhooks remove ID --db \S+\n$/,
  );
  const files = readdirSync(dirname(db), { recursive: true, encoding: 'utf8' });
  assert.ok(
    files.some((name) => /replaced-.*registry\.webhooks\.db$/.test(name)),
    files.join(),
  );
  const again = await startApp(context, { folder: dirname(db), webhooks: FAST });
  receiver.answer = 503;
  await receiver.waitFor(3);
  receiver.answer = 200;
  await until(async () => (await json('list')).webhooks[0].failures === 1);
  assert.equal((await json('list')).webhooks[0].failing_sequence, null);
  assert.match((await run('list')).out, /\(feed\.restarted failed once, next attempt /);
  again.clock.advance(6_000);
  await receiver.waitFor(4);
  await again.send('/cooperatives', { method: 'POST', body: { code: 'C-4', name: 'Fourth' } });
  const [before, , refused, restart, after] = await receiver.waitFor(5);
  const { epoch } = (await again.send('/events')).json;
  assert.deepEqual(restart?.json.type, 'feed.restarted');
  assert.equal(restart?.id, refused?.id);
  assert.deepEqual(restart?.json.data, { epoch, last_sequence: 1 });
  assert.equal(after?.json.sequence, 2);
  assert.equal(before?.json.sequence, 2);
  assert.notEqual(after?.id, before?.id);
  assert.ok(again.logLines.some((line) => line.includes('begins again after event 1')));
  assert.equal((await json('list')).webhooks[0].last_sequence >= 1, true);
});

test('check looks into the file', async (context) => {
  const { app, add } = await startWebhooks(context);
  await add();
  const { status, out } = await command(['check', '--db', app.config.storage]);
  assert.equal(status, 0);
  assert.match(out, /webhooks: integrity[\s\S]*rows of webhook_endpoints +ok, 1/);
});

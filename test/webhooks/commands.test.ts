/** `webhooks`: what the operator's command prints and stores (docs/webhooks.md). */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { formatDateTime, KIGALI } from '../../src/values/date-time.ts';
import type { Delivery } from '../support/receiver.ts';
import { verify } from '../support/receiver.ts';
import { startWebhooks, until } from '../support/webhooks.ts';

test('add prints the secret once, into a file that only its owner can read', async (context) => {
  const { app, add, json, run, receiver } = await startWebhooks(context);
  const added = await add('--events', 'import.*');
  assert.match(added.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(added.id, '1');
  const [shown] = (await json('list')).webhooks;
  assert.deepEqual(
    [shown.url, shown.state, shown.events, shown.allow_private],
    [receiver.url, 'active', ['import.completed', 'import.undone'], true],
  );
  assert.ok(!(await run('list')).out.includes('whsec_'));
  assert.match((await run('list')).out, /^ID +KEY +STATE +DONE UP TO/);
  const file = app.config.storage.replace('.db', '.webhooks.db');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const unknown = await run('add', '--key', '2', '--url', receiver.url, '--events', 'member.gone');
  assert.equal(unknown.status, 2);
  assert.match(unknown.err, /Known types: cooperative\.\*, /);
});

test('during a rotation deliveries carry both signatures, then the new one only', async (context) => {
  const { app, receiver, add, create, json, run } = await startWebhooks(context);
  const old = await add();
  const { secret } = await json('rotate', '1', '--overlap', '30m');
  assert.notEqual(secret, old.secret);
  await create('C-1');
  const [both] = (await receiver.waitFor(1)) as [Delivery];
  assert.equal(both.headers['webhook-signature']?.split(' ').length, 2);
  for (const each of [old.secret, secret]) verify(each, both);
  app.clock.advance(1_800_000);
  await create('C-2');
  await receiver.waitFor(2);
  assert.equal(receiver.deliveries[1]?.headers['webhook-signature']?.split(' ').length, 1);
  const third = (await json('rotate', '1')).secret;
  const end = formatDateTime(Math.floor(app.clock.now() / 1000) + 1800, KIGALI);
  const { out } = await run('rotate', '1', '--overlap', '30m');
  assert.ok(out.includes(`; the old secret signs as well until ${end}.\n\nwhsec_`), out);
  assert.match((await run('rotate', '1')).out, /; the old secret has ended\.\n\nwhsec_/);
  await create('C-3');
  const last = (await receiver.waitFor(3))[2] as Delivery;
  assert.equal(last.headers['webhook-signature']?.split(' ').length, 1);
  assert.notEqual(third, secret);
});

test('test sends a signed message, and deliveries shows what was sent', async (context) => {
  const { app, receiver, add, create, run, json, keyId } = await startWebhooks(context);
  const { secret } = await add();
  assert.equal((await json('test', '1')).delivered, true);
  const [message] = receiver.deliveries as [Delivery];
  verify(secret, message);
  assert.equal(message.json.type, 'webhook.test');
  await create('C-1');
  await until(async () => (await json('deliveries', '1')).deliveries.length === 2);
  const [delivery] = (await json('deliveries', '1')).deliveries;
  assert.deepEqual(
    [delivery.type, delivery.sequence, delivery.status, delivery.delivered, delivery.fault],
    ['cooperative.created', 1, 204, true, null],
  );
  assert.match((await run('deliveries', '1')).out, /cooperative\.created +1 +delivered \(204\)/);
  receiver.answer = 500;
  const refused = await run('test', '1');
  assert.deepEqual([refused.status, refused.err], [1, 'Not delivered. The response was 500.\n']);
  assert.equal(
    (await run('test', '7')).err,
    'There is no endpoint with this id. `webhooks list` shows all.\n',
  );
  app.keys.update(keyId, { isActive: false }, 0);
  assert.match((await run('replay', '1', '1')).err, /^Nothing was sent: .* the key is disabled\.\n$/);
});

test('the last hundred attempts of each kind are kept', async (context) => {
  const { receiver, add, create, json, stored } = await startWebhooks(context);
  await add();
  for (let n = 0; n < 105; n++) await create(`C-${n}`);
  await receiver.waitFor(105);
  await until(async () => (await stored()).position.sequence === 105);
  const { deliveries } = await json('deliveries', '1');
  assert.deepEqual([deliveries.length, deliveries[0].sequence, deliveries[99].sequence], [100, 105, 6]);
});

test('remove asks, and nothing is delivered afterwards', async (context) => {
  const { add, run, json } = await startWebhooks(context);
  await add();
  const asked = await run('remove', '1');
  assert.equal(asked.status, 1);
  assert.match(asked.err, /Endpoint 1 would be removed: http.*\n.*add --yes/);
  assert.match((await run('remove', '1', '--dry-run')).out, /would be removed/);
  assert.equal((await json('list')).webhooks.length, 1);
  assert.equal((await run('remove', '1', '--yes')).status, 0);
  assert.equal((await json('list')).webhooks.length, 0);
  assert.equal((await run('rotate', '1')).status, 1);
});

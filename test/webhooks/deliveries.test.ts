/** What endpoints get (docs/webhooks.md#messages): signed, in order, no more than their key sees. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../support/command.ts';
import { nid } from '../support/importing.ts';
import { type Delivery, verify } from '../support/receiver.ts';
import { startWebhooks, until, type Webhooks } from '../support/webhooks.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const typesOf = (deliveries: readonly Delivery[]) => deliveries.map(({ json }) => json.type);

/** Imports members of cooperatives by their codes, with the command. @returns the id of the import */
async function importMembers({ app }: Webhooks, codes: readonly string[]): Promise<number> {
  const file = join(dirname(app.config.storage), 'members.csv');
  const rows = codes.map((code, i) => `${code},M-${i},${nid(i + 1)},Uwase Aline`);
  writeFileSync(file, ['cooperative_code,member_code,identity_card,full_name', ...rows, ''].join('\n'));
  const args = ['import', 'members', file, '--db', app.config.storage, '--json'];
  const { status, out, err } = await command(args, {}, app.clock);
  assert.equal(status, 0, err);
  return JSON.parse(out).files[0].import_id;
}

test('changes are posted in order, each signed so that the library of the standard accepts it', async (context) => {
  const { app, receiver, add, create } = await startWebhooks(context);
  await create('BEFORE');
  const { secret } = await add();
  for (const n of numbers(5)) await create(`C-${n}`);
  await receiver.waitFor(5);
  const feed = await app.send('/events?after=1');
  assert.deepEqual(
    receiver.deliveries.map(({ json }) => json),
    feed.json.results,
  );
  for (const delivery of receiver.deliveries) verify(secret, delivery);
  assert.throws(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLawq', receiver.deliveries[0] as Delivery));
  const [{ headers, id }] = receiver.deliveries as [Delivery];
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(id, `msg_1_${feed.json.epoch}_2`);
  assert.equal(receiver.connections, 1);
});

test('an import is one message with what it has done, and so is its undo', async (context) => {
  const webhooks = await startWebhooks(context);
  const { app, receiver, add, create } = webhooks;
  await create('C-1');
  const { secret } = await add();
  const importId = await importMembers(webhooks, Array(150).fill('C-1'));
  await create('C-2');
  const undone = await command(['imports', 'undo', String(importId), '--yes', '--db', app.config.storage]);
  assert.equal(undone.status, 0, undone.err);
  await create('C-3');
  const deliveries = await receiver.waitFor(4);
  assert.deepEqual(typesOf(deliveries), [
    ...['import.completed', 'cooperative.created', 'import.undone', 'cooperative.created'],
  ]);
  for (const delivery of deliveries) verify(secret, delivery);
  const { timestamp, ...told } = deliveries[0]?.json ?? {};
  assert.match(timestamp, /^20.*\+02:00$/);
  assert.deepEqual(told, {
    type: 'import.completed',
    actor: `import:${importId}`,
    data: {
      ...{ import_id: importId, first_sequence: 2, last_sequence: 151 },
      counts: { 'member.created': 150 },
    },
  });
  assert.deepEqual(deliveries[2]?.json.data.counts, { 'member.deleted': 150 });
  assert.deepEqual([deliveries[1]?.json.sequence, deliveries[3]?.json.sequence], [152, 303]);
});

test('a key of some cooperatives is told of these only, of imports too', async (context) => {
  const webhooks = await startWebhooks(context, { cooperatives: [2] });
  const { receiver, add, create } = webhooks;
  await create('C-1');
  await create('C-2');
  await add();
  await importMembers(webhooks, ['C-1', 'C-1', 'C-2', 'C-1']);
  await create('C-3');
  const ofOthers = await importMembers(webhooks, ['C-1', 'C-1', 'C-2', 'C-1', 'C-3']);
  const body = { code: 'C-2', name: 'Named again' };
  await webhooks.app.send('/cooperatives/2', { method: 'PUT', body });
  const deliveries = await receiver.waitFor(2);
  assert.deepEqual(typesOf(deliveries), ['import.completed', 'cooperative.updated']);
  assert.deepEqual(deliveries[0]?.json.data.counts, { 'member.created': 1 });
  assert.ok(ofOthers > deliveries[0]?.json.data.import_id);
});

test('an endpoint gets the types that it names', async (context) => {
  const { receiver, app, create, add } = await startWebhooks(context);
  await add('--events', 'member.*,cooperative.updated');
  await create('C-1');
  await app.send('/cooperatives/1', { method: 'PUT', body: { code: 'C-1', name: 'Another name' } });
  await receiver.waitFor(1);
  assert.deepEqual(typesOf(receiver.deliveries), ['cooperative.updated']);
});

test('a key that is disabled or loses its scope gets nothing more from the next event, and goes on later', async (context) => {
  const { app, receiver, add, create, json, keyId } = await startWebhooks(context);
  await add();
  await create('C-1');
  await receiver.waitFor(1);
  for (const [i, [change, back, reason]] of (
    [
      [{ isActive: false }, { isActive: true }, 'the key is disabled'],
      [
        { scopes: ['members:read'] },
        { scopes: ['webhooks:receive'] },
        'the key has no scope webhooks:receive',
      ],
      [{ expiresAt: 1 }, { expiresAt: null }, 'the key has expired'],
      [{ isLookupOnly: true }, { isLookupOnly: false }, 'the key only looks up'],
    ] as const
  ).entries()) {
    const got = receiver.deliveries.length;
    app.keys.update(keyId, change, 0);
    await create(`C-1${i}`);
    // Another endpoint gets the event, so this one could have.
    const other = app.issue(['webhooks:receive']).id;
    await json('add', '--key', String(other), '--url', `${receiver.url}/other`, '--allow-private');
    await create(`D-1${i}`);
    await until(() => receiver.deliveries.length > got);
    assert.ok(receiver.deliveries.slice(got).every(({ id }) => !id.startsWith('msg_1_')));
    const [shown] = (await json('list')).webhooks;
    assert.deepEqual([shown.state, shown.reason], ['paused', reason]);
    app.keys.update(keyId, back, 0);
    await until(
      () => receiver.deliveries.slice(got).filter(({ id }) => id.startsWith('msg_1_')).length === 2,
    );
  }
});

test('what a key no longer sees is not sent, though it was tried before', async (context) => {
  const { app, receiver, add, create, stored, keyId, run } = await startWebhooks(context);
  receiver.answer = 500;
  await add();
  await create('C-1');
  await create('C-2');
  await until(async () => (await stored()).failures === 1);
  app.keys.update(keyId, { cooperatives: [2] }, 0);
  receiver.answer = 200;
  await run('enable', '1');
  await receiver.waitFor(2);
  assert.deepEqual(
    receiver.deliveries.map(({ json: { sequence } }) => sequence),
    [1, 2],
  );
});

test('an endpoint that was removed gets nothing more, and stops no other one', async (context) => {
  // The service has not looked yet when the next event comes.
  const { receiver, add, create, run } = await startWebhooks(context, {}, { webhooks: { lookMs: 300 } });
  await add();
  await add();
  await create('C-1');
  await receiver.waitFor(2);
  assert.equal((await run('remove', '1', '--yes')).status, 0);
  for (const code of ['C-2', 'C-3', 'C-4']) {
    await create(code);
    await sleep(200);
  }
  await receiver.waitFor(5);
  assert.deepEqual(
    receiver.deliveries.slice(2).map(({ id, json }) => [id.startsWith('msg_2_'), json.sequence]),
    [2, 3, 4].map((sequence) => [true, sequence]),
  );
});

test('each endpoint has its own order and secret', async (context) => {
  const { receiver, add, create, run } = await startWebhooks(context);
  const [first, second] = [await add(), await add()];
  assert.notEqual(first.secret, second.secret);
  await create('C-1');
  const deliveries = await receiver.waitFor(2);
  assert.equal(new Set(deliveries.map(({ id }) => id)).size, 2);
  for (const { id, secret } of [first, second])
    verify(secret, deliveries.find((each) => each.id.startsWith(`msg_${id}_`)) as Delivery);
  await run('remove', first.id, '--yes');
  await create('C-2');
  await until(() => receiver.deliveries.some(({ id }) => id.startsWith('msg_2_') && id.endsWith('_2')));
});

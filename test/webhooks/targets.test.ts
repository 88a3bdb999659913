/** Where deliveries go, and where they do not (docs/webhooks.md#targets). */
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { isPublicAddress } from '../../src/values/address-blocks.ts';
import { openWebhooks } from '../../src/webhooks/open-webhook-store.ts';
import { post } from '../../src/webhooks/post.ts';
import type { Resolve } from '../../src/webhooks/target.ts';
import { testClock } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWebhooks, until } from '../support/webhooks.ts';

const PRIVATE = [
  ...['127.0.0.1', '127.255.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '0.0.0.0'],
  ...['100.64.0.1', '224.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '240.0.0.1', '192.0.0.1'],
  ...['::1', '::', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'fec0::1', 'ff02::1', '2001:db8::1', '100::1'],
  // Ways of writing an IPv4 address as IPv6, and of reaching one.
  ...['::ffff:10.0.0.1', '::ffff:7f00:1', '::7f00:1', '64:ff9b::a00:1', '2002:a00:1::', '2001::1'],
  ...['fe80::1%eth0', 'localhost', ''],
];

test('addresses that are not public ones are known, however they are written', () => {
  for (const address of PRIVATE) assert.equal(isPublicAddress(address), false, address);
  for (const address of ['8.8.8.8', '41.186.0.1', '2a00:1450:4001::1', '2c0f:fb50::1'])
    assert.equal(isPublicAddress(address), true, address);
});

const resolving =
  (...addresses: readonly string[]): Resolve =>
  (_host, _options, done) =>
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

test('a name of which one address is not public is refused where the connection is made', async (context) => {
  const receiver = await startReceiver(context);
  const { port } = new URL(receiver.url);
  const send = (host: string, resolve: Resolve) =>
    post(
      { url: `https://${host}:${port}/`, allowsPrivate: false, headers: {}, body: '{}' },
      { clock: testClock(), resolve, timeoutMs: 5_000 },
    );
  const fault = 'The name of the host leads to an address that is not public.';
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1'], ['::ffff:127.0.0.1']])
    assert.equal((await send('portal.example.rw', resolving(...addresses))).fault, fault);
  // Nobody is asked about an address, and the system's resolver knows this name.
  const never: Resolve = () => assert.fail();
  assert.match((await send('127.0.0.1', never)).fault ?? '', /^This address is not a public one\./);
  assert.equal(receiver.connections, 0);
});

test('the service resolves the name for each delivery', async (context) => {
  const webhooks = { resolve: resolving('10.0.0.1') };
  const { app, keyId, json, create, stored } = await startWebhooks(context, {}, { webhooks });
  // As if the name had led to a public address when the endpoint was added.
  const store = openWebhooks(app.registry.storage, 'issue');
  const target = { keyId, url: 'https://portal.example.rw/', types: null, allowsPrivate: false };
  const { epoch } = await app.registry.store.events.read({ after: 0, limit: 1, epoch: undefined });
  await store.add(target, Buffer.alloc(32), { epoch, sequence: 0 }, 0);
  await store.close();
  await create('C-1');
  await until(async () => (await stored()).failures === 1);
  const { reason } = (await json('list')).webhooks[0];
  assert.equal(reason, 'The name of the host leads to an address that is not public.');
});

test('add refuses what nothing would be sent to', async (context) => {
  const { keyId, run, app } = await startWebhooks(context);
  const refusals = [
    ['http://portal.example.rw/', 'Expected https://'],
    ['https://127.0.0.1/', 'not a public one'],
    ['https://2130706433/', 'not a public one'],
    ['https://[::ffff:169.254.169.254]/', 'not a public one'],
    ['https://localhost/', 'leads to an address that is not public'],
    ['https://user:secret@portal.example.rw/', 'with a user name or a password'],
    ['https://portal.example.rw/#part', 'with a fragment'],
    ['ftp://portal.example.rw/', 'Expected a URL such as'],
    ['portal.example.rw', 'Expected a URL such as'],
  ] as const;
  for (const [url, message] of refusals) {
    const { status, err } = await run('add', '--key', String(keyId), '--url', url);
    assert.equal(status, 2, url);
    assert.ok(err.includes(message), `${url}: ${err}`);
    assert.ok(!err.includes('secret'), err);
  }
  const withUser = 'http://user:secret@127.0.0.1/';
  assert.equal((await run('add', '--key', '1', '--url', withUser, '--allow-private')).status, 2);
  assert.equal((await run('add', '--key', '99', '--url', 'https://8.8.8.8/')).status, 1);
  const blind = app.issue(['members:read']).id;
  const { status, err } = await run('add', '--key', String(blind), '--url', 'https://8.8.8.8/');
  assert.deepEqual(
    [status, err],
    [1, `Key ${blind} would get nothing: the key has no scope webhooks:receive.\n`],
  );
  assert.equal((await run('list', '--json')).out, '{\n  "webhooks": []\n}\n');
  assert.equal((await run('test', '1')).status, 1);
});

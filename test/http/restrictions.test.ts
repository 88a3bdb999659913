/** Where a key may be used from (docs/keys.md#create). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientAddress, matchesHost, requestDomain } from '../../src/http/server/middleware.ts';
import { type AddressBlocks, parseAddress, parseAddressBlocks } from '../../src/values/address-blocks.ts';
import { FieldError } from '../../src/values/errors.ts';
import { startApp } from '../support/app.ts';

const blocks = (...texts: string[]): AddressBlocks => {
  const parsed = parseAddressBlocks(texts);
  if (parsed instanceof FieldError) throw new Error(parsed.message);
  return parsed;
};
const isIn = (address: string, ...texts: string[]): boolean => {
  const parsed = parseAddress(address);
  return parsed !== undefined && blocks(...texts).has(parsed);
};

test('addresses and CIDR blocks of both families match, IPv4-mapped IPv6 counted as IPv4', () => {
  assert.ok(isIn('10.1.2.3', '10.0.0.0/8'));
  assert.ok(!isIn('11.1.2.3', '10.0.0.0/8'));
  assert.ok(isIn('::ffff:10.1.2.3', '10.0.0.0/8'));
  assert.ok(isIn('10.1.2.3', '::ffff:10.0.0.0/104'));
  assert.ok(isIn('2001:db8::1', '2001:db8::/32'));
  assert.ok(!isIn('2001:db9::1', '2001:db8::/32'));
  assert.ok(!isIn('10.0.0.1', '::/0'));
  assert.ok(!isIn('::1', '0.0.0.0/0'));
  assert.ok(isIn('192.0.2.7', '192.0.2.7'));
  assert.deepEqual(blocks('192.0.2.7', ' 10.0.0.0/8 ', '').texts, ['192.0.2.7/32', '10.0.0.0/8']);
});

test('what is not an address or CIDR block is refused', () => {
  for (const text of [
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '::/129',
    '010.0.0.1',
    '0x7f.1',
    'fe80::1%eth0',
    'host',
    '::ffff:10.0.0.0/8',
  ]) {
    assert.ok(parseAddressBlocks([text]) instanceof FieldError, text);
  }
});

test("behind trusted proxies the client's address is the first from the right that is not one of them", () => {
  const trusted = blocks('10.0.0.0/8', '::1');
  const client = (peer: string | undefined, forwarded: string | undefined) =>
    clientAddress(peer, forwarded, trusted)?.toString();
  assert.equal(client('192.0.2.1', '198.51.100.9'), '192.0.2.1');
  assert.equal(client('10.0.0.1', '198.51.100.9'), '198.51.100.9');
  assert.equal(client('::1', '203.0.113.5, 198.51.100.9, 10.9.9.9'), '198.51.100.9');
  assert.equal(client('::ffff:10.0.0.1', ' 198.51.100.9 '), '198.51.100.9');
  assert.equal(client('10.0.0.1', undefined), undefined);
  assert.equal(client('10.0.0.1', 'unknown'), undefined);
  assert.equal(client('10.0.0.1', '198.51.100.9, x'), undefined);
  assert.equal(client('10.0.0.1', '10.0.0.2'), undefined);
  assert.equal(client(undefined, '198.51.100.9'), undefined);
});

test('X-Forwarded-For is used from trusted proxies only', async (context) => {
  const trusting = await startApp(context, { settings: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  const { key } = trusting.issue(['members:read'], { allowedAddresses: ['198.51.100.0/24'] });
  const status = async (forwarded: string | undefined) =>
    (
      await trusting.send('/members', {
        key,
        headers: forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded },
      })
    ).status;
  assert.equal(await status('198.51.100.9'), 200);
  assert.equal(await status('203.0.113.9'), 403);
  assert.equal(await status(undefined), 403);
  assert.equal(await status('nonsense'), 403);
  const open = trusting.issue(['members:read']);
  assert.equal(
    (await trusting.send('/members', { key: open.key, headers: { 'X-Forwarded-For': 'nonsense' } })).status,
    200,
  );
  const plain = await startApp(context);
  const other = plain.issue(['members:read'], { allowedAddresses: ['198.51.100.0/24'] });
  const spoofed = await plain.send('/members', {
    key: other.key,
    headers: { 'X-Forwarded-For': '198.51.100.9' },
  });
  assert.equal(spoofed.status, 403);
});

test("a request's domain is the host of Origin, else of Referer, else Host", () => {
  assert.equal(
    requestDomain({ origin: 'https://Portal.Example.rw:8443', referer: 'https://b.rw/', host: 'c.rw' }),
    'portal.example.rw',
  );
  assert.equal(requestDomain({ referer: 'https://b.rw./x?y', host: 'c.rw' }), 'b.rw');
  assert.equal(requestDomain({ host: 'C.rw.:8080' }), 'c.rw');
  assert.equal(requestDomain({ origin: 'null', host: 'c.rw' }), undefined);
  assert.equal(requestDomain({ origin: '', host: 'c.rw' }), undefined);
  assert.equal(requestDomain({}), undefined);
});

test('*.example.rw matches any depth below, not the domain itself', () => {
  assert.ok(matchesHost('*.example.rw', 'a.example.rw'));
  assert.ok(matchesHost('*.example.rw', 'a.b.example.rw'));
  assert.ok(!matchesHost('*.example.rw', 'example.rw'));
  assert.ok(!matchesHost('*.example.rw', 'badexample.rw'));
  assert.ok(matchesHost('example.rw', 'example.rw'));
  assert.ok(!matchesHost('example.rw', 'a.example.rw'));
});

test('a host allowlist looks at Origin before Host', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { allowedHosts: ['*.example.rw'] });
  const status = async (headers: { [name: string]: string }) =>
    (await app.send('/members', { key, headers })).status;
  assert.equal(await status({ Origin: 'https://portal.example.rw' }), 200);
  assert.equal(await status({ Host: 'portal.example.rw' }), 200);
  assert.equal(await status({ Origin: 'null', Host: 'portal.example.rw' }), 403);
  assert.equal(await status({ Referer: 'https://other.rw/', Host: 'portal.example.rw' }), 403);
});

test('a stored allowlist that cannot be read lets nobody in', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], { allowedAddresses: ['anything'] });
  assert.equal((await app.send('/members', { key })).status, 403);
});

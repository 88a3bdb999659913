/** `serve` in a process of its own: signals, keys changed by another process, wrong settings. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../../src/runtime/config.ts';
import { send, startApp, temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { serve } from '../support/serving.ts';

test('a service limits its memory however it is started, and keeps its id and what its environment says', async (context) => {
  const { server } = await serve(context, { LOG_LEVEL: 'info', MALLOC_ARENA_MAX: '3' });
  const { pid } = server.child;
  const given = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  const options = given('cmdline').filter((option) => option.startsWith('--max-semi-space-size'));
  assert.deepEqual(options, ['--max-semi-space-size=8']);
  assert.deepEqual(
    given('environ').filter((variable) => /^(MALLOC_ARENA_MAX|LOG_LEVEL)=/.test(variable)),
    ['MALLOC_ARENA_MAX=3', 'LOG_LEVEL=info'],
  );
  const other = await serve(context, { NODE_OPTIONS: '--max-semi-space-size=4' });
  const command = readFileSync(`/proc/${other.server.child.pid}/cmdline`, 'utf8');
  assert.doesNotMatch(command, /semi-space/);
  assert.match(readFileSync(`/proc/${other.server.child.pid}/environ`, 'utf8'), /semi-space-size=4/);
});

test('a service that crashes ends with a status after which the unit starts it again', async (context) => {
  const unit = readFileSync('deploy/cooperative-registry.service', 'utf8');
  const [, final = ''] = /^RestartPreventExitStatus=(.*)$/m.exec(unit) ?? [];
  assert.deepEqual(final.split(' '), ['1', '2']);
  const fault = 'process.once("SIGUSR2", () => { throw new Error("a fault of the program"); })';
  const { server } = await serve(context, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
  });
  server.child.kill('SIGUSR2');
  assert.equal(await server.ended, 4);
  assert.match(server.output(), /Error: a fault of the program\n {4}at /);
});

test('disabling a key while the server runs is effective from the next request', async (context) => {
  const { server, port, keys, env } = await serve(context);
  assert.ok(server.output().includes(`Created a new, empty registry at ${env.REGISTRY_DB}.\n`));
  const { id, key } = await keys('create', '--create', '--name', 'a', '--scope', 'cooperatives:read');
  assert.equal((await send(port, '/cooperatives', { key })).status, 200);
  await keys('disable', id);
  const refused = await send(port, '/cooperatives', { key });
  assert.equal(refused.status, 401);
  assert.deepEqual(refused.json, { detail: 'API key is inactive.' });
  await keys('enable', id);
  assert.equal((await send(port, '/cooperatives', { key })).status, 200);
  await keys('update', id, '--scope', 'members:read');
  assert.equal((await send(port, '/cooperatives', { key })).status, 403);
});

test('SIGTERM answers what was received, even half a request, and ends with status 0', async (context) => {
  const { server, port } = await serve(context);
  const half = connect(port, '127.0.0.1');
  await once(half, 'connect');
  half.write('GET /healthz HTTP/1.1\r\nHost: a\r\n');
  half.on('error', () => {});
  // Answered only when the server has seen the half-sent one too.
  assert.equal((await send(port, '//healthz', {})).status, 200);
  server.child.kill('SIGTERM');
  await server.waitFor('stopping');
  half.write('\r\n');
  const [chunk] = (await once(half, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 200 OK/);
  assert.match(chunk.toString(), /connection: close/i);
  assert.equal(await server.ended, 0);
});

test('a log line of a request has its route template, never the path', async (context) => {
  const app = await startApp(context);
  assert.equal((await app.send('/members/1198589000123042/')).status, 404);
  const [line = '{}'] = app.logLines.filter((text) => text.includes('"status":404'));
  const entry = JSON.parse(line);
  assert.equal(entry.route, '/api/v1/members/{id}');
  assert.equal(entry.key_id, 1);
  assert.doesNotMatch(app.logLines.join(), /1198589000123042/);
  assert.ok(!app.logLines.join().includes(app.fullKey));
});

test('all invalid settings are reported together, with status 2', async () => {
  const outcome = await command(['serve'], {
    PORT: '99999',
    PUBLIC_URL: 'registry.example.rw/x',
    TRUSTED_PROXIES: '10.0.0.0/33',
    METRICS: '9108',
    TIME_ZONE_OFFSET: '2',
    LOG_LEVEL: 'loud',
  });
  assert.equal(outcome.status, 2);
  for (const name of ['PORT', 'PUBLIC_URL', 'TRUSTED_PROXIES', 'METRICS', 'TIME_ZONE_OFFSET', 'LOG_LEVEL']) {
    assert.match(outcome.err, new RegExp(`^ {2}${name}: `, 'm'));
  }
});

test('the options --db, --host and --port override the environment, and are checked like it', async () => {
  // An address that this machine does not have: a server that starts nevertheless ends at once.
  const env = { HOST: '203.0.113.7', PORT: '0' };
  const wrongPort = await command(['serve', '--port', '99999'], env);
  assert.equal(wrongPort.status, 2);
  assert.match(wrongPort.err, /'--port <n>' argument '99999' is invalid\. Expected a port from 0 to 65535\./);
  const missing = await command(['check', '--db', 'no/such.db'], { ...env, REGISTRY_DB: 'other.db' });
  assert.equal(missing.status, 2);
  assert.match(missing.err, /no\/such\.db/);
});

test('an address that the machine does not have is refused with 2', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  const outcome = await command(['serve', '--create', '--host', '203.0.113.7', '--port', '0', '--db', db], {
    HOST: '198.51.100.7',
  });
  assert.equal(outcome.status, 2);
  const created = `Created a new, empty registry at ${db}.\n`;
  assert.equal(outcome.err, `${created}203.0.113.7 is not an address of this machine.\n`);
});

test('METRICS takes an address with a port, in brackets for IPv6, and not the port of the service', () => {
  const read = (text: string) => readConfig({ METRICS: text }).metrics;
  assert.deepEqual(read('127.0.0.1:9108'), { host: '127.0.0.1', port: 9108 });
  assert.deepEqual(read('[::1]:0'), { host: '::1', port: 0 });
  assert.deepEqual(read('localhost:65535'), { host: 'localhost', port: 65_535 });
  assert.equal(read(''), undefined);
  for (const text of [
    '9108',
    ':9108',
    '::1:9108',
    '127.0.0.1',
    '127.0.0.1:65536',
    'http://a:1',
    '127.0.0.1:8080',
  ])
    assert.throws(() => read(text), ConfigError, text);
});

test('a port in use is refused with a way out', async (context) => {
  const other = createServer().listen(0, '127.0.0.1');
  context.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const folder = temporaryFolder(context);
  const outcome = await command([
    'serve',
    '--create',
    '--port',
    String(port),
    '--db',
    join(folder, 'other.db'),
  ]);
  assert.equal(outcome.status, 1);
  assert.match(outcome.err, new RegExp(`Port ${port} is in use\\. Choose another one with --port`));
  const env = { METRICS: `127.0.0.1:${port}`, PORT: '0' };
  const metrics = await command(['serve', '--create', '--db', join(folder, 'other.db')], env);
  assert.equal(metrics.status, 1);
  assert.match(metrics.err, new RegExp(`Port ${port} is in use\\. Choose another one with METRICS`));
});

/** `serve` in a process of its own: signals, keys changed by another process, wrong settings. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { send, temporaryFolder } from '../support/app.ts';
import { command, type RunningCommand, spawnCommand, spawnPlainly } from '../support/command.ts';

async function serve(context: TestContext, more: NodeJS.ProcessEnv = {}) {
  const databaseFile = join(temporaryFolder(context), 'registry.db');
  const env = { REGISTRY_DB: databaseFile, HOST: '127.0.0.1', PORT: '0' };
  const server = spawnCommand(['serve'], { ...env, ...more });
  context.after(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  await server.waitFor('listening on');
  const port = Number(/listening on 127\.0\.0\.1:([0-9]+)/.exec(server.output())?.[1]);
  const keys = async (...args: string[]) => JSON.parse((await command(['keys', ...args, '--json'], env)).out);
  return { server, port, keys, env };
}

test('disabling a key while the server runs is effective from the next request', async (context) => {
  const { port, keys } = await serve(context);
  const { id, key } = await keys('create', '--name', 'a', '--scope', 'cooperatives:read');
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

test('serve says when it has created the registry', async (context) => {
  const { server, env } = await serve(context);
  assert.ok(server.output().includes(`Created a new, empty registry at ${env.REGISTRY_DB}.\n`));
});

test('a second SIGTERM exits at once', async (context) => {
  const { server, port } = await serve(context);
  const half = connect(port, '127.0.0.1');
  await once(half, 'connect');
  half.on('error', () => {});
  half.write('GET /healthz HTTP/1.1\r\n');
  assert.equal((await send(port, '//healthz', {})).status, 200);
  server.child.kill('SIGTERM');
  await server.waitFor('stopping');
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 1);
});

test('a log line of a request has its route template, never the path', async (context) => {
  const { server, port, keys } = await serve(context);
  const { key } = await keys('create', '--name', 'a', '--scope', 'members:read');
  assert.equal((await send(port, '/members/1198589000123042/', { key })).status, 404);
  await server.waitFor('"status":404');
  const line = server
    .output()
    .split('\n')
    .find((text) => text.includes('"status":404')) as string;
  const entry = JSON.parse(line);
  assert.equal(entry.route, '/api/v1/members/{id}');
  assert.equal(entry.key_id, 1);
  assert.ok(!server.output().includes('1198589000123042'));
  assert.ok(!server.output().includes(key));
});

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return port;
}

/** Sends requests, one of them in two halves, while log lines are lost, and ends the service. */
async function serveWithoutLog(server: RunningCommand, port: number): Promise<void> {
  const half = connect(port, '127.0.0.1');
  await once(half, 'connect');
  half.write('GET /healthz HTTP/1.1\r\nHost: a\r\n');
  for (let i = 0; i < 3; i++) assert.equal((await send(port, '//healthz', {})).status, 200);
  half.write('\r\n');
  const [chunk] = (await once(half, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 200 OK/);
  half.destroy();
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
}

const LOST =
  /^The log cannot be written \((\w+)\): lines are lost until it can be\. The service goes on\.$/gm;

test('a log that cannot be written does not end the service, which says so once', async (context) => {
  const { server, port } = await serve(context);
  server.child.stdout?.destroy();
  await serveWithoutLog(server, port);
  assert.deepEqual(
    [...server.output().matchAll(LOST)].map(([, code]) => code),
    ['EPIPE'],
  );
});

for (const [where, codes] of [
  ['> /dev/full', ['ENOSPC']],
  ['> /dev/full 2>&1', []],
] as const) {
  test(`serve ${where} serves`, async (context) => {
    const port = await freePort();
    const env = { REGISTRY_DB: join(temporaryFolder(context), 'registry.db'), PORT: String(port) };
    const server = spawnPlainly(['sh', '-c', `exec node src/main.ts serve ${where}`], env);
    context.after(async () => {
      server.child.kill('SIGKILL');
      await server.ended;
    });
    const isServing = () => send(port, '//healthz', {}).catch(() => undefined);
    while ((await isServing()) === undefined) {
      assert.equal(server.child.exitCode, null, server.output());
      await setTimeout(50);
    }
    await serveWithoutLog(server, port);
    assert.deepEqual(
      [...server.output().matchAll(LOST)].map(([, code]) => code),
      codes,
    );
  });
}

test('a command whose results cannot be written ends with status 1 and says so', async (context) => {
  const env = { REGISTRY_DB: join(temporaryFolder(context), 'registry.db') };
  await command(['keys', 'create', '--name', 'a', '--scope', 'cooperatives:read'], env);
  const list = spawnPlainly(['sh', '-c', 'exec node src/main.ts keys list > /dev/full'], env);
  assert.equal(await list.ended, 1);
  assert.equal(list.output(), 'The results cannot be written to standard output (ENOSPC).\n');
});

test('after a commit that failed serve ends with status 1 and says what to do', async (context) => {
  const folder = temporaryFolder(context);
  const failing = join(folder, 'failing');
  const { server, port, keys } = await serve(context, {
    NODE_OPTIONS: `--import=${new URL('../support/sqlite-failing-commit.mjs', import.meta.url)}`,
    FAILS_WHILE_EXISTS: failing,
  });
  const { key } = await keys('create', '--name', 'a', '--scope', 'cooperatives:write');
  const write = (code: string) =>
    send(port, '/cooperatives', { key, method: 'POST', body: { code, name: code } });
  assert.equal((await write('A')).status, 201);
  writeFileSync(failing, '');
  assert.equal((await write('B')).status, 503);
  assert.equal(await server.ended, 1);
  assert.match(
    server.output(),
    /^Writing to \S+registry\.db failed: disk I\/O error\. .* run check, then start again\.$/m,
  );
  assert.match(server.output(), /"level":"info".*Writing to/);
});

test('all invalid settings are reported together, with status 2', async () => {
  const outcome = await command(['serve'], {
    PORT: '99999',
    PUBLIC_URL: 'registry.example.rw/x',
    TRUSTED_PROXIES: '10.0.0.0/33',
    TIME_ZONE_OFFSET: '2',
    LOG_LEVEL: 'loud',
  });
  assert.equal(outcome.status, 2);
  for (const name of ['PORT', 'PUBLIC_URL', 'TRUSTED_PROXIES', 'TIME_ZONE_OFFSET', 'LOG_LEVEL']) {
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
  const outcome = await command(['serve', '--host', '203.0.113.7', '--port', '0', '--db', db], {
    HOST: '198.51.100.7',
  });
  assert.equal(outcome.status, 2);
  const created = `Created a new, empty registry at ${db}.\n`;
  assert.equal(outcome.err, `${created}203.0.113.7 is not an address of this machine.\n`);
});

test('a port in use is refused with a way out', async (context) => {
  const { port } = await serve(context);
  const folder = temporaryFolder(context);
  const outcome = await command(['serve', '--port', String(port), '--db', join(folder, 'other.db')]);
  assert.equal(outcome.status, 1);
  assert.match(outcome.err, new RegExp(`Port ${port} is in use`));
});

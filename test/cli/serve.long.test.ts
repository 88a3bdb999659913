/** `serve` and other commands in processes that are killed, and whose output or disk fails. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { send, temporaryFolder } from '../support/app.ts';
import { command, type RunningCommand, spawnPlainly } from '../support/command.ts';
import { freePort, serve } from '../support/serving.ts';

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
  /^The log cannot be written \((\w+)\): lines are lost until it can be\. The service continues\.$/gm;

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
    const server = spawnPlainly(['sh', '-c', `exec node src/main.ts serve --create ${where}`], env);
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
  await command(['keys', 'create', '--create', '--name', 'a', '--scope', 'cooperatives:read'], env);
  const list = spawnPlainly(['sh', '-c', 'exec node src/main.ts keys list > /dev/full'], env);
  assert.equal(await list.ended, 1);
  assert.equal(list.output(), 'The results cannot be written to standard output (ENOSPC).\n');
});

test('where the system refuses to change priorities, long work is done all the same', async (context) => {
  const refusing = `
    import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    os.setPriority = () => { throw new Error('EPERM'); };
    syncBuiltinESMExports();`;
  const { port, keys } = await serve(context, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refusing)}`,
  });
  const { key } = await keys(
    'create',
    '--name',
    'a',
    '--scope',
    'cooperatives:read,members:read',
    '--allow-export',
  );
  for (const path of ['/statistics', '/members?search=uwase', '/members/export'])
    assert.equal((await send(port, path, { key })).status, 200, path);
});

test('after a commit that failed serve ends with status 1 and says what to do', async (context) => {
  const folder = temporaryFolder(context);
  const failing = join(folder, 'failing');
  const { server, port, keys } = await serve(context, {
    NODE_OPTIONS: `--import=${new URL('../support/sqlite-failing-commit.mjs', import.meta.url)}`,
    FAILS_WHILE_EXISTS: failing,
  });
  const { key } = await keys('create', '--create', '--name', 'a', '--scope', 'cooperatives:write');
  const write = (code: string) =>
    send(port, '/cooperatives', { key, method: 'POST', body: { code, name: code } });
  assert.equal((await write('A')).status, 201);
  writeFileSync(failing, '');
  assert.equal((await write('B')).status, 503);
  assert.equal(await server.ended, 1);
  assert.match(
    server.output(),
    /^Writing to \S+registry\.db failed: disk I\/O error\. .* start again: npm .* check --db \S+$/m,
  );
  assert.match(server.output(), /"level":"info".*Writing to/);
});

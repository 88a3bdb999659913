/** Known faults of the locked packages are looked up at a package registry that this test is. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '../support/command.ts';

const PROGRAM = fileURLToPath(new URL('advisories.ts', import.meta.url));

/** @param status and body of the endpoint that npm asks for advisories of many packages at once */
async function lookUp(context: TestContext, status: number, body: unknown) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isBulk = request.url?.endsWith('/advisories/bulk') === true;
      response.writeHead(isBulk ? status : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const env = { ...plainEnvironment, npm_config_registry: registry, npm_config_cache: '/nonexistent' };
    execFile(process.execPath, [PROGRAM], { env, timeout: 50_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

const ADVISORY = {
  id: 1,
  url: 'https://advisories.example/GHSA-test-test-test',
  title: 'Reads beyond the end',
  severity: 'high',
  vulnerable_versions: '*',
};

test('an open advisory of a locked package fails with its name', async (context) => {
  const { code, err } = await lookUp(context, 200, { 'better-sqlite3': [ADVISORY] });
  assert.match(err, /^better-sqlite3: high: Reads beyond the end \(GHSA-test-test-test\)$/m);
  assert.equal(code, 1);
});

test('packages without an advisory pass, and a registry without the endpoint is reported', async (context) => {
  assert.deepEqual(await lookUp(context, 200, {}), {
    code: 0,
    out: 'No known fault of a locked package is open.\n',
    err: '',
  });
  const silent = await lookUp(context, 405, { error: 'Method Not Allowed' });
  assert.match(silent.out, /were not looked up/);
  assert.equal(silent.code, 0);
});

/** The nightly job of docs/bank.md, while the service restarts and refuses. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { NOON, startApp, temporaryFolder } from './support/app.ts';
import { nid } from './support/importing.ts';

const DOCUMENT = readFileSync(new URL('../docs/bank.md', import.meta.url), 'utf8');
const PROGRAM = /```python\n([\s\S]*?)```/.exec(DOCUMENT)?.[1] ?? '';
const skip = spawnSync('python3', ['--version']).error !== undefined && 'python3 is missing';

test('the job reads each number once, through refusals and broken connections', { skip }, async (context) => {
  const app = await startApp(context);
  await app.send('/cooperatives', { method: 'POST', body: { code: 'A', name: 'A' } });
  const person = { cooperative_id: '1', identity_card: nid(3), member_code: 'M-3', full_name: 'Uwase' };
  await app.send('/members', { method: 'POST', body: person });
  const { key } = app.issue(['members:read'], {
    ...{ isLookupOnly: true, requiresPurpose: true, expiresAt: NOON / 1000 + 86_400 },
  });
  const failures: ('break' | number)[] = ['break', 502, 429, 503, 504];
  let answered = 0;
  const proxy = createServer((incoming, outgoing) => {
    const failure = failures.shift();
    if (failure === 'break') return void incoming.socket.destroy();
    if (failure !== undefined) return void outgoing.writeHead(failure, { 'Retry-After': '1' }).end('<html>');
    const { method, url, headers } = incoming;
    const passed = httpRequest({ port: app.port, path: url, method, headers }, (response) => {
      answered++;
      response.pipe(outgoing.writeHead(response.statusCode ?? 0, response.headers));
    });
    incoming.pipe(passed);
  }).listen(0, '127.0.0.1');
  context.after(() => proxy.close());
  await once(proxy, 'listening');

  const file = join(temporaryFolder(context), 'nightly.py');
  writeFileSync(file, PROGRAM.replace('wait = 5\n', 'wait = 1\n'));
  const REGISTRY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const job = spawn('python3', [file], { env: { ...process.env, REGISTRY, KEY: key } });
  context.after(() => job.kill());
  let [output, errors] = ['', ''];
  job.stdout.on('data', (part) => {
    output += part;
  });
  job.stderr.on('data', (part) => {
    errors += part;
  });
  job.stdin.end(Array.from({ length: 150 }, (_, i) => `${nid(i + 1)}\n`).join('') + nid(1));
  const [status] = await once(job, 'close');
  assert.equal(status, 0, errors);
  assert.match(
    errors,
    /^(?:(?:429|50[234]): waiting \d+ s\n)+The secret ends Mon, 16 Jun 2025 10:00:00 GMT\n$/,
  );
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ identity_card: number }) => number),
    Array.from({ length: 150 }, (_, i) => nid(i + 1)),
  );
  assert.deepEqual(
    lines.filter(({ member }) => member !== null).map(({ member }) => member.primary_full_name),
    ['Uwase'],
  );
  assert.equal(answered, 2, 'two batches');
  assert.deepEqual([...new Set(lines.map(({ receipt }) => typeof receipt))], ['string']);
  assert.equal(failures.length, 0);
});

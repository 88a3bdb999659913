/** The programs of docs/clients.md do what it says, through refusals and lost answers. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startApp, type TestApp, temporaryFolder } from './support/app.ts';
import { nid } from './support/importing.ts';
import { objectTypesText } from './support/object-types.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEXT = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');

function programIn(folder: string, name: string): string {
  const [, program = ''] = TEXT.split(`<!-- program: ${name} -->`)[1]?.split(/```\w+\n|```\n/) ?? [];
  assert.ok(program.includes('Idempotency-Key'), name);
  const file = join(folder, name);
  // Pages of two rows: there is more than one of them.
  writeFileSync(file, program.replace('page_size=200', 'page_size=2'));
  return file;
}

/** A timer may fire a little before its time. */
const TOLERATED_MS = 50;

/**
 * In front of the service, in the order of the requests: what happens to each in place of an answer, `pass`
 * for none. Of the POST the first answer is lost, after the work was done. A request that comes back before
 * Retry-After is over is in the log.
 */
const FAILURES = [429, 409, 503, 502, 504, 'pass', 'break', 'pass', 'page', 'pass', 'half'] as const;
const RUNNING = '{"detail":"A request with this Idempotency-Key is still running."}';
/** What a proxy answers of itself. */
const PAGE = '<html><body>Try again later.</body></html>';

async function startUnreliable(
  context: TestContext,
  app: TestApp,
): Promise<{ url: string; log: string[]; failures: unknown[] }> {
  const log: string[] = [];
  const failures = [...FAILURES];
  let isPostLost = false;
  let refusedUntilMs = 0;
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const refuse = (status: number, seconds: number): void => {
      refusedUntilMs = performance.now() + seconds * 1000 - TOLERATED_MS;
      const text = status === 409 ? RUNNING : status === 429 || status === 503 ? '{"detail":"Later."}' : PAGE;
      outgoing.writeHead(status, { 'Retry-After': seconds }).end(text);
    };
    if (performance.now() < refusedUntilMs) log.push(`${method} before Retry-After`);
    const failure = failures.shift();
    if (typeof failure === 'number') return refuse(failure, failure === 429 ? 2 : 1);
    if (failure === 'break') return void incoming.socket.destroy();
    if (failure === 'page') return void outgoing.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE);
    if (failure === 'half') {
      outgoing.writeHead(200, { 'Content-Length': 99 }).write('{"results"');
      setTimeout(() => incoming.socket.destroy(), 100);
      return;
    }
    const passed = httpRequest({ port: app.port, path, method, headers }, (answer) => {
      log.push(`${method} ${answer.statusCode} ${answer.headers['idempotency-replayed'] ?? ''}`.trim());
      if (method === 'POST' && !isPostLost) {
        isPostLost = true;
        answer.resume();
        refuse(503, 1);
      } else answer.pipe(outgoing.writeHead(answer.statusCode ?? 0, answer.headers));
    });
    incoming.pipe(passed.on('error', () => outgoing.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, log, failures };
}

const CODES = ['M-1', 'M-2', 'M-3'];

/** Runs it until it has reported the member that it added. */
async function run(context: TestContext, command: readonly string[], folder: string): Promise<void> {
  const app = await startApp(context);
  await app.send('/cooperatives', { method: 'POST', body: { code: 'A', name: 'A' } });
  for (const [i, code] of CODES.entries()) {
    const body = {
      cooperative_id: '1',
      identity_card: nid(i + 1),
      member_code: code,
      full_name: `Uwase, {${code}} \\ "B"`,
    };
    assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  }
  const { url, log, failures } = await startUnreliable(context, app);
  // Links to other pages have this address too.
  const env = { ...process.env, REGISTRY: url, KEY: app.fullKey };
  const [file = '', ...options] = command;
  const child = spawn(file, [...options, nid(1)], { cwd: folder, env, detached: true });
  context.after(() => child.exitCode ?? process.kill(-(child.pid as number), 'SIGKILL'));
  let output = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  const reported = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output += data;
        if (output.includes('member.created')) resolve();
      });
  });
  await Promise.race([reported, ended]);
  // The program of curl prints strings as JSON has them.
  const told = ['Uwase, {M-1} \\', 'B', ...CODES, 'First Example', 'member.created'];
  for (const text of told) assert.ok(output.includes(text), `${text}: ${output}`);
  assert.equal((await app.send('/members?member_code=NEW-1')).json.count, 1);
  const others = log.filter((line) => line !== 'GET 200');
  assert.deepEqual(others, ['POST 201', 'POST 201 true']);
  assert.deepEqual(failures, []);
}

const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined;

// Most of their time is waiting.
suite('each program does it all once, and waits when it is told to', { concurrency: true }, () => {
  test('the program of curl', { skip: !isThere('curl') && 'curl is missing' }, async (context) => {
    const folder = temporaryFolder(context);
    await run(context, ['sh', programIn(folder, 'client.sh')], folder);
  });

  test('the program in Python', { skip: !isThere('python3') && 'python3 is missing' }, async (context) => {
    const folder = temporaryFolder(context);
    await run(context, ['python3', '-u', programIn(folder, 'client.py')], folder);
  });

  test('the program in TypeScript, with the types of the answers', async (context) => {
    const folder = temporaryFolder(context);
    const file = programIn(folder, 'client.ts');
    writeFileSync(join(folder, 'registry.ts'), objectTypesText());
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    const settings = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--skipLibCheck'];
    const compile = ['--target', 'es2024', '--module', 'nodenext', ...settings, ...types, file];
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), compile, { cwd: folder });
    await run(context, [process.execPath, file], folder);
  });
});

test('a certificate that is not believed ends each program at once', async (context) => {
  const folder = temporaryFolder(context);
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-subj', '/CN=localhost', ...files], { stdio: 'pipe' });
  const [key, cert] = ['key.pem', 'certificate.pem'].map((name) => readFileSync(join(folder, name)));
  const server = createTlsServer({ key: key ?? '', cert: cert ?? '' }).listen(0, 'localhost');
  context.after(() => server.close());
  await once(server, 'listening');
  const REGISTRY = `https://localhost:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(folder, 'registry.ts'), objectTypesText());
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const commands = [
    ['sh', programIn(folder, 'client.sh')],
    ['python3', programIn(folder, 'client.py')],
    [process.execPath, programIn(folder, 'client.ts')],
  ];
  for (const [program = '', ...args] of commands.filter(([name = '']) => isThere(name))) {
    const env = { ...process.env, REGISTRY, KEY: 'crs_none' };
    // Tried eight times, it would take two minutes.
    const child = spawn(program, [...args, nid(1)], { cwd: folder, env, stdio: 'ignore', timeout: 20_000 });
    const [status, signal] = await once(child, 'close');
    assert.ok(status !== 0 && signal === null, `${program}: ${status}, ${signal}`);
  }
});

/** `request`, with which programs that embed the registry ask it in their process (docs/embedding.md). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SCOPES } from '../src/access/api-keys.ts';
import { openRequests } from '../src/embedding/in-process-request.ts';
import { serveInProcess } from '../src/http/server/server.ts';
import type { Answer } from '../src/index.ts';
import { startApp, type TestApp, temporaryFolder } from './support/app.ts';
import { CHILD_LIMIT, command, plainEnvironment } from './support/command.ts';
import { nid } from './support/importing.ts';
import { startLending } from './support/lending.ts';
import { memoryLedger, receiptOf } from './support/memory-ledger.ts';
import { copyRegistry } from './support/sample-registry.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Json = any;

const requestOf = ({ registry }: TestApp) => openRequests(registry.connect);

/** Sends a request in the process, with the key that may do everything unless it is given another. */
const asking =
  (app: TestApp, standard = app.fullKey) =>
  async (path: string, { method = 'GET', body, key = standard, headers }: Asked = {}): Promise<Json> =>
    requestOf(app)(method, `/api/v1${path}`, body, { key, ...(headers && { headers }) });

interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** A registry with rows of every kind. */
async function startSample(context: TestContext, more: Parameters<typeof startApp>[1] = {}) {
  const folder = temporaryFolder(context);
  await copyRegistry(folder);
  const app = await startApp(context, {
    folder: join(folder, 'live'),
    // After the loans were imported, with what was paid on them.
    startMs: Date.now() + 86_400_000,
    ...more,
  });
  const { results } = (await app.send('/members?status=active')).json;
  return { app, ask: asking(app), row: results[0], nid: results[0].identity_card as string };
}

/** The header fields that say the same of the same request. */
function lasting({ headers }: Pick<Answer, 'headers'>): object {
  const own =
    /^(?:date|connection|keep-alive|x-request-id|x-access-receipt|x?-?ratelimit.*|transfer-encoding)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.test(name)));
}

test('what is answered in the process is what is answered over HTTP', async (context) => {
  const { app, ask, row, nid } = await startSample(context, {
    settings: { PUBLIC_URL: 'https://registry.example.rw' },
  });
  const { id, cooperative } = row;
  const loan = (await app.send('/loans')).json.results[0].id;
  const paths = [
    ...[`/members/${nid}`, `/cooperatives/${cooperative.id}/members/${nid}`, `/members/${id}`],
    ...['/members?page=2&page_size=3&status=active', '/members?search=uwa&page_size=7'],
    ...[`/members/${id}/deliveries?to=2099-01-01`, `/members/${id}/savings-transactions`],
    ...[`/cooperatives/${cooperative.id}`, `/cooperatives/${cooperative.id}/statistics`, '/statistics'],
    ...[`/loans/${loan}`, `/loans?member=${id}`, '/payments', '/events?after=0&limit=250'],
    ...['/members?sattus=active', '/members?page=99', '/members/9', '/members/99999999', '/nothing'],
  ];
  for (const key of [app.fullKey, app.issue(['members:read', 'cooperatives:read']).key])
    for (const path of paths)
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        const name = `${method} ${path}`;
        const [answer, response] = [await ask(path, { method, key }), await app.send(path, { method, key })];
        assert.equal(answer.status, response.status, name);
        assert.deepEqual(answer.body, response.json, name);
        assert.deepEqual(lasting(answer), lasting(response), name);
      }
  const { body } = await ask(`/members/${nid}`);
  assert.ok(body.memberships[0].production_summary.total_kg, 'there is something to compare');
});

test('production, loans and savings are for keys with members:financials', async (context) => {
  const { app, ask, nid } = await startSample(context);
  const seen = async (key: string) => {
    const { body } = await ask(`/members/${nid}`, { key });
    return body.memberships.map((each: Json) => each.production_summary !== null);
  };
  assert.ok((await seen(app.fullKey)).every(Boolean));
  assert.ok(!(await seen(app.issue(['members:read']).key)).some(Boolean));
});

test('a key is needed, with the scope, and within its limits', async (context) => {
  const { app } = await startLending(context);
  const ask = asking(app);
  const without = await requestOf(app)('GET', '/api/v1/members');
  assert.equal(without.status, 401);
  assert.deepEqual(without.body, { detail: 'Authentication credentials were not provided.' });
  assert.equal((await ask('/members', { key: 'crs_none' })).status, 401);
  assert.equal((await ask('/members', { key: app.issue(['loans:read']).key })).status, 403);
  const { key } = app.issue(['members:read'], { limits: { perHour: 2, perDay: 2 } });
  const first = await ask('/members', { key });
  assert.match(first.headers['ratelimit-policy'], /^"hour";q=2;w=3600/);
  assert.match(first.headers.ratelimit, /^"hour";r=1;/);
  // The same requests are counted, wherever they come from.
  assert.equal((await app.send('/members', { key })).status, 200);
  const last = await ask('/members', { key });
  assert.equal(last.status, 429);
  assert.match(last.body.detail, /^Request was throttled/);
  assert.ok(Number(last.headers['retry-after']) > 0);
});

test('rows are created once per Idempotency-Key, and changed by those who have seen them', async (context) => {
  const { app } = await startLending(context);
  const ask = asking(app);
  const body = { cooperative_id: '1', identity_card: nid(7), member_code: 'M-7', full_name: 'Uwase Ange' };
  const create = () => ask('/members', { method: 'POST', body, headers: { 'Idempotency-Key': 'one' } });
  const [first, second] = [await create(), await create()];
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(first.headers.location, `/api/v1/members/${first.body.id}`);

  const change = (tag: string, name: string) =>
    ask(`/members/${first.body.id}`, {
      method: 'PATCH',
      body: { full_name: name },
      headers: { 'if-match': tag },
    });
  const changed = await change(first.headers.etag, 'Uwase Anne');
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal((await change(first.headers.etag, 'Uwase Anna')).status, 412);
  const again = await ask(`/members/${first.body.id}`, {
    headers: { 'If-None-Match': changed.headers.etag },
  });
  assert.deepEqual([again.status, again.body], [304, undefined]);
  const faulty = await ask('/members', { method: 'POST', body: { full_name: 'x' } });
  assert.equal(faulty.status, 400);
  assert.ok('member_code' in faulty.body);
});

test('an export is a stream, which makes room for others when it is left', async (context) => {
  const { app, ask } = await startSample(context);
  /** Asks until there is room: an export counts until its file is closed, soon after it was read or left. */
  async function askWithRoom(path: string): Promise<Json> {
    const answer = await ask(path);
    if (answer.status !== 503) return answer;
    await sleep(10);
    return askWithRoom(path);
  }
  const path = '/members/export?status=active';
  const { text: sent } = await app.send(path);
  const { body, headers } = await askWithRoom(path);
  assert.equal(headers['content-type'], 'application/x-ndjson');
  assert.ok(body instanceof Readable);
  assert.equal(await text(body), sent);
  // Only two may run.
  for (const _ of [1, 2, 3, 4]) {
    const left = await askWithRoom('/members/export?format=csv');
    assert.equal(left.status, 200);
    left.body.destroy();
  }
  const head = await ask(path, { method: 'HEAD' });
  assert.deepEqual([head.status, head.body], [200, undefined]);
  assert.equal((await ask(path, { key: app.issue(SCOPES, { mayExport: false }).key })).status, 403);
});

test('who reads slowly is waited for; who does not read is left', async (context) => {
  const part = Buffer.alloc(64 * 1024);
  const server = serveInProcess({
    handler(_incoming, outgoing) {
      outgoing.setHeader('Content-Type', 'text/plain');
      Readable.from(Array(20).fill(part)).pipe(outgoing);
    },
    log: { refused: assert.fail, closed: assert.fail },
    timeouts: { idleMs: 400 },
  });
  context.after(() => server.close());
  const read = async (pauseMs: number): Promise<number> => {
    const { body } = await openRequests(server.connect)('GET', '/');
    let bytes = 0;
    for await (const each of body as Readable) {
      bytes += each.length;
      await sleep(pauseMs);
    }
    return bytes;
  };
  assert.equal(await read(60), 20 * part.length);
  await assert.rejects(read(2_000), { code: 'ECONNRESET' });
});

test('what is shown of persons is recorded before, with a receipt; what cannot be is not shown', async (context) => {
  const ledger = memoryLedger();
  const { app } = await startLending(context, { ledger });
  const ask = asking(app, app.issue(['members:read']).key);
  const headers = { 'X-Purpose': 'Audit', 'X-End-User': 'A. A.' };
  const answer = await ask(`/members/${nid(1)}`, { headers });
  const reading = ledger.readings.at(-1);
  assert.equal(answer.headers['x-access-receipt'], receiptOf(ledger.readings.length));
  assert.equal(reading?.requestId, answer.headers['x-request-id']);
  assert.deepEqual(
    [reading?.route, reading?.purpose, reading?.endUser, reading?.address, reading?.subject.identityCards],
    ['GET /api/v1/members/{id}', 'Audit', 'A. A.', '127.0.0.1', [nid(1)]],
  );
  ledger.isFull = true;
  const refused = await ask(`/members/${nid(1)}`);
  assert.deepEqual([refused.status, 'memberships' in refused.body], [503, false]);
});

test('a request comes from this machine, for allowlists too, and is in the log', async (context) => {
  const app = await startApp(context);
  const statusOf = async (block: string, of = app, headers = {}) => {
    const { key } = of.issue(['members:read'], { allowedAddresses: [block] });
    return (await asking(of, key)('/members', { headers })).status;
  };
  assert.deepEqual([await statusOf('127.0.0.1/32'), await statusOf('10.0.0.0/8')], [200, 403]);
  const behind = await startApp(context, { settings: { TRUSTED_PROXIES: '127.0.0.1' } });
  const headers = { 'X-Forwarded-For': '10.1.2.3' };
  assert.equal(await statusOf('10.0.0.0/8', behind, headers), 200);
  assert.equal(await statusOf('127.0.0.1/32', behind, headers), 403);
  await app.registry.close();
  const lines = app.logLines.map((line) => JSON.parse(line)).filter(({ route }) => route !== undefined);
  assert.deepEqual(
    lines.map(({ method, route, status, reason }) => [method, route, status, reason]),
    [
      ['GET', '/api/v1/members', 200, undefined],
      ['GET', '/api/v1/members', 403, 'address'],
    ],
  );
});

test('close() waits for what is asked, and refuses what comes later', async (context) => {
  const ledger = memoryLedger();
  const { app } = await startLending(context, { ledger });
  const ask = asking(app);
  const { last_sequence: last } = (await ask('/events')).body;
  const waiting = ask(`/events?after=${last}&wait=25`);
  ledger.hold();
  const held = ask(`/members/${nid(1)}`);
  await ledger.next();
  let isClosed = false;
  const closing = app.registry.close().then(() => {
    isClosed = true;
  });
  await assert.rejects(ask('/members'), /^Error: The registry is closed\.$/);
  await sleep(100);
  assert.ok(!isClosed);
  ledger.release();
  assert.deepEqual([(await held).status, (await waiting).status], [200, 200]);
  await closing;
  await assert.rejects(ask('/members'), /^Error: The registry is closed\.$/);
});

test('a request that close() cannot wait for any longer is an error', async (context) => {
  const ledger = memoryLedger();
  const { app } = await startLending(context, { ledger, timeouts: { closeMs: 100 } });
  ledger.hold();
  const held = assert.rejects(asking(app)(`/members/${nid(1)}`), { code: 'ECONNRESET' });
  await ledger.next();
  await app.registry.close();
  await held;
});

test('what is no request is refused as over HTTP, or cannot be sent', async (context) => {
  const app = await startApp(context);
  const { registry, fullKey: key } = app;
  const request = requestOf(app);
  const refusals: [string, string, unknown, number][] = [
    ['GET', 'api/v1/members', undefined, 400],
    ['GET', 'http://localhost/api/v1/members', undefined, 400],
    ['GET', '/api/v1/members', {}, 400],
    ['GET', '/api/v2/members', undefined, 404],
    ['PUT', '/api/v1/members', {}, 405],
    ['POST', '/api/v1/members', { full_name: 'x'.repeat(3_000_000) }, 413],
  ];
  for (const [method, path, body, status] of refusals) {
    const answer = await request(method, path, body, { key });
    assert.equal(answer.status, status, `${method} ${path}`);
    assert.ok('detail' in (answer.body as object));
  }
  await assert.rejects(request('GET', '/api/v1/members?search=a b'), { code: 'ERR_UNESCAPED_CHARACTERS' });
  await assert.rejects(request('GE T', '/'), { code: 'ERR_INVALID_HTTP_TOKEN' });
  await assert.rejects(request('GET', '/', undefined, { headers: { a: '\n' } }), {
    code: 'ERR_INVALID_CHAR',
  });
  await assert.rejects(
    request('CONNECT', 'localhost:80'),
    /^Error: The connection ended without an answer\.$/,
  );
  // No connection is left open.
  const startedMs = performance.now();
  await registry.close();
  assert.ok(performance.now() - startedMs < 1_000);
});

test('a loop of requests leaves time for whatever else the process does', async (context) => {
  const app = await startApp(context);
  let turns = 0;
  const count = () => {
    turns++;
    if (turns < 10) setImmediate(count);
  };
  setImmediate(count);
  for (let i = 0; i < 10; i++) await asking(app)(`/members/${nid(1)}`);
  assert.equal(turns, 10);
});

test('commands issue keys and correct people beside the program, from its next request on', async (context) => {
  const { app } = await startLending(context);
  const operate = async (...args: string[]) => {
    const { status, out, err } = await command([...args, '--json', '--db', app.config.storage]);
    assert.equal(status, 0, err);
    return JSON.parse(out);
  };
  const { id, key } = await operate('keys', 'create', '--name', 'Portal', '--scope', 'members:read');
  const ask = asking(app, key);
  assert.equal((await ask(`/members/${nid(1)}`)).body.memberships.length, 2);
  const why = ['--reason', 'New card', '--yes'];
  const { correction_id: correction } = await operate('nid', 'replace', nid(1), nid(8), ...why);
  assert.equal((await ask(`/members/${nid(8)}`)).body.memberships.length, 2);
  await operate('imports', 'undo', String(correction), '--yes');
  assert.equal((await ask(`/members/${nid(8)}`)).status, 404);
  await operate('keys', 'disable', String(id));
  assert.equal((await ask(`/members/${nid(1)}`)).status, 401);
});

test('the process waits for an answer, and ends by itself after close()', async (context) => {
  const folder = temporaryFolder(context);
  const db = await copyRegistry(folder);
  const issue = ['keys', 'create', '--name', 'a', '--scope', SCOPES.join(), '--json', '--db', db];
  const { key } = JSON.parse((await command(issue)).out);
  writeFileSync(
    join(folder, 'app.mjs'),
    `import { openRegistry } from '${new URL('../src/index.ts', import.meta.url)}';
    const [db, key] = process.argv.slice(2);
    const registry = openRegistry({ db, accessLedger: true });
    const ask = (path) => registry.request('GET', '/api/v1/' + path, undefined, { key });
    const { body } = await ask('events');
    for (const path of ['events?wait=1&after=' + body.last_sequence, 'statistics', 'members?search=uwa'])
      console.log((await ask(path)).status);
    await registry.close();`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'app.mjs'), db, key], {
    ...CHILD_LIMIT,
    env: plainEnvironment,
  });
  assert.equal(stdout, '200\n200\n200\n');
});

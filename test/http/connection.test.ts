/** Connections: what was handled is answered, whatever follows it; and clients that do not read. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Connection } from '../../src/http/server/server.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { exchange, lastRequest, openSocket, parseResponses, requestHead } from '../support/raw.ts';
import { openFile } from '../support/sqlite.ts';

const BODY = '{"code":"KOPA","name":"Kopa é"}';

/** A POST that is stored. @param bytes announced as the length of the body; its own when left out */
const post = (app: TestApp, bytes = Buffer.byteLength(BODY), ...more: string[]): string =>
  requestHead(
    'POST /api/v1/cooperatives HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${app.fullKey}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
    ...more,
  );

/** As many cooperatives as a page has, straight into the table. */
function fillPage(app: TestApp): void {
  const db = openFile(app.config.storage);
  db.exec(`INSERT INTO cooperatives (code, name, status, created_at, updated_at)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    SELECT 'C-' || i, printf('%0200d', i), 'active', 0, 0 FROM n`);
  db.close();
}

/** Asks for a page of 200 cooperatives. */
const pageHead = (app: TestApp): string =>
  requestHead(
    'GET /api/v1/cooperatives?page_size=200 HTTP/1.1',
    ...['Host: a', `Authorization: Bearer ${app.fullKey}`],
  );

const countCooperatives = async (app: TestApp): Promise<number> =>
  (await app.send('/cooperatives')).json.count;

const statusesOf = (text: string): number[] => parseResponses(text).map(({ status }) => status);

test('a write is answered 201 when unreadable bytes follow in the same packet, and then 400', async (context) => {
  const app = await startApp(context);
  const [first, second] = parseResponses(await exchange(context, app.port, `${post(app)}${BODY}}\r\n\r\n`));
  assert.equal(first?.status, 201);
  assert.equal(first?.body.code, 'KOPA');
  assert.equal(second?.status, 400);
  assert.deepEqual(second?.body, { detail: 'The request could not be read as HTTP.' });
  assert.match(second?.head ?? '', /Connection: close/);
  assert.equal(await countCooperatives(app), 1);
});

test('each of several requests is answered before unreadable bytes are refused', async (context) => {
  const app = await startApp(context);
  const get = `GET /api/v1/cooperatives HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.fullKey}\r\n\r\n`;
  const text = await exchange(context, app.port, `${get}${post(app)}${BODY}${get}\u0001\u0002\r\n\r\n`);
  assert.deepEqual(statusesOf(text), [200, 201, 200, 400]);
});

test('a write behind one that is refused is answered too, though nobody read the body of the first', async (context) => {
  const app = await startApp(context);
  const refused = post(app).replace(app.fullKey, 'nobody');
  const last = post(app, undefined, 'Connection: close');
  const text = await exchange(context, app.port, `${refused}${BODY}${last}${BODY}`);
  assert.deepEqual(statusesOf(text), [401, 201]);
});

test('a write that comes after a response with Connection: close is not handled', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(post(app).replace(app.fullKey, 'nobody'));
  while (!text.includes('}')) await once(socket, 'data');
  socket.write(`${BODY}${post(app)}${BODY}`);
  if (!socket.closed) await once(socket, 'close');
  const responses = parseResponses(text);
  assert.deepEqual(statusesOf(text), [401]);
  assert.match(responses[0]?.head ?? '', /^Connection: close\r?$/m);
  assert.equal(await countCooperatives(app), 0);
});

test('all requests of a packet are answered while the server closes, and the last response says close', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write('GET /healthz HTTP/1.1\r\n');
  assert.equal((await app.send('//readyz')).status, 200);
  const closing = app.registry.close();
  socket.write(`Host: a\r\n\r\n${post(app)}${BODY}`);
  await closing;
  if (!socket.closed) await once(socket, 'close');
  assert.deepEqual(
    parseResponses(text).map(({ status, head }) => [status, /^Connection: (\S+)/m.exec(head)?.[1]]),
    [
      [200, 'keep-alive'],
      [201, 'close'],
    ],
  );
});

test('a malformed chunk is answered 400, and nothing of the body is stored', async (context) => {
  const app = await startApp(context);
  const head = post(app).replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
  const text = await exchange(
    context,
    app.port,
    `${head}${Buffer.byteLength(BODY).toString(16)}\r\n${BODY}\r\nzz\r\n`,
  );
  const [response, ...others] = parseResponses(text);
  assert.equal(response?.status, 400);
  assert.deepEqual(response?.body, { detail: 'The request could not be read as HTTP.' });
  assert.deepEqual(others, []);
  assert.equal(await countCooperatives(app), 0);
});

test('a transfer encoding that is not understood is answered 501', async (context) => {
  const app = await startApp(context);
  for (const coding of ['gzip', 'gzip, chunked', 'identity']) {
    const head = post(app).replace(/Content-Length: \d+/, `Transfer-Encoding: ${coding}`);
    const [response] = parseResponses(await exchange(context, app.port, `${head}${BODY}`));
    assert.equal(response?.status, 501, coding);
    assert.deepEqual(response?.body, { detail: 'Unsupported transfer encoding in request.' });
  }
});

test('CONNECT is answered 405 with Allow, after what came before it', async (context) => {
  const app = await startApp(context);
  const text = await exchange(
    context,
    app.port,
    `${post(app)}${BODY}CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n`,
  );
  const [first, second] = parseResponses(text);
  assert.equal(first?.status, 201);
  assert.equal(second?.status, 405);
  assert.match(second?.head ?? '', /^Allow: GET, HEAD, OPTIONS, PATCH, POST, PUT\r?$/m);
});

const UPGRADE = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];

/** Asks for events that do not come by themselves. */
const pollHead = (app: TestApp): string =>
  requestHead(
    'GET /api/v1/events?wait=30 HTTP/1.1',
    ...['Host: a', `Authorization: Bearer ${app.fullKey}`, ...UPGRADE],
  );

test('a request that asks for an upgrade is answered after what came before, and ends the connection', async (context) => {
  const app = await startApp(context);
  const upgrade = requestHead('GET /healthz HTTP/1.1', 'Host: a', ...UPGRADE);
  for (const [bytes, statuses] of [
    [upgrade, [200]],
    [`${post(app)}${BODY}${upgrade}`, [201, 200]],
    [`${post(app, undefined, ...UPGRADE)}${BODY.replace('KOPA', 'KOPB')}`, [201]],
  ] as const) {
    const responses = parseResponses(await exchange(context, app.port, bytes));
    assert.deepEqual(
      responses.map(({ status }) => status),
      statuses,
    );
    assert.match(responses.at(-1)?.head ?? '', /^Connection: close\r?$/m);
    assert.doesNotMatch(responses.at(-1)?.head ?? '', /Keep-Alive/i);
  }
});

test('what follows a request that asks for an upgrade is not handled, in its packet or in a later one', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const inner = `${post(app)}${BODY}`;
  // Half of a request follows in the packet; the other half, its body, reads like a request of its own.
  socket.write(`${pollHead(app)}${inner}${post(app, inner.length)}`);
  await wait(100);
  socket.write(inner);
  await wait(100);
  assert.equal(await countCooperatives(app), 0);
  await app.send('/cooperatives', { method: 'POST', body: { code: 'WAKE', name: 'x' } });
  if (!socket.closed) await once(socket, 'close');
  assert.deepEqual(statusesOf(text), [200]);
  assert.equal(await countCooperatives(app), 1);
});

test('a client that leaves while its request with Upgrade waits is noticed', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  socket.write(pollHead(app));
  await wait(100);
  socket.destroy();
  for (let i = 0; i < 40 && app.logLines.length === 0; i++) await wait(50);
  assert.equal(JSON.parse(app.logLines[0] ?? '{}').aborted, true);
});

test('an answered request, and the key in it, is forgotten while its connection stays open', async (context) => {
  const app = await startApp(context, { timeouts: { idleMs: 50 } });
  const requests: WeakRef<object>[] = [];
  const onRequest = (message: unknown) => {
    requests.push(new WeakRef((message as { request: object }).request));
  };
  subscribe('http.server.request.start', onRequest);
  context.after(() => unsubscribe('http.server.request.start', onRequest));
  const socket = await openSocket(context, app.port);
  socket.write(requestHead('GET /api/v1/me HTTP/1.1', 'Host: a', `Authorization: Bearer ${app.fullKey}`));
  await once(socket, 'data');
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  assert.equal(requests.length, 1);
  for (let i = 0; i < 40 && requests[0]?.deref() !== undefined; i++) {
    await wait(50);
    collect();
  }
  assert.equal(requests[0]?.deref(), undefined);
  assert.equal(socket.closed, false);
});

test('a Host that is not a host is refused with 400', async (context) => {
  const app = await startApp(context);
  for (const host of ['a b', 'x@y', 'a,b', ':::', '[::1', '[::1]x', 'a:b', 'a/b', '[1.2.3]', '']) {
    const bytes = lastRequest('GET /api/v1/members?page_size=1 HTTP/1.1', `Host: ${host}`);
    const [response] = parseResponses(await exchange(context, app.port, bytes));
    assert.equal(response?.status, 400, host);
    assert.deepEqual(response?.body, { detail: 'The Host header is not a valid host.' });
  }
  for (const host of ['a', 'a.example.rw:8080', '127.0.0.1:1', '[::1]:8080', '[::1]', 'under_score']) {
    const bytes = lastRequest('GET /healthz HTTP/1.1', `Host: ${host}`);
    assert.deepEqual(statusesOf(await exchange(context, app.port, bytes)), [200], host);
  }
});

test('what is refused below the handler is logged with its status', async (context) => {
  const app = await startApp(context);
  await exchange(context, app.port, lastRequest('GET / HTTP/1.1', 'Host: a', 'Expect: tea'));
  await exchange(context, app.port, 'nonsense\r\n\r\n');
  await exchange(context, app.port, lastRequest('CONNECT a:80 HTTP/1.1', 'Host: a'));
  await wait(10);
  const logged = app.logLines.map((line) => JSON.parse(line)).filter(({ method }) => method === 'OTHER');
  assert.deepEqual(
    logged.map(({ status, route, key_id }) => [status, route, key_id]),
    [
      [417, '', null],
      [400, '', null],
      [405, '', null],
    ],
  );
});

test('a client that asks and never reads is dropped', { timeout: 20_000 }, async (context) => {
  const app = await startApp(context, { timeouts: { idleMs: 300 } });
  fillPage(app);
  const socket = await openSocket(context, app.port);
  socket.pause();
  const request = pageHead(app);
  // More than the system's buffers of both sides hold.
  socket.write(request.repeat(300));
  const started = performance.now();
  // A write fails once the server has reset the connection: a paused socket does not notice by reading.
  const asking = setInterval(() => socket.write(request), 100);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(asking);
  assert.ok(performance.now() - started < 15_000);
});

/** A connection over a socket whose counters the test sets, and which is looked at second by second. */
function idleConnection() {
  const counters = { unsent: 0, queued: 0, read: 100 };
  let isDestroyed = false;
  const socket = {
    get writableLength() {
      return counters.unsent;
    },
    get bytesRead() {
      return counters.read;
    },
    get bytesWritten() {
      return 5_000_000;
    },
    get _handle() {
      return { writeQueueSize: counters.queued };
    },
    destroy() {
      isDestroyed = true;
    },
  };
  const unused = {
    closed: () => assert.fail('there is room'),
    refused: () => assert.fail('nothing is refused'),
  };
  const connection = new Connection(socket as unknown as Duplex, unused);
  const begin = (outgoing: { closed: boolean }) =>
    connection.receive({ ...outgoing, req: {} } as never, () => {});
  const lookAt = (seconds: number) => {
    connection.dropIfIdle(seconds * 1000, 60_000);
    return isDestroyed;
  };
  return { counters, begin, lookAt };
}

test('a connection is dropped after 60 s without progress of its response, not while the system takes bytes', () => {
  const { counters, begin, lookAt } = idleConnection();
  begin({ closed: false });
  Object.assign(counters, { unsent: 1_000_000, queued: 500_000 });
  assert.deepEqual([200, 259].map(lookAt), [false, false]);
  // The system has taken another byte.
  counters.queued--;
  assert.deepEqual([261, 320].map(lookAt), [false, false]);
  // That the client sends more is no progress.
  counters.read++;
  assert.equal(lookAt(322), true);
});

test('a connection without traffic is dropped after 60 s during a request', () => {
  const { counters, begin, lookAt } = idleConnection();
  begin({ closed: false });
  assert.deepEqual([1, 60].map(lookAt), [false, false]);
  counters.read++;
  assert.deepEqual([61, 120].map(lookAt), [false, false]);
  assert.equal(lookAt(121), true);
});

test('a connection without traffic is dropped after 65 s between two requests', () => {
  const { begin, lookAt } = idleConnection();
  begin({ closed: true });
  assert.deepEqual([1, 65].map(lookAt), [false, false]);
  assert.equal(lookAt(66), true);
});

test('a client that reads slowly is served to the end', { timeout: 20_000 }, async (context) => {
  const app = await startApp(context, { timeouts: { idleMs: 400 } });
  fillPage(app);
  const socket = await openSocket(context, app.port);
  const request = pageHead(app);
  socket.pause();
  socket.write(request.repeat(31) + request.replace('Host: a', 'Host: a\r\nConnection: close'));
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 15);
  });
  socket.resume();
  await once(socket, 'close');
  assert.ok(bytes > 32 * 50_000, `${bytes} bytes`);
});

test('a response that takes longer to prepare than a connection may be idle is sent', async (context) => {
  const app = await startApp(context, { timeouts: { idleMs: 100 } });
  const waiting = app.send('/events?wait=30&after=0', { key: app.issue(['webhooks:receive']).key });
  await wait(400);
  await app.send('/cooperatives', { method: 'POST', body: { code: 'A', name: 'A' } });
  const { status, json } = await waiting;
  assert.deepEqual([status, json.results?.length], [200, 1], JSON.stringify(json));
});

/**
 * Below the handler: raw requests, slow clients, refused bodies, shutdown (docs/api.md#responses-and-errors).
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import {
  exchange,
  lastRequest,
  openSocket,
  parseResponses,
  type RawResponse,
  requestHead,
} from '../support/raw.ts';

const CREATE = 'POST /api/v1/cooperatives HTTP/1.1';
const JSON_BODY = 'Content-Type: application/json';

/** The head of a request that creates a cooperative. */
const createHead = (key: string, bytes: number, ...more: string[]): string =>
  requestHead(
    ...[CREATE, 'Host: a', `Authorization: Bearer ${key}`, JSON_BODY, `Content-Length: ${bytes}`],
    ...more,
  );

/** The only response in a text. */
function parse(text: string): RawResponse {
  const [response, ...others] = parseResponses(text);
  assert.ok(response !== undefined && others.length === 0);
  return response;
}

test('what two programs could read differently is refused with 400', async (context) => {
  const app = await startApp(context);
  const auth = `Authorization: Bearer ${app.fullKey}`;
  for (const [bytes, detail] of [
    [lastRequest('GET /api/v1/me HTTP/1.1', 'Host: a', 'Host: b', auth), 'More than one Host header.'],
    [lastRequest('GET /api/v1/me HTTP/1.1', auth), 'The Host header is missing.'],
    [lastRequest('GET /api/v1/me HTTP/1.1', 'Host: a', auth, auth), 'More than one Authorization header.'],
    [
      lastRequest('GET http://a/api/v1/me HTTP/1.1', 'Host: a', auth),
      'Expected a path, not an absolute address.',
    ],
    [lastRequest('GET /api/v1/me HTTP/2.0', 'Host: a', auth), 'Unsupported HTTP version.'],
    [
      `${lastRequest('GET /api/v1/me HTTP/1.1', 'Host: a', auth, 'Content-Length: 2')}{}`,
      'Only POST, PUT and PATCH take a body.',
    ],
    [lastRequest('GET /api/v1/me', 'Host: a'), 'Unsupported HTTP version.'],
    [
      lastRequest('GET /api/v1/me HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Content-Length: 2'),
      'The request could not be read as HTTP.',
    ],
  ] as const) {
    const response = parse(await exchange(context, app.port, bytes));
    assert.equal(response.status, 400, bytes);
    assert.equal(response.body.detail, detail);
  }
});

test('responses from below the handler have the same shape', async (context) => {
  const app = await startApp(context);
  const large = parse(
    await exchange(context, app.port, lastRequest('GET / HTTP/1.1', 'Host: a', `X: ${'a'.repeat(20_000)}`)),
  );
  assert.equal(large.status, 431);
  assert.equal(large.body.detail, 'Request header fields too large.');
  const expectation = parse(
    await exchange(context, app.port, lastRequest('GET / HTTP/1.1', 'Host: a', 'Expect: tea')),
  );
  assert.equal(expectation.status, 417);
  const tunnel = parse(await exchange(context, app.port, lastRequest('CONNECT a:80 HTTP/1.1', 'Host: a')));
  assert.equal(tunnel.status, 405);
});

test('clients that send no headers in time are answered 408 and dropped', async (context) => {
  const app = await startApp(context, { timeouts: { headersMs: 100, requestMs: 200 } });
  const response = parse(await exchange(context, app.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n'));
  assert.equal(response.status, 408);
  const body = await exchange(context, app.port, `${createHead(app.fullKey, 10)}{`);
  assert.equal(parse(body).status, 408);
});

test('clients that do nothing are dropped', async (context) => {
  const app = await startApp(context, { timeouts: { idleMs: 100 } });
  const socket = await openSocket(context, app.port);
  await once(socket, 'close');
});

test('the service says how long an idle connection stays open', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.match(first.toString(), /\r\nKeep-Alive: timeout=65\r\n/);
});

test('Expect: 100-continue is answered only after the limiter has admitted the request', async (context) => {
  const app = await startApp(context);
  const head = (key: string) => createHead(key, 27, 'Expect: 100-continue');
  const refused = await exchange(context, app.port, head('nobody'));
  assert.match(refused, /^HTTP\/1\.1 401 /);
  assert.doesNotMatch(refused, /100 Continue/);
  const socket = await openSocket(context, app.port);
  socket.write(head(app.fullKey));
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.match(first.toString(), /^HTTP\/1\.1 100 Continue/);
  socket.write('{"code":"A","name":"Abahu"}');
  const [second] = (await once(socket, 'data')) as [Buffer];
  assert.match(second.toString(), /^HTTP\/1\.1 201 /);
});

test('a refusal that leaves a body unread says so, and the client can read it while it sends', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.write(requestHead(CREATE, 'Host: a', JSON_BODY, 'Content-Length: 1000000'));
  socket.write('x'.repeat(1_000));
  while (!text.includes('\r\n\r\n{')) await once(socket, 'data');
  assert.match(text, /^HTTP\/1\.1 401 /);
  assert.match(text, /connection: close/i);
  socket.write('x'.repeat(100_000));
  await once(socket, 'close');
});

test('a client that ends in the middle of its body leaves the server as it was', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  socket.write(`${createHead(app.fullKey, 10)}{`);
  await new Promise((resolve) => setTimeout(resolve, 30));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal((await app.send('/cooperatives')).json.count, 0);
});

test('readiness turns 503 while the server closes, and what was received is answered', async (context) => {
  const app = await startApp(context);
  const socket = await openSocket(context, app.port);
  socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\n');
  assert.equal((await app.send('//readyz')).status, 200);
  const closing = app.registry.close();
  socket.write('\r\n');
  const [received] = (await once(socket, 'data')) as [Buffer];
  const { status, head, body } = parse(received.toString());
  assert.equal(status, 503);
  assert.match(head, /retry-after: 5/i);
  assert.match(head, /connection: close/i);
  assert.equal(body.detail, 'The server is shutting down.');
  await closing;
  await assert.rejects(app.send('//healthz'));
});

test('closing does not wait for a client that never sent a byte, or that asked for an upgrade', async (context) => {
  const app = await startApp(context);
  const silent = await openSocket(context, app.port);
  const asking = await openSocket(context, app.port);
  asking.write(requestHead('GET /healthz HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: h2c'));
  await once(asking, 'data');
  const started = performance.now();
  await app.registry.close();
  // A request that has begun would be waited for, 10 s.
  assert.ok(performance.now() - started < 5_000);
  for (const socket of [silent, asking]) if (!socket.closed) await once(socket, 'close');
});

test('closing does not wait for ever for a half-sent request', async (context) => {
  const app = await startApp(context, { timeouts: { closeMs: 100 } });
  const socket = await openSocket(context, app.port);
  socket.write('GET /readyz HTTP/1.1\r\n');
  assert.equal((await app.send('//readyz')).status, 200);
  await app.registry.close();
  if (!socket.closed) await once(socket, 'close');
});

test('a database that does not answer is not ready', async (context) => {
  const app = await startApp(context);
  await app.registry.store.close();
  const response = await app.send('//readyz');
  assert.equal(response.status, 503);
  assert.deepEqual(response.json, { detail: 'The database does not answer.' });
  assert.equal(JSON.parse(app.logLines.at(-1) ?? '{}').reason, 'not_ready');
});

test('requests that arrive together get their own responses, in order', {
  timeout: 20_000,
}, async (context) => {
  const app = await startApp(context);
  const ids = Array.from({ length: 20 }, (_, i) => `request-${i}`);
  // In one packet: all of them are handled in one iteration.
  const requests = ids.map((id, i) => {
    const path = i % 4 === 0 ? '/api/v1/nothing' : '/healthz';
    const head = i === ids.length - 1 ? lastRequest : requestHead;
    return head(`GET ${path} HTTP/1.1`, 'Host: a', `X-Request-Id: ${id}`);
  });
  const text = await exchange(context, app.port, requests.join(''));
  assert.deepEqual(
    [...text.matchAll(/X-Request-Id: (\S+)/g)].map(([, id]) => id),
    ids,
  );
  assert.deepEqual(
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ids.map((_, i) => (i % 4 === 0 ? '404' : '200')),
  );
});

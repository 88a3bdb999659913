/** Personal data leaves only once its reading is recorded (docs/ledger.md). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as iteration, setTimeout as wait } from 'node:timers/promises';
import { nid } from '../support/importing.ts';
import { type Lending, LOAN_TERMS, startLending } from '../support/lending.ts';
import { type MemoryLedger, memoryLedger, receiptOf } from '../support/memory-ledger.ts';
import { openSocket, parseResponses, requestHead } from '../support/raw.ts';

const NAME = 'Person 1';

async function start(context: TestContext): Promise<Lending & { readonly ledger: MemoryLedger }> {
  const ledger = memoryLedger();
  return { ...(await startLending(context, { ledger })), ledger };
}

/** What a connection has received. */
class Received {
  text = '';

  constructor(socket: Socket) {
    socket.on('data', (chunk) => {
      this.text += chunk.toString();
    });
  }

  /** Waits until there is a text. */
  async until(text: string): Promise<void> {
    while (!this.text.includes(text)) await iteration();
  }
}

const request = (path: string, key: string) =>
  requestHead(`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`);

test('nothing of a response leaves before its reading is acknowledged, nor its log line', async (context) => {
  const { app, ledger } = await start(context);
  ledger.hold();
  const before = app.logLines.length;
  const recorded = ledger.readings.length;
  const paths = [`/members/${nid(1)}`, '/members', '/members/export', `/loans?identity_card=${nid(1)}`];
  const received = await Promise.all(
    paths.map(async (path) => {
      const socket = await openSocket(context, app.port);
      socket.write(request(`/api/v1${path}`, app.fullKey));
      return new Received(socket);
    }),
  );
  while (ledger.readings.length < recorded + paths.length) await iteration();
  // A response that did not wait would be there after those that came later.
  for (let i = 0; i < 3; i++) assert.equal((await app.send('//healthz', { key: null })).status, 200);
  assert.deepEqual(
    received.map(({ text }) => text),
    ['', '', '', ''],
  );
  assert.ok(!app.logLines.slice(before).some((line) => line.includes('"method":"GET","route":"/api')));
  ledger.release();
  for (const each of received) await each.until('X-Access-Receipt');
});

test('without the ledger no personal data is shown, and everything else goes on', async (context) => {
  const { app, ledger, lend } = await start(context);
  await lend({ reference: 'L-1' });
  ledger.isFull = true;
  const paths = [
    ...[`/members/${nid(1)}`, `/members/${nid(8)}`, '/members/1', '/members', '/members/export'],
    ...['/cooperatives/1/members', '/members/1/deliveries', '/loans/1', '/loans', '/loans/export'],
  ];
  for (const path of paths) {
    const { status, headers, text, json } = await app.send(path);
    assert.deepEqual([status, headers['retry-after']], [503, '2'], path);
    assert.deepEqual(json, { detail: 'This reading could not be recorded. Try again.' }, path);
    for (const name of ['etag', 'x-access-receipt', 'content-disposition', 'content-location'])
      assert.equal(headers[name], undefined, `${path}: ${name}`);
    assert.ok(!text.includes(NAME));
  }
  const body = { identity_cards: [nid(1)] };
  const lookups = await app.send('/members/lookups', { method: 'POST', body });
  assert.equal(lookups.status, 503);
  assert.deepEqual(lookups.json, { detail: 'This reading could not be recorded. Try again.' });
  for (const path of ['//healthz', '//readyz', '/cooperatives', '/statistics', '/events', '/me'])
    assert.equal((await app.send(path)).status, 200, path);
  assert.equal((await app.send('/members/1', { key: null })).status, 401);
  assert.equal((await app.send('/members/99')).status, 404);
  const unrecorded = app.logLines.filter((line) => line.includes('"status":503'));
  assert.equal(unrecorded.length, paths.length + 1);
  for (const line of unrecorded) assert.match(line, /"reason":"ledger"/);
});

test('a change that cannot be shown was made, says so, and can be asked for again', async (context) => {
  const { app, ledger, post } = await start(context);
  ledger.isFull = true;
  const body = { member_id: '2', reference: 'L-7', ...LOAN_TERMS };
  const sent = { method: 'POST', body, headers: { 'Idempotency-Key': 'k' } };
  const made = 'The change was made; it is not shown because this reading could not be recorded.';
  const created = await app.send('/loans', sent);
  assert.deepEqual([created.status, created.json], [503, { detail: made }]);
  assert.equal(created.headers.location, undefined);
  const changed = await app.send('/members/2', { method: 'PATCH', body: { gender: 'MALE' } });
  assert.deepEqual([changed.status, changed.json], [503, { detail: made }]);
  ledger.isFull = false;
  const again = await app.send('/loans', sent);
  assert.deepEqual([again.status, again.json.reference], [201, 'L-7']);
  assert.equal((await app.send('/members/2')).json.gender, 'MALE');
  assert.equal((await post('/loans', body)).status, 400);
});

test('responses on one connection keep their order while one waits for the ledger', async (context) => {
  const { app, ledger } = await start(context);
  const socket = await openSocket(context, app.port);
  const received = new Received(socket);
  ledger.hold();
  const given = ledger.next();
  const [first, second] = [request('/api/v1/members/1', app.fullKey), request('/healthz', app.fullKey)];
  socket.write(first + second + request('/api/v1/members/2', app.fullKey) + second);
  await given;
  for (let i = 0; i < 3; i++) await app.send('//healthz', { key: null });
  assert.equal(received.text, '');
  ledger.release();
  for (;;) {
    await iteration();
    if (received.text.split('HTTP/1.1 ').length === 5 && received.text.endsWith('}')) break;
  }
  const responses = parseResponses(received.text);
  assert.deepEqual(
    responses.map(({ body }) => body.id ?? body.status),
    ['1', 'ok', '2', 'ok'],
  );
});

test('what is ready together is recorded together, each with its own receipt', async (context) => {
  const { app, ledger } = await start(context);
  const sockets = [];
  for (let i = 0; i < 3; i++) sockets.push(await openSocket(context, app.port));
  const received = sockets.map((socket) => new Received(socket));
  const before = ledger.readings.length;
  const batches: number[] = [];
  const { record } = ledger;
  ledger.record = (readings) => {
    batches.push(readings.length);
    return record.call(ledger, readings);
  };
  for (const [i, socket] of sockets.entries()) socket.write(request(`/api/v1/members/${i + 1}`, app.fullKey));
  for (const [i, each] of received.entries()) {
    await each.until('}');
    const { head, body } = parseResponses(each.text)[0] as ReturnType<typeof parseResponses>[0];
    assert.equal(body.id, String(i + 1));
    assert.ok(head.toLowerCase().includes(`x-access-receipt: ${receiptOf(before + 1 + i)}`));
  }
  assert.deepEqual(batches, [3]);
});

test('a client that leaves while its response waits is logged as gone, and its reading stays', async (context) => {
  const { app, ledger } = await start(context);
  ledger.hold();
  const before = ledger.readings.length;
  const socket = await openSocket(context, app.port);
  const given = ledger.next();
  socket.write(request(`/api/v1/members/${nid(1)}`, app.fullKey));
  await given;
  socket.destroy();
  await once(socket, 'close');
  for (let i = 0; i < 3; i++) await app.send('//healthz', { key: null });
  ledger.release();
  while (!app.logLines.at(-1)?.includes('"aborted":true')) await iteration();
  assert.equal(ledger.readings.length, before + 1);
});

test('an export that could not be recorded leaves room for others', async (context) => {
  const { app, ledger } = await start(context);
  ledger.isFull = true;
  /** Its file is closed soon after its client has the response. */
  const ask = async () => {
    for (;;) {
      const { status, json } = await app.send('/members/export');
      if (json?.detail !== '2 exports run already. Try again.') return { status, detail: json?.detail };
      await wait(5);
    }
  };
  for (let i = 0; i < 5; i++) assert.equal((await ask()).detail.length, 46);
  ledger.isFull = false;
  assert.equal((await ask()).status, 200);
});

test('a service that stops answers what waits for the ledger first', async (context) => {
  const { app, ledger } = await start(context);
  ledger.hold();
  const socket = await openSocket(context, app.port);
  const received = new Received(socket);
  const given = ledger.next();
  socket.write(request('/api/v1/members/1', app.fullKey));
  await given;
  const closed = app.registry.close();
  let hasClosed = false;
  void closed.then(() => {
    hasClosed = true;
  });
  for (let i = 0; i < 20; i++) await iteration();
  assert.deepEqual([hasClosed, received.text], [false, '']);
  ledger.release();
  await closed;
  await received.until(NAME);
  const [response] = parseResponses(received.text);
  assert.equal(response?.body.full_name, NAME);
  assert.match(response?.head ?? '', /connection: close/i);
});

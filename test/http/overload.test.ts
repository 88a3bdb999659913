/** What is refused while more is asked than can be done (docs/operating.md#overload). */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { ApiRequest } from '../../src/http/declare/route.ts';
import { OFTEN, RefusedAddresses } from '../../src/http/server/middleware.ts';
import { Overload, openOverloadGuard, SAMPLE_MS } from '../../src/http/server/overload.ts';
import { listen } from '../../src/http/server/server.ts';
import { type AddressBlocks, parseAddressBlocks } from '../../src/values/address-blocks.ts';
import { metricsAddress, startApp, type TestApp } from '../support/app.ts';
import { openSocket, parseResponses, type RawResponse, requestHead } from '../support/raw.ts';

/** An event loop whose iterations take as long as the test says. */
function openLoop() {
  const overload = new Overload(0);
  let nowMs = 0;
  return {
    overload,
    /** Looks, reads requests one millisecond apart, and says how many of them were refused. */
    iterate(ms: number, requests = 0): number {
      nowMs += ms;
      overload.sample(nowMs);
      let refused = 0;
      for (let i = 0; i < requests; i++) if (overload.refuses(++nowMs)) refused++;
      overload.polled(nowMs);
      return refused;
    },
  };
}

const times = (count: number, work: () => unknown): void => {
  for (let i = 0; i < count; i++) work();
};

test('a delay that lasts for half a second is an overload, and one long call is none', () => {
  const { overload, iterate } = openLoop();
  for (const ms of [5_000, SAMPLE_MS, 3_000, 1_000, SAMPLE_MS]) {
    iterate(ms);
    assert.equal(overload.isLasting, false, `${ms} ms`);
  }
  times(4, () => iterate(100));
  assert.equal(overload.isLasting, false);
  iterate(100);
  assert.equal(overload.isLasting, true);
});

test('it is over when nothing had to be refused for 3.5 s, however late the event loop is', () => {
  const { overload, iterate } = openLoop();
  times(5, () => iterate(100));
  times(33, () => iterate(100));
  assert.equal(overload.isLasting, true);
  assert.ok(iterate(100, 100) > 0);
  times(34, () => iterate(100, 1));
  assert.equal(overload.isLasting, true);
  iterate(100);
  assert.equal(overload.isLasting, false);
});

test('an iteration admits requests for 50 ms, and 24 of them in any case', () => {
  const { overload, iterate } = openLoop();
  times(5, () => iterate(100));
  assert.equal(iterate(10, 24), 0);
  assert.equal(iterate(10, 100), 60);
  assert.equal(iterate(1_000, 100), 76);
  times(200, () => iterate(SAMPLE_MS));
  assert.equal(overload.isLasting, false);
  assert.equal(iterate(100, 1_000), 0);
});

/** As many requests as one packet holds. */
const askOften = (path: string, count: number): string =>
  requestHead(`GET ${path} HTTP/1.1`, 'Host: a').repeat(count);

/** A socket that collects what it gets. */
async function openReader(context: TestContext, app: TestApp) {
  const socket = await openSocket(context, app.port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  return {
    socket,
    async responses(count: number) {
      while (text.split('HTTP/1.1 ').length - 1 < count || !text.endsWith('}')) await once(socket, 'data');
      return parseResponses(text);
    },
  };
}

/** More connections than an iteration admits requests. */
async function openClients(context: TestContext, app: TestApp) {
  const clients = await Promise.all(Array.from({ length: 30 }, () => openReader(context, app)));
  let sent = 0;
  /** One iteration reads all requests, because all have arrived when it begins. */
  async function ask(path = '/api/v1/me'): Promise<RawResponse[]> {
    for (const { socket } of clients) socket.write(askOften(path, 1));
    sent++;
    const received = await Promise.all(clients.map(({ responses }) => responses(sent)));
    return received.map((responses) => responses.at(-1) as RawResponse);
  }
  // The service has accepted a connection when it has answered a request.
  await ask('/healthz');
  return { clients, ask };
}

const isRefused = ({ status }: RawResponse): boolean => status === 503;

/**
 * Asks while each iteration of the event loop takes at least 100 ms, until a request is refused.
 * @returns all responses of the last round; the clock stands when it resolves
 */
async function askUntilRefused(context: TestContext, app: TestApp, ask: () => Promise<RawResponse[]>) {
  let isLate = true;
  const delayLoop = async () => {
    // Ends with the test, though it fails.
    while (isLate && !context.signal.aborted) {
      app.clock.advance(100);
      await wait(1);
    }
  };
  const delaying = delayLoop();
  for (;;) {
    // Later than any request may be read.
    app.clock.advance(1_000);
    const answers = await ask();
    if (!answers.some(isRefused)) continue;
    isLate = false;
    await delaying;
    return answers;
  }
}

test('a service that is late refuses before it looks at the key, is in health all the same, and recovers', async (context) => {
  const app = await startApp(context, { settings: { METRICS: '127.0.0.1:0' } });
  const { ask } = await openClients(context, app);
  const answers = await askUntilRefused(context, app, ask);
  const probes = await openClients(context, app);
  for (const path of ['/healthz', '/readyz']) {
    app.clock.advance(1_000);
    assert.ok(
      (await probes.ask(path)).every(({ status }) => status === 200),
      path,
    );
  }
  const refused = answers.find(isRefused);
  assert.deepEqual(refused?.body, { detail: 'The service is overloaded. Try again.' });
  assert.match(refused?.head ?? '', /\r\nRetry-After: 3\r\n/);
  assert.doesNotMatch(refused?.head ?? '', /WWW-Authenticate|RateLimit/);
  do app.clock.advance(4_000);
  while ((await ask()).some(isRefused));
  const metrics = await (await fetch(`http://127.0.0.1:${metricsAddress(app)?.port}/metrics`)).text();
  assert.match(metrics, /registry_refusals_total\{status="503",reason="overloaded"\} [1-9]/);
  await app.registry.close();
  assert.ok(!app.logLines.some((line) => line.includes('"status":503')));
  const counted = app.logLines.map((line) => JSON.parse(line)).filter(({ times }) => times !== undefined);
  assert.ok(counted.length > 0);
  assert.ok(counted.every(({ message }) => message === 'overloaded: requests refused with 503'));
});

test('a client that tries again at once is not read until Retry-After is nearly over, and refused once more', async (context) => {
  const app = await startApp(context);
  const { clients, ask } = await openClients(context, app);
  const answers = await askUntilRefused(context, app, ask);
  const { socket, responses } = clients[answers.findIndex(isRefused)] ?? assert.fail();
  const sent = (await responses(0)).length;
  socket.write(askOften('/api/v1/me', 1));
  // 2,900 ms, of which the last round may have taken a few iterations.
  app.clock.advance(2_500);
  // Some samples of the guard, each of which could release the connection.
  await wait(4 * SAMPLE_MS);
  assert.equal((await responses(0)).length, sent);
  app.clock.advance(400);
  assert.equal((await responses(sent + 1)).at(-1)?.status, 503);
  socket.write(askOften('/api/v1/me', 1));
  assert.equal((await responses(sent + 2)).at(-1)?.status, 401);
});

test('the connection of a refused client is held, but not that of a proxy, even by its link-local address', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const guard = openOverloadGuard(clock, parseAddressBlocks(['fe80::1']) as AddressBlocks);
  const held: string[] = [];
  const refuse = (remoteAddress: string) => {
    const socket = { remoteAddress, pause: () => held.push(remoteAddress), resume: () => undefined };
    const whenClosed = (work: () => void) => work();
    return guard.refuse({
      incoming: { socket, headers: {} },
      startMs: nowMs,
      whenClosed,
    } as unknown as ApiRequest);
  };
  guard.start();
  while (refuse('10.0.0.1') === undefined) {
    nowMs += 100;
    await wait(SAMPLE_MS + 5);
    for (let i = 0; i < 50; i++) {
      nowMs += 2;
      refuse('10.0.0.1');
    }
  }
  refuse('fe80::1%eth0');
  refuse('fe80::2%eth0');
  guard.stop();
  assert.deepEqual([...new Set(held)], ['10.0.0.1', 'fe80::2%eth0']);
});

test('addresses are counted in bounded memory, and one that comes often is found among others', () => {
  const addresses = new RefusedAddresses();
  let found = 0;
  for (let i = 0; i < 200_000; i++) {
    assert.equal(addresses.count(`2001:db8::${i}`, 0), false);
    if (i % 500 === 0 && addresses.count('192.0.2.1', 0)) found++;
  }
  assert.equal(found, 1);
  for (let i = 1; i < OFTEN; i++) assert.equal(addresses.count('192.0.2.1', 60_000), false);
  assert.equal(addresses.count('192.0.2.1', 60_000), true);
});

test('a valid key is admitted from an address that was refused often, which the log names once', async (context) => {
  const app = await startApp(context, { settings: { METRICS: '127.0.0.1:0' } });
  for (let i = 0; i < OFTEN + 10; i++) assert.equal((await app.send('/me', { key: 'nobody' })).status, 401);
  assert.equal((await app.send('/me')).status, 200);
  await app.registry.close();
  const lines = app.logLines.filter((line) => line.includes('127.0.0.1') && !line.includes('listening'));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).message),
    [`Keys were refused ${OFTEN} times in a minute from 127.0.0.1.`],
  );
});

/** A server with room for ten connections, and what it says about those that it closes. */
async function startSmall(context: TestContext, handler: RequestListener) {
  const closed: string[] = [];
  const log = { refused: () => {}, closed: (what: string) => void closed.push(what) };
  const server = await listen({
    ...{ handler, log, host: '127.0.0.1', port: 0, maxConnections: 10 },
    timeouts: { closeMs: 100 },
  });
  context.after(() => server.close());
  return { port: server.address.port, closed };
}

test('a service listens with many sockets, and a second one on the same port is refused', async (context) => {
  const { port } = await startSmall(context, (_incoming, outgoing) => void outgoing.end());
  const log = { refused: () => {}, closed: () => {} };
  const second = listen({ handler: () => {}, log, host: '127.0.0.1', port });
  await assert.rejects(second, { code: 'EADDRINUSE' });
});

test('of services that begin at once on the same port, one listens', async () => {
  const log = { refused: () => {}, closed: () => {} };
  const begin = (port: number) => listen({ handler: () => {}, log, host: '127.0.0.1', port });
  for (let ticks = 0; ticks < 4; ticks++) {
    const free = await begin(0);
    await free.close();
    const { port } = free.address;
    const begun = [begin(port)];
    for (let passed = 0; passed < ticks; passed++) await new Promise<void>((next) => process.nextTick(next));
    begun.push(begin(port));
    const outcomes = await Promise.allSettled(begun);
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value.close();
    const [first, second] = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'listens' : outcome.reason.code,
    );
    assert.deepEqual([first, second], ['listens', 'EADDRINUSE'], `${ticks} ticks later`);
  }
});

test('further connections are closed, and those that nobody uses make room for the next', async (context) => {
  const { port, closed } = await startSmall(context, (_incoming, outgoing) => void outgoing.write('begun'));
  const busy: Socket[] = [];
  for (let i = 0; i < 8; i++) {
    const socket = await openSocket(context, port);
    socket.write(askOften('/', 1));
    await once(socket, 'data');
    busy.push(socket);
  }
  const unused = [await openSocket(context, port), await openSocket(context, port)];
  const isClosed = unused.map((socket) => once(socket, 'close'));
  const further = await openSocket(context, port);
  if (!further.closed) await once(further, 'close');
  await Promise.race(isClosed);
  assert.deepEqual([...new Set(closed)].sort(), [
    'connections refused: 10 are open',
    'unused connections closed, to make room',
  ]);
  const next = await openSocket(context, port);
  next.write(askOften('/', 1));
  await once(next, 'data');
  assert.ok(busy.every((socket) => !socket.closed));
});

test('of the requests of a packet 33 are kept; the last ends the connection, and no more is read', async (context) => {
  let begun = 0;
  const count = () => begun++;
  subscribe('http.server.request.start', count);
  context.after(() => unsubscribe('http.server.request.start', count));
  const answers: (() => void)[] = [];
  const { port } = await startSmall(context, (_incoming, outgoing) => {
    answers.push(() => outgoing.end('x'));
  });
  const socket = await openSocket(context, port);
  socket.write(askOften('/', 1_000));
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  await wait(100);
  assert.deepEqual([begun, answers.length], [33, 1]);
  const closed = once(socket, 'close');
  for (let i = 0; i < 33; i++) {
    while (answers.length === 0) await wait(1);
    answers.pop()?.();
  }
  await closed;
  assert.equal(received.split('HTTP/1.1 200 OK').length - 1, 33);
  assert.equal(received.split('Connection: close').length - 1, 1);
  assert.equal(begun, 33);
  const sending = await openSocket(context, port);
  // More than the system's buffers of both sides hold.
  for (let i = 0; i < 100; i++) sending.write(askOften('/', 10_000));
  await wait(100);
  assert.equal(begun, 66);
  assert.ok(sending.writableLength > 0);
});

test('clients that read nothing cost one response each, and are dropped before they fill the memory', async (context) => {
  // More than the system's buffers of both sides hold.
  const text = 'x'.repeat(2 ** 24);
  let handled = 0;
  const { port, closed } = await startSmall(context, (_incoming, outgoing) => {
    handled++;
    outgoing.end(text);
  });
  for (let i = 0; i < 5; i++) {
    const socket = await openSocket(context, port);
    socket.pause();
    socket.write(askOften('/', 1_000));
  }
  const other = await openSocket(context, port);
  while (closed.length === 0) await wait(10);
  assert.deepEqual([...new Set(closed)], ['connections closed, whose clients do not read']);
  other.write(askOften('/', 1));
  await once(other, 'data');
  assert.equal(handled, 6);
});

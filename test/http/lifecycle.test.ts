/** The lifecycle of a request: promises, errors while the response is sent, and its log line. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { RateLimiter } from '../../src/access/rate-limiter.ts';
import { type ApiResponse, ok, refusal } from '../../src/http/declare/response.ts';
import type { Middleware } from '../../src/http/declare/route.ts';
import { type Route, SHOWS_NO_ROWS } from '../../src/http/declare/route.ts';
import { createAccessLog } from '../../src/http/server/access-log.ts';
import { chain } from '../../src/http/server/middleware.ts';
import { createHandler } from '../../src/http/server/request-lifecycle.ts';
import { createSender } from '../../src/http/server/send.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import type { Awaitable } from '../../src/values/errors.ts';
import { sendToOwnRoute, startApp, type TestClock, testClock } from '../support/app.ts';
import { openSocket } from '../support/raw.ts';

interface Place {
  readonly port: number;
  readonly lines: { [field: string]: unknown }[];
}

/** A server with one route, `GET /api/v1/things`, and middleware of the test's own. */
async function serve(
  context: TestContext,
  handle: () => Awaitable<ApiResponse>,
  middleware: readonly Middleware[] = [],
  watch: (outgoing: ServerResponse, clock: TestClock) => void = () => {},
  personal: Route['personal'] = 'none',
): Promise<Place> {
  const route: Route = {
    method: 'GET',
    path: '/things',
    operationId: 'listThings',
    summary: 'Things',
    tag: 'operation',
    access: 'public',
    narrowed: SHOWS_NO_ROWS,
    personal,
    responses: {},
    handle,
  };
  const clock = testClock();
  const scheduler = new Scheduler();
  const lines: { [field: string]: unknown }[] = [];
  const write = (text: string) =>
    void lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  const log = createAccessLog({ level: 'info', write, now: clock.now, scheduler });
  const handler = createHandler({
    routes: [route],
    keys: { countUse: () => assert.fail('nothing is deprecated') },
    middleware: chain(middleware),
    limiter: new RateLimiter(clock),
    create: () => assert.fail('no route creates'),
    send: createSender({ scheduler, keys: { countUse: () => {} }, log, clock, isDraining: () => false }),
    clock,
    log,
    publicUrl: undefined,
  });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    watch(outgoing, clock);
    handler(incoming, outgoing);
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, lines };
}

/** A value that comes later; a thenable that is not a Promise. */
const later = <T>(value: T): PromiseLike<T> => {
  const promise = wait(1).then(() => value);
  // biome-ignore lint/suspicious/noThenProperty: such an object is what the test is about
  return { then: (...settled) => promise.then(...settled) };
};

test('middleware runs in order, and a handler may answer with a promise or any thenable', async (context) => {
  const order: string[] = [];
  const note =
    (name: string): Middleware =>
    () => {
      order.push(name);
      return undefined;
    };
  const { port } = await serve(context, () => later(ok({ order })), [note('first'), note('last')]);
  assert.deepEqual((await sendToOwnRoute(port, '/things', {})).json, { order: ['first', 'last'] });
});

test('after a refusal neither the handler nor the rest of the middleware runs', async (context) => {
  const never = () => assert.fail('it ran');
  const refuse: Middleware = () => refusal(403, 'No.', {}, 'address');
  const { port, lines } = await serve(context, never, [refuse, never]);
  const response = await sendToOwnRoute(port, '/things', {});
  assert.deepEqual([response.status, response.json], [403, { detail: 'No.' }]);
  assert.equal(lines[0]?.reason, 'address');
});

test('a rejection on the way is answered 500, and its causes are in the log', async (context) => {
  const broken = () =>
    later(undefined).then(() => {
      throw new Error('the keys are gone', { cause: new Error('wire cut') });
    });
  const { port, lines } = await serve(context, broken);
  assert.equal((await sendToOwnRoute(port, '/things', {})).status, 500);
  const cause = String(lines.find((line) => line.level === 'error')?.cause);
  assert.match(cause, /the keys are gone[\s\S]*caused by Error: wire cut/);
});

test('a response that cannot be written as JSON is 500, at once or later, and the process goes on', async (context) => {
  const body = {
    toJSON() {
      throw new Error('not JSON');
    },
  };
  for (const handle of [() => ok(body), () => later(ok(body))]) {
    const { port, lines } = await serve(context, handle);
    for (let i = 0; i < 2; i++) assert.equal((await sendToOwnRoute(port, '/things', {})).status, 500);
    assert.equal(lines.filter((line) => line.level === 'error').length, 2);
  }
});

test('a header that node refuses ends its own connection only', async (context) => {
  const { port, lines } = await serve(context, async () => ({
    status: 200,
    body: {},
    headers: { 'X-Bad': 'a\nb' },
  }));
  await assert.rejects(sendToOwnRoute(port, '/things', {}));
  assert.equal((await sendToOwnRoute(port, '/nothing', {})).status, 404);
  assert.equal(lines.filter((line) => line.level === 'error').length, 1);
});

test('405 and OPTIONS are logged with the route that was found, 404 with none', async (context) => {
  const app = await startApp(context);
  await app.send('/members/12', { method: 'DELETE' });
  await app.send('/members/12', { method: 'OPTIONS' });
  await app.send('/nothing');
  const logged = app.logLines.map((line) => JSON.parse(line)).map(({ status, route }) => [status, route]);
  assert.deepEqual(logged, [
    [405, '/api/v1/members/{id}'],
    [204, '/api/v1/members/{id}'],
    [404, ''],
  ]);
});

test('every refusal of a key is logged with its reason, which the client does not learn', async (context) => {
  const app = await startApp(context);
  const reasons: [key: string | null, status: number, reason: string][] = [
    [null, 401, 'missing_key'],
    ['nobody', 401, 'malformed_key'],
    [`crs_${'0'.repeat(36)}`, 401, 'malformed_key'],
    [app.issue(['members:read'], { expiresAt: 1 }).key, 401, 'expired'],
    [app.issue(['members:read'], { allowedAddresses: ['10.0.0.0/8'] }).key, 403, 'address'],
    [app.issue(['members:read'], { allowedHosts: ['a.example.rw'] }).key, 403, 'host'],
    [app.issue(['cooperatives:read']).key, 403, 'scope'],
    [app.issue(['members:read'], { limits: { perHour: 0, perDay: 1 } }).key, 429, 'throttled_hour'],
  ];
  for (const [key, status, reason] of reasons) {
    app.logLines.length = 0;
    const response = await app.send('/members', { key });
    assert.equal(response.status, status, reason);
    assert.equal(JSON.parse(app.logLines[0] ?? '{}').reason, reason);
    assert.ok(!response.text.includes(reason));
  }
});

test('a client that leaves before its response is logged as aborted, with the time it waited', async (context) => {
  const { port, lines } = await serve(context, () => wait(60).then(() => ok({})));
  const socket = await openSocket(context, port);
  socket.write('GET /api/v1/things HTTP/1.1\r\nHost: a\r\n\r\n');
  await wait(20);
  socket.destroy();
  await wait(80);
  assert.deepEqual(
    lines.map(({ status, aborted }) => [status, aborted]),
    [[200, true]],
  );
  await sendToOwnRoute(port, '/things', {});
  assert.equal(lines[1]?.aborted, undefined);
});

test('a response is logged when it has been sent, and the time until then counts', async (context) => {
  const { port, lines } = await serve(
    context,
    () => ok({}),
    [],
    (outgoing, clock) => {
      const { end } = outgoing;
      outgoing.end = ((text: string) => {
        assert.equal(lines.length, 0);
        // As long as the responses sent before it in the same iteration may take.
        clock.advance(50);
        return end.call(outgoing, text, 'utf8');
      }) as typeof end;
    },
  );
  await sendToOwnRoute(port, '/things', {});
  assert.equal(lines[0]?.duration_ms, 50);
});

test('a response that the client is slow to read is logged when the system has taken all of it', async (context) => {
  const { port, lines } = await serve(context, () => ok({ text: 'x'.repeat(20_000_000) }));
  const socket = await openSocket(context, port);
  socket.pause();
  socket.write('GET /api/v1/things HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await wait(200);
  assert.equal(lines.length, 0);
  socket.resume();
  await once(socket, 'close');
  await wait(20);
  assert.deepEqual(
    lines.map(({ status, aborted }) => [status, aborted]),
    [[200, undefined]],
  );
});

test('a response of a route that shows persons does not leave unless it says whom', async (context) => {
  const secret = ok({ full_name: 'Somebody' });
  const serving = (response: ApiResponse) =>
    serve(context, () => response, [], undefined, { persons: 'one', fields: ['identity'] });
  for (const status of [200, 201, 304]) {
    const { port, lines } = await serving({ ...secret, status });
    const response = await sendToOwnRoute(port, '/things', {});
    assert.deepEqual([response.status, response.json], [500, { detail: 'A server error occurred.' }]);
    const [cause] = lines.filter((line) => 'cause' in line);
    assert.match(String(cause?.cause), /A response of listThings does not say whom it shows\./);
  }
  const said = await serving({ ...secret, subject: { memberIds: [1] } });
  assert.deepEqual((await sendToOwnRoute(said.port, '/things', {})).json, { full_name: 'Somebody' });
});

/** What becomes of messages that a receiver does not take (docs/webhooks.md#order-and-retries). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { retryWaitMs } from '../../src/webhooks/deliver-and-retry.ts';
import { openWebhooks } from '../../src/webhooks/open-webhook-store.ts';
import { Connections, post } from '../../src/webhooks/post.ts';
import { testClock } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWebhooks, until } from '../support/webhooks.ts';

/** With an endpoint whose receiver has refused the first of two events once. */
async function refuse(context: TestContext, status = 500) {
  const webhooks = await startWebhooks(context);
  const { receiver, add, create, json, stored } = webhooks;
  receiver.answer = status;
  await add();
  await create('C-1');
  await create('C-2');
  const list = async () => (await json('list')).webhooks[0];
  const failures = async (count: number) => until(async () => (await stored()).failures === count);
  await failures(1);
  return {
    ...webhooks,
    list,
    failures,
    sequences: () => receiver.deliveries.map(({ json }) => json.sequence),
  };
}

test('a message that was refused is sent again by the schedule, with its id, and those after it wait', async (context) => {
  const { app, receiver, failures, list, sequences, stored } = await refuse(context);
  for (const [i, wait] of [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400].entries()) {
    const { next_attempt_at: next } = await list();
    assert.ok(Math.abs(Date.parse(next) - app.clock.now() - wait * 1000) <= 1_000, `${i}: ${next}`);
    app.clock.advance(wait * 1000 - 1);
    app.clock.advance(2);
    await failures(i + 2);
  }
  receiver.answer = 200;
  app.clock.advance(86_401_000);
  await until(async () => (await stored()).position.sequence === 2);
  assert.deepEqual(sequences(), [...Array(12).fill(1), 2]);
  const ids = new Set(receiver.deliveries.map(({ id }) => id));
  assert.equal(ids.size, 2);
  const stamps = receiver.deliveries.map(({ headers }) => Number(headers['webhook-timestamp']));
  assert.ok((stamps[1] as number) > (stamps[0] as number), 'each attempt has its own time');
});

test('nothing is sent before its time', async (context) => {
  const { app, receiver, add, create, run } = await refuse(context);
  app.clock.advance(4_990);
  // Another endpoint is served meanwhile.
  const other = await startReceiver(context);
  await add('--url', other.url);
  await create('C-3');
  await other.waitFor(1);
  assert.equal(receiver.deliveries.length, 1);
  assert.equal((await run('list')).status, 0);
});

test('a step of the clock neither delays what is tried again nor sends it early', async (context) => {
  const { app, receiver, add, create, failures, run, sequences } = await refuse(context);
  app.clock.stepWall(5 * 3_600_000);
  // Another endpoint is served meanwhile, and a command changes this one.
  const other = await startReceiver(context);
  await add('--url', other.url);
  assert.equal((await run('rotate', '1')).status, 0);
  await create('C-3');
  await other.waitFor(1);
  assert.deepEqual(sequences(), [1]);
  app.clock.stepWall(-10 * 3_600_000);
  app.clock.advance(5_001);
  await failures(2);
  receiver.answer = 200;
  app.clock.advance(300_001);
  await receiver.waitFor(5);
  assert.deepEqual(sequences(), [1, 1, 1, 2, 3]);
});

test('waits differ by a tenth, and Retry-After counts instead of them', async (context) => {
  assert.deepEqual(
    [0, 0.5, 0.999].map((random) => Math.round(retryWaitMs(1, undefined, random))),
    [...[4_500, 5_000, 5_499]],
  );
  assert.deepEqual([retryWaitMs(3, 20_000, 0), retryWaitMs(3, 10 ** 9, 0)], [20_000, 86_400_000]);
  const { app, receiver, failures, list } = await refuse(context);
  receiver.answer = (response) => response.writeHead(429, { 'Retry-After': '60' }).end();
  app.clock.advance(5_001);
  await failures(2);
  const waits = async () => Date.parse((await list()).next_attempt_at) - app.clock.now();
  assert.ok(Math.abs((await waits()) - 63_000) <= 1_000);
  const date = new Date(app.clock.now() + 600_000).toUTCString();
  receiver.answer = (response) => response.writeHead(503, { 'Retry-After': date }).end();
  app.clock.advance(63_001);
  await failures(3);
  assert.ok(Math.abs((await waits()) - 537_000 * 1.05) <= 2_000, `${await waits()}`);
});

test('410 disables the endpoint, and it goes on where it was when it is enabled', async (context) => {
  const { app, receiver, list, run, sequences } = await refuse(context, 410);
  assert.equal((await list()).state, 'disabled');
  app.clock.advance(86_400_000);
  receiver.answer = 200;
  const other = await startReceiver(context);
  assert.equal((await run('list')).out.includes('the receiver answered 410'), true);
  assert.ok(app.logLines.some((line) => line.includes('has answered 410 and is disabled')));
  await run('enable', '1');
  await until(() => sequences().length === 3);
  assert.deepEqual(sequences(), [1, 1, 2]);
  assert.equal(other.deliveries.length, 0);
});

test('a failure counts, and has its wait, when a command is run before it is stored', async (context) => {
  const { app, receiver, failures, list, sequences } = await refuse(context);
  const store = openWebhooks(app.registry.storage, 'manage');
  context.after(() => store.close());
  receiver.answer = (response) => {
    store.skip(1, 2);
    response.writeHead(500).end();
  };
  app.clock.advance(5_001);
  await failures(2);
  assert.ok(Date.parse((await list()).next_attempt_at) - app.clock.now() > 290_000);
  assert.deepEqual(sequences(), [1, 1]);
});

test('a redirect is a failure, and nothing is sent to where it leads', async (context) => {
  const elsewhere = await startReceiver(context);
  const { app, receiver, failures, json } = await refuse(context);
  receiver.answer = (response) => response.writeHead(307, { Location: elsewhere.url }).end();
  app.clock.advance(5_001);
  await failures(2);
  assert.equal(elsewhere.deliveries.length, 0);
  const { deliveries } = await json('deliveries', '1');
  assert.deepEqual([deliveries[0].status, deliveries[0].fault], [307, 'The response was 307.']);
});

test('after five failures the log says so once, without the path of the URL, and the list shows it', async (context) => {
  const { app, failures, list, run } = await refuse(context);
  const lines = () => app.logLines.filter((line) => line.includes('has failed'));
  assert.match((await run('list')).out, /\(event 1 failed once, next attempt /);
  for (const count of [2, 3, 4, 5, 6]) {
    assert.equal((await list()).state, count <= 5 ? 'retrying' : 'failing');
    assert.equal(lines().length, count <= 5 ? 0 : 1);
    app.clock.advance(86_400_000);
    await failures(count);
  }
  assert.match(lines()[0] ?? '', /webhook endpoint 1 \(http:\/\/127\.0\.0\.1:[0-9]+\) has failed 5 times/);
  assert.doesNotMatch(app.logLines.join(''), /hooks\b(?! endpoint)|whsec_/);
  assert.match(
    (await run('list')).out,
    /Endpoint 1 is failing: The response was 500\. \(event 1 failed 6 times/,
  );
});

test('skip passes over the message that is refused, and replay sends it later with its id', async (context) => {
  const { receiver, run, sequences, stored, json } = await refuse(context);
  receiver.answer = (response, { json: { sequence } }) =>
    response.writeHead(sequence === 1 ? 400 : 200).end();
  assert.equal((await run('skip', '1', '1')).status, 0);
  await until(async () => (await stored()).position.sequence === 2);
  assert.deepEqual(sequences(), [1, 2]);
  for (const [sequence, message] of [
    ['2', 'Event 2 was delivered or passed over already.'],
    ['3', 'There is no event 3 yet.'],
  ] as const) {
    const { status, err } = await run('skip', '1', sequence);
    assert.deepEqual([status, err.trim()], [1, message]);
  }
  const refused = await run('replay', '1', '1');
  assert.deepEqual([refused.status, refused.err], [1, 'Not delivered. The response was 400.\n']);
  receiver.answer = 200;
  const replayed = await json('replay', '1', '1');
  assert.equal(replayed.delivered, true);
  const [first, , , again] = receiver.deliveries;
  assert.deepEqual([again?.id, again?.text], [first?.id, first?.text]);
  assert.equal((await run('replay', '1', '9')).status, 1);
});

test('a test that succeeds has what fails tried again at once', async (context) => {
  const { receiver, run, sequences, stored } = await refuse(context);
  receiver.answer = 200;
  assert.match((await run('test', '1')).out, /^Delivered msg_1_test_\S+: the response was 200\.\n$/);
  await until(async () => (await stored()).position.sequence === 2);
  assert.deepEqual(sequences(), [1, undefined, 1, 2]);
});

const CLOCK = testClock();
const attempt = (url: string, timeoutMs?: number) =>
  post({ url, allowsPrivate: true, headers: {}, body: '{}' }, { clock: CLOCK, timeoutMs });

test('of a response little is read, and its status counts', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = (response) => {
    // Endless: only a sender that closes the connection ends it.
    const more = (): void => {
      if (response.destroyed) return;
      response.write('x'.repeat(10_000));
      setImmediate(more);
    };
    response.writeHead(201);
    more();
  };
  assert.deepEqual((await attempt(receiver.url)).status, 201);
});

test('a connection that the receiver has closed meanwhile is no failure', async (context) => {
  const { receiver, add, create, json, stored } = await startWebhooks(context);
  await add();
  const used = new WeakSet<object>();
  receiver.answer = (response) => {
    const socket = response.socket as object;
    if (used.has(socket)) response.destroy();
    else response.writeHead(200).end();
    used.add(socket);
  };
  await create('C-1');
  await create('C-2');
  await until(async () => (await stored()).position.sequence === 2);
  assert.equal(receiver.connections, 2);
  const { deliveries } = await json('deliveries', '1');
  assert.deepEqual(
    deliveries.map(({ fault }: { fault: string | null }) => fault),
    [null, null],
  );
});

test('all endpoints together have no more than their connections, and each gets its turn', async () => {
  const connections = new Connections(2);
  let [now, most, done] = [0, 0, 0];
  const deliver = async (endpointId: number): Promise<void> => {
    for (let n = 0; n < 5; n++)
      await connections.use(endpointId, false, async () => {
        most = Math.max(most, ++now);
        await nextIteration();
        now--;
        done++;
      });
  };
  await Promise.all([1, 2, 3, 4, 5].map(deliver));
  connections.close();
  assert.deepEqual([most, done], [2, 25]);
  const own = new Connections(2);
  const twice = new Set<object>();
  for (let n = 0; n < 2; n++) await own.use(1, false, async (agent) => void twice.add(agent));
  assert.equal(twice.size, 1, 'a connection is used again');
  own.close();
});

test('a response that does not come is not waited for, and faults name what has happened', async (context) => {
  const receiver = await startReceiver(context);
  receiver.answer = () => undefined;
  assert.equal((await attempt(receiver.url, 20)).fault, 'There was no response in time.');
  receiver.answer = (response) => response.destroy();
  const reset = 'The connection was closed before there was a response.';
  assert.equal((await attempt(receiver.url)).fault, reset);
  assert.equal((await attempt('http://127.0.0.1:1/')).fault, 'The connection was refused.');
});

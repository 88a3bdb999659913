/** `GET /events`: following the sequence of changes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedPage } from '../../src/events/feed.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openFile } from '../support/sqlite.ts';

const MEMBER = {
  ...{ cooperative_id: '1', identity_card: '1198589000123042', member_code: 'M-1', full_name: 'Uwase' },
};
const write = (app: TestApp, path: string, body: object, method = 'POST') => app.send(path, { method, body });
const addCooperative = (app: TestApp, code = 'A-1') => write(app, '/cooperatives', { code, name: code });

async function startWithEvents(context: TestContext): Promise<TestApp> {
  const app = await startApp(context);
  assert.equal((await addCooperative(app)).status, 201);
  assert.equal((await write(app, '/members', MEMBER)).status, 201);
  const body = { ...MEMBER, mobile: '0781234567', status: 'suspended' };
  assert.equal((await write(app, '/members/1', body, 'PUT')).status, 200);
  return app;
}

test('an event says what has changed, where, when and by whom, and nothing about a person', async (context) => {
  const app = await startWithEvents(context);
  const { status, json, text } = await app.send('/events?after=0');
  assert.equal(status, 200);
  assert.match(json.epoch, /^[0-9a-f]{16}$/);
  const timestamp = '2025-06-15T12:00:00+02:00';
  const of = { id: '1', cooperative_id: '1' };
  assert.deepEqual(json, {
    epoch: json.epoch,
    results: [
      {
        ...{ type: 'cooperative.created', timestamp, sequence: 1, actor: 'key:1' },
        data: { ...of, fields_changed: [] },
      },
      {
        ...{ type: 'member.created', timestamp, sequence: 2, actor: 'key:1' },
        data: { ...of, fields_changed: [] },
      },
      {
        ...{ type: 'member.updated', timestamp, sequence: 3, actor: 'key:1' },
        data: { ...of, fields_changed: ['mobile', 'status'] },
      },
    ],
    last_sequence: 3,
  });
  for (const personal of ['1198589000123042', 'Uwase', '+25078']) assert.ok(!text.includes(personal));
});

test('a follower without a place begins at the end of the sequence, and waits for what comes', async (context) => {
  const app = await startWithEvents(context);
  const { json } = await app.send('/events');
  assert.deepEqual([json.results, json.last_sequence], [[], 3]);
  const waiting = app.send('/events?wait=25');
  assert.equal((await write(app, '/members/1', { mobile: null }, 'PATCH')).status, 200);
  const { results } = (await waiting).json;
  assert.deepEqual(
    results.map(({ sequence }: { sequence: number }) => sequence),
    [4],
  );
});

test('a follower that reads page by page gets every event once', async (context) => {
  const app = await startWithEvents(context);
  const sequences: number[] = [];
  let after = 0;
  for (;;) {
    const { json } = await app.send(`/events?after=${after}&limit=2`);
    sequences.push(...json.results.map(({ sequence }: { sequence: number }) => sequence));
    if (json.results.length === 0) break;
    after = json.last_sequence;
  }
  assert.deepEqual(sequences, [1, 2, 3]);
  assert.equal((await app.send('/events?after=3')).json.last_sequence, 3);
  // Clipped, not refused.
  assert.equal((await app.send('/events?after=0&limit=100000000000000000000')).json.results.length, 3);
});

for (const [query, fault] of [
  ['after=-1', { after: ['A valid integer is required.'] }],
  ['after=', { after: ['A valid integer is required.'] }],
  ['after=1.5', { after: ['A valid integer is required.'] }],
  [
    'after=%2B1&limit=x',
    { after: ['A valid integer is required.'], limit: ['A valid integer is required.'] },
  ],
  ['limit=0', { limit: ['Ensure this value is greater than or equal to 1.'] }],
  ['wait=-1', { wait: ['A valid integer is required.'] }],
  ['epoch=', { epoch: ['This field may not be blank.'] }],
  ['since=1', { since: ['Unknown parameter.'] }],
] as const) {
  test(`/events?${query} is refused with 400`, async (context) => {
    const app = await startApp(context);
    const { status, json } = await app.send(`/events?${query}`);
    assert.deepEqual([status, json], [400, fault]);
  });
}

test('a follower of another epoch, or of numbers that are not there, starts again', async (context) => {
  const app = await startWithEvents(context);
  const { epoch } = (await app.send('/events?after=0')).json;
  for (const query of [
    'after=4',
    'after=99999999999999999999',
    'epoch=another',
    `epoch=${epoch}&after=4&wait=9`,
  ]) {
    const { status, json } = await app.send(`/events?${query}`);
    assert.deepEqual([status, json], [410, { detail: 'Start again from an export.' }], query);
  }
  assert.equal((await app.send(`/events?epoch=${epoch}&after=3`)).status, 200);
});

test('events are kept for 400 days; whoever has read less far than they reach starts again', async (context) => {
  const app = await startWithEvents(context);
  const days = (count: number) => app.clock.advance(count * 24 * 60 * 60 * 1000);
  days(400);
  app.clock.advance(-1000);
  await addCooperative(app, 'B-2');
  assert.equal((await app.send('/events?after=0')).json.results.length, 4);
  app.clock.advance(1000);
  await addCooperative(app, 'C-3');
  for (const after of [0, 2]) assert.equal((await app.send(`/events?after=${after}`)).status, 410);
  const { json } = await app.send('/events?after=3');
  assert.deepEqual(
    json.results.map(({ sequence }: { sequence: number }) => sequence),
    [4, 5],
  );
});

test('a request that waits is answered when something changes, and uses quota once', async (context) => {
  const app = await startWithEvents(context);
  const { id, key } = app.issue(['webhooks:receive']);
  assert.ok(id > 1);
  const waiting = app.send('/events?after=3&wait=25', { key });
  await sleep(30);
  await addCooperative(app, 'B-2');
  const { json, headers } = await waiting;
  assert.equal(json.last_sequence, 4);
  assert.match(String(headers.ratelimit), /r=99999;/);
  assert.match((await app.send('/me', { key })).headers.ratelimit as string, /r=99998;/);
});

test('a follower of some types gets these only, in pages of any length, and never skips one', async (context) => {
  const app = await startApp(context);
  await addCooperative(app);
  for (let n = 1; n <= 250; n++) {
    const number = String(n).padStart(3, '0');
    const body = { ...MEMBER, identity_card: `1198589000${number}042`, member_code: `M-${n}` };
    await write(app, '/members', body);
    if (n % 5 === 0) await write(app, `/members/${n}`, { role: 'TREASURER' }, 'PATCH');
  }
  type Event = { sequence: number; type: string };
  const all: Event[] = (await app.send('/events?after=0&limit=1000')).json.results;
  const updated = all.filter(({ type }) => type === 'member.updated');
  assert.equal(updated.length, 50);
  for (const [types, expected] of [
    ['member.updated', updated],
    ['member.*', all.slice(1)],
    ['member.updated,cooperative.created', [all[0], ...updated]],
  ] as const) {
    for (const limit of [7, 100, 249, 1_000]) {
      const read: Event[] = [];
      for (let after = 0; after < all.length; ) {
        const { json } = await app.send(`/events?after=${after}&limit=${limit}&types=${types}`);
        assert.ok(json.last_sequence > after && json.results.length <= limit);
        read.push(...json.results);
        after = json.last_sequence;
      }
      assert.deepEqual(read, expected, `${types} ${limit}`);
    }
  }
  const { json: none } = await app.send('/events?after=0&types=loan.created');
  assert.deepEqual([none.results, none.last_sequence], [[], all.length]);
  const waiting = app.send('/events?after=0&types=cooperative.updated&wait=25');
  await addCooperative(app, 'B-2');
  await write(app, '/cooperatives/1', { name: 'Another' }, 'PATCH');
  const { json } = await waiting;
  assert.deepEqual([json.results.length, json.last_sequence], [1, all.length + 2]);
  for (const types of ['', 'members', 'loan.created,', 'import.completed'])
    assert.match((await app.send(`/events?types=${types}`)).json.types[0], /^Known types: cooperative\.\*, /);
});

test('a commit of another process is noticed, and a wait ends with an empty page', async (context) => {
  const app = await startWithEvents(context);
  const waiting = app.send('/events?after=3&wait=25');
  await sleep(30);
  const other = openFile(app.config.storage);
  other.exec(
    'INSERT INTO events (type, row_id, cooperative_id, fields, at, actor) VALUES (1, 1, 1, 2, 1750000000, 5)',
  );
  other.close();
  const { json } = await waiting;
  assert.deepEqual(json.results[0].data, { id: '1', cooperative_id: '1', fields_changed: ['name'] });
  assert.equal(json.results[0].actor, 'import:1');
  const timers = context.mock.method(globalThis, 'setTimeout');
  const long = app.send('/events?after=4&wait=99999');
  const short = await app.send('/events?after=4&wait=1');
  assert.deepEqual([short.json.results, short.json.last_sequence], [[], 4]);
  const waits = timers.mock.calls.map(({ arguments: [, ms] }) => ms);
  assert.ok(waits.includes(30_000) && !waits.includes(99_999_000), 'clipped to 30 s');
  await addCooperative(app, 'B-2');
  assert.equal((await long).json.last_sequence, 5);
});

test('a shutdown answers those who wait', async (context) => {
  const app = await startWithEvents(context);
  const waiting = [1, 2, 3].map(() => app.send('/events?after=3&wait=30'));
  await sleep(50);
  await app.registry.close();
  for (const { status, json, headers } of await Promise.all(waiting)) {
    assert.deepEqual([status, json.results, headers.connection], [200, [], 'close']);
  }
});

test('a client that leaves while it waits is logged as one that was not answered', async (context) => {
  const app = await startWithEvents(context);
  const socket = connect(app.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `GET /api/v1/events?after=3&wait=30 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.fullKey}\r\n\r\n`,
  );
  await sleep(50);
  socket.destroy();
  const isLogged = () => app.logLines.some((line) => line.includes('/events') && line.includes('aborted'));
  for (let i = 0; i < 40 && !isLogged(); i++) await sleep(25);
  assert.ok(isLogged(), app.logLines.join('\n'));
});

/** Adds events as an import does. */
function addEvents(app: TestApp, count: number): void {
  const file = openFile(app.config.storage);
  file.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO events (type, row_id, cooperative_id, fields, at, actor)
     SELECT 1, i, 1, 2, 1750000000, 5 FROM n`,
  );
  file.close();
}

test('a page of any length is complete, however many parts it is sent in', async (context) => {
  const app = await startApp(context);
  addEvents(app, 1_000);
  const { epoch } = (await app.send('/events?after=0&limit=1')).json;
  const asked = [
    ...[99, 100, 101, 199, 200, 250, 999, 1_000, 1_001, 10_000].map((limit) => ({ after: 0, limit })),
    ...[899, 900, 901, 999].map((after) => ({ after, limit: 200 })),
  ];
  for (const { after, limit } of asked) {
    const expected = Array.from({ length: Math.min(limit, 1_000 - after) }, (_, n) => after + n + 1);
    for (const wait of ['', '&wait=1']) {
      const { json } = await app.send(`/events?after=${after}&limit=${limit}${wait}`);
      assert.deepEqual(
        json.results.map(({ sequence }: { sequence: number }) => sequence),
        expected,
      );
      assert.deepEqual([json.epoch, json.last_sequence], [epoch, expected.at(-1)]);
    }
  }
  const head = await app.send('/events?after=0&limit=1000', { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-type'], head.text], [200, 'application/json', '']);
});

/** Asks for the same events several times, without reading what is sent. */
async function ask(app: TestApp, query: string, { times = 1, version = '1.1' } = {}): Promise<Socket> {
  const socket = connect(app.port, '127.0.0.1').pause();
  await once(socket, 'connect');
  const lines = [`GET /api/v1/events?${query} HTTP/${version}`, 'Host: a'];
  const request = `${[...lines, `Authorization: Bearer ${app.fullKey}`].join('\r\n')}\r\n\r\n`;
  socket.write(request.repeat(times));
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.resume();
  await once(socket, 'close');
  return text;
}

/** Two megabytes each, so that together they are more than the system itself takes. */
const UNREAD_PAGES = 20;

test('a follower of rare types is led through all others, by 10,000 a request or while it waits', async (context) => {
  const app = await startApp(context);
  addEvents(app, 21_000);
  await addCooperative(app);
  const positions: number[] = [];
  for (let after = 0, found = 0; found === 0; ) {
    const { json } = await app.send(`/events?after=${after}&types=cooperative.created`);
    after = json.last_sequence;
    found = json.results.length;
    positions.push(after);
  }
  assert.deepEqual(positions, [10_000, 20_000, 21_001]);
  const { json } = await app.send('/events?after=0&types=cooperative.created&wait=25');
  assert.deepEqual([json.results.length, json.last_sequence], [1, 21_001]);
});

test('of pages that are not read, only what is being sent is held', async (context) => {
  const app = await startApp(context);
  addEvents(app, 10_000);
  const read = context.mock.method(app.registry.store.events, 'read');
  const socket = await ask(app, 'after=0&limit=10000', { times: UNREAD_PAGES });
  let calls = -1;
  while (read.mock.callCount() > calls) {
    calls = read.mock.callCount();
    await sleep(200);
  }
  const held = read.mock.calls.reduce((sum, { result }) => sum + (result as FeedPage).events.length, 0);
  assert.ok(held < (UNREAD_PAGES * 10_000) / 2, `${held} events`);
  socket.destroy();
});

test('a page whose events expire while it is sent is cut off', async (context) => {
  const app = await startApp(context);
  addEvents(app, 20_000);
  const socket = await ask(app, 'after=0&limit=10000', { times: UNREAD_PAGES });
  await sleep(200);
  const file = openFile(app.config.storage);
  file.exec('DELETE FROM events WHERE sequence < 15000');
  file.close();
  const text = await readAll(socket);
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
  assert.ok(count(/HTTP\/1\.1 200 OK/g) > count(/"last_sequence"/g));
  assert.deepEqual(
    app.logLines.filter((line) => line.includes('"level":"error"')),
    [],
  );
  assert.ok(app.logLines.some((line) => line.includes('/events') && line.includes('aborted')));
});

test('a page that closing cuts off is logged and counted before all is closed', async (context) => {
  const app = await startApp(context, { timeouts: { closeMs: 100 } });
  addEvents(app, 20_000);
  await ask(app, 'after=0&limit=10000', { times: UNREAD_PAGES });
  await sleep(200);
  await app.registry.close();
  assert.ok(app.logLines.some((line) => line.includes('/events') && line.includes('aborted')));
  const uses = app.keys.uses(Math.floor(app.clock.now() / 1000));
  assert.ok(
    uses.some(({ kind, requests }) => kind === 'admitted' && requests > 0),
    JSON.stringify(uses),
  );
});

test('in HTTP/1.0 the connection ends behind a long page', async (context) => {
  const app = await startApp(context);
  addEvents(app, 500);
  const text = await readAll(await ask(app, 'after=0&limit=500', { version: '1.0' }));
  assert.match(text, /^connection: close$/im);
  assert.equal(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).results.length, 500);
});

test('only a key with the scope follows the sequence', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read', 'cooperatives:read']);
  assert.equal((await app.send('/events?wait=30', { key })).status, 403);
});

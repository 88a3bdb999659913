/** Keys that only look up, and keys that see some cooperatives (docs/keys.md#restricted-keys). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../src/access/api-keys.ts';
import type { TestApp } from '../support/app.ts';
import { correct } from '../support/correct.ts';
import { nid } from '../support/importing.ts';
import { type Lending, startLending } from '../support/lending.ts';
import { openFile } from '../support/sqlite.ts';

const DENIED = { detail: 'You do not have permission to perform this action.' };

interface Place extends Lending {
  /** The answer to a key that sees the second cooperative only. */
  ask(path: string, method?: string, body?: unknown): ReturnType<TestApp['send']>;
  readonly key: string;
}

/**
 * The cooperatives A-1 and B-2: members 1 and 2 are in the first, and 3, the same person as 1, in the second;
 * loan 1 with payment 1 is of the first, loan 2 with payment 2 of the second.
 */
async function start(context: TestContext, cooperatives: readonly number[] = [2]): Promise<Place> {
  const lending = await startLending(context);
  const { app, lend, pay, put } = lending;
  for (const [id, member] of [
    ['1', '1'],
    ['2', '3'],
  ] as const) {
    await lend({ member_id: member, reference: `L-${id}` });
    await put(`/loans/${id}`, {
      ...{ member_id: member, reference: `L-${id}`, amount: '1000.00', interest_rate: '18.00' },
      status: 'approved',
    });
    await pay(id);
  }
  const { key } = app.issue(SCOPES, { cooperatives });
  const ask: Place['ask'] = (path, method = 'GET', body = undefined) =>
    app.send(path, { method, key, ...(body === undefined ? {} : { body }) });
  return { ...lending, ask, key };
}

const idsOf = (response: { json: { count: number; results: { id: string }[] } }) => [
  response.json.count,
  response.json.results.map(({ id }) => id),
];

test('what belongs to another cooperative is like what does not exist, byte for byte', async (context) => {
  const { ask, get } = await start(context);
  for (const [outside, inside, unknown] of [
    ['/cooperatives/1', '/cooperatives/2', '/cooperatives/99'],
    ['/cooperatives/1/members', '/cooperatives/2/members', '/cooperatives/99/members'],
    [
      `/cooperatives/1/members/${nid(1)}`,
      `/cooperatives/2/members/${nid(1)}`,
      `/cooperatives/99/members/${nid(1)}`,
    ],
    [`/members/${nid(2)}`, `/members/${nid(1)}`, `/members/${nid(9)}`],
    ['/members/1', '/members/3', '/members/99'],
    ['/members/1/deliveries', '/members/3/deliveries', '/members/99/deliveries'],
    [
      '/members/1/savings-transactions',
      '/members/3/savings-transactions',
      '/members/99/savings-transactions',
    ],
    ['/loans/1', '/loans/2', '/loans/99'],
    ['/payments/1', '/payments/2', '/payments/99'],
  ] as const) {
    const [hidden, missing] = [await ask(outside), await ask(unknown)];
    assert.deepEqual([hidden.status, hidden.text], [missing.status, missing.text], outside);
    assert.equal(hidden.status, 404, outside);
    assert.equal((await ask(inside)).status, 200, inside);
    assert.equal((await get(outside)).status, 200, `${outside} for a key that sees everything`);
  }
});

test('lists, filters and counts are of the cooperatives that the key sees', async (context) => {
  const { ask, app } = await start(context);
  assert.deepEqual(idsOf(await ask('/cooperatives')), [1, ['2']]);
  assert.deepEqual(idsOf(await ask('/cooperatives?code=A-1')), [0, []]);
  assert.deepEqual(idsOf(await ask('/members')), [1, ['3']]);
  assert.deepEqual(idsOf(await ask('/members?cooperative=1')), [0, []]);
  assert.deepEqual(idsOf(await ask('/members?cooperative=2&status=active')), [1, ['3']]);
  assert.deepEqual(idsOf(await ask(`/members?identity_card=${nid(1)}`)), [1, ['3']]);
  assert.deepEqual(idsOf(await ask(`/members?identity_card=${nid(2)}`)), [0, []]);
  assert.deepEqual(idsOf(await ask('/members?member_code=M-1')), [0, []]);
  assert.deepEqual(idsOf(await ask('/members?member_code=M-3')), [1, ['3']]);
  for (const list of ['/loans', '/payments']) {
    assert.deepEqual(idsOf(await ask(list)), [1, ['2']]);
    assert.deepEqual(idsOf(await ask(`${list}?cooperative=1`)), [0, []]);
    assert.deepEqual(idsOf(await ask(`${list}?identity_card=${nid(1)}`)), [1, ['2']]);
  }
  for (const [list, shown] of [
    ['/members', '3'],
    ['/loans', '2'],
    ['/payments', '2'],
  ])
    assert.deepEqual(idsOf(await ask(`${list}?id=1,2,3`)), [1, [shown]], list);
  assert.deepEqual(idsOf(await ask('/loans?member=1')), [0, []]);
  assert.deepEqual(idsOf(await ask('/payments?loan=1')), [0, []]);
  assert.equal((await ask('/members?page=2')).status, 404);
  const both = app.issue(SCOPES, { cooperatives: [2, 1] }).key;
  assert.deepEqual(idsOf(await app.send('/members', { key: both })), [3, ['1', '2', '3']]);
  assert.deepEqual(idsOf(await app.send('/members?page=2&page_size=2', { key: both })), [3, ['3']]);
  const none = app.issue(SCOPES, { cooperatives: [] }).key;
  for (const list of ['/cooperatives', '/members', '/loans', '/payments'])
    assert.deepEqual(idsOf(await app.send(list, { key: none })), [0, []], list);
});

test('a lookup is made of the memberships that the key sees', async (context) => {
  const { ask, app, put, get } = await start(context);
  const member = { identity_card: nid(1), registration_date: '2024-01-01', gender: 'FEMALE' };
  await put('/members/1', {
    ...{ ...member, member_code: 'M-1', full_name: 'Newest Elsewhere', mobile: '0788000001' },
    registration_date: '2025-01-01',
  });
  await put('/members/3', { ...member, member_code: 'M-3', full_name: 'Known Here', gender: null });
  const all = (await get(`/members/${nid(1)}`)).json;
  assert.deepEqual([all.primary_full_name, all.memberships.length], ['Newest Elsewhere', 2]);
  const { json, text } = await ask(`/members/${nid(1)}`);
  assert.deepEqual(
    [json.primary_full_name, json.name_variants, json.gender, json.mobile],
    ['Known Here', ['Known Here'], null, null],
  );
  assert.deepEqual(
    json.memberships.map(({ cooperative }: { cooperative: { id: string } }) => cooperative.id),
    ['2'],
  );
  assert.ok(!text.includes('Elsewhere'));
  // A key without restrictions gets the same as before.
  assert.deepEqual((await app.send(`/members/${nid(1)}`)).json, all);
});

test('writing to what is not seen is refused as for an unknown id', async (context) => {
  const { ask, get } = await start(context);
  const member = { identity_card: nid(7), member_code: 'M-7', full_name: 'Seven' };
  const terms = { amount: '5.00', interest_rate: '1.00', reference: 'L-70' };
  const payment = { amount: '5.00', method: 'cash', reference: 'P-70' };
  for (const [path, name, body] of [
    ['/members', 'cooperative_id', member],
    ['/loans', 'member_id', terms],
    ['/payments', 'loan_id', payment],
  ] as const) {
    const fault = { [name]: ['Invalid pk "1" - object does not exist.'] };
    const refused = await ask(path, 'POST', { ...body, [name]: '1' });
    assert.deepEqual([refused.status, refused.json], [400, fault], path);
    const inside = path === '/loans' ? '3' : '2';
    assert.equal((await ask(path, 'POST', { ...body, [name]: inside })).status, 201, path);
  }
  const delivery = { delivered_at: '2025-06-01', kg: '1' };
  const saving = { account_number: 'S-1', kind: 'contribution', amount: '1', transacted_at: '2025-06-01' };
  for (const [name, body] of [
    ['deliveries', delivery],
    ['savings-transactions', saving],
  ] as const) {
    const answers = await Promise.all(['1', '99'].map((id) => ask(`/members/${id}/${name}`, 'POST', body)));
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text]),
      Array(2).fill([404, '{"detail":"Not found."}']),
    );
    assert.equal((await ask(`/members/3/${name}`, 'POST', body)).status, 201, name);
  }
  // What is taken there is not told either.
  const taken = { ...member, cooperative_id: '1', identity_card: nid(2), member_code: 'M-2' };
  const unknown = { cooperative_id: ['Invalid pk "1" - object does not exist.'] };
  assert.deepEqual((await ask('/members', 'POST', taken)).json, unknown);
  const wrong = await ask('/members', 'POST', { ...taken, full_name: '' });
  assert.deepEqual(wrong.json, { ...unknown, full_name: ['This field may not be blank.'] });
  const known = await ask('/loans', 'POST', { ...terms, member_id: '1', reference: 'L-1', amount: 'x' });
  assert.deepEqual(Object.keys(known.json).sort(), ['amount', 'member_id']);
  for (const path of ['/cooperatives/1', '/members/1', '/loans/1', '/payments/1'])
    for (const method of ['PUT', 'PATCH'])
      for (const body of [{}, { status: 'void' }, { name: 'Mine' }]) {
        const refused = await ask(path, method, body);
        assert.deepEqual(
          [refused.status, refused.json],
          [404, { detail: 'Not found.' }],
          `${method} ${path}`,
        );
      }
  assert.equal((await ask('/cooperatives/2', 'PATCH', { name: 'Renamed' })).status, 200);
  const created = await ask('/cooperatives', 'POST', { code: 'C-3', name: 'Third' });
  assert.deepEqual([created.status, created.json], [403, DENIED]);
  assert.equal((await get('/cooperatives')).json.count, 2);
});

test('a key that was narrowed is not shown what it was answered before', async (context) => {
  const { app } = await start(context);
  const { id, key } = app.issue(SCOPES);
  const headers = { 'Idempotency-Key': 'once' };
  const body = { cooperative_id: '1', identity_card: nid(8), member_code: 'M-8', full_name: 'Eight' };
  const post = () => app.send('/members', { method: 'POST', key, headers, body });
  const created = await post();
  assert.equal(created.status, 201);
  assert.equal((await post()).headers['idempotency-replayed'], 'true');
  const etag = created.headers.etag as string;
  const path = `/members/${created.json.id}`;
  assert.equal((await app.send(path, { key, headers: { 'If-None-Match': etag } })).status, 304);
  app.keys.update(id, { cooperatives: [2] }, 0);
  const again = await post();
  assert.equal(again.status, 422);
  assert.ok(!again.text.includes('Eight'));
  assert.equal((await app.send(path, { key, headers: { 'If-None-Match': etag } })).status, 404);
  assert.equal((await app.send(path, { key, headers: { 'If-None-Match': '*' } })).status, 404);
  assert.equal(
    (await app.send(path, { method: 'PATCH', key, headers: { 'If-Match': '"x"' }, body: {} })).status,
    404,
  );
});

test('merged and erased members elsewhere are not told of, and in no list of ids', async (context) => {
  const { ask, app, get } = await start(context);
  await app.send('/members', {
    method: 'POST',
    body: { cooperative_id: '1', identity_card: nid(5), member_code: 'M-5', full_name: 'Five' },
  });
  await correct(app, (store, options) => store.run('mergeMembers', { fromId: 4, intoId: 2 }, options));
  assert.equal((await get('/members/4')).status, 410);
  assert.equal((await ask('/members/4')).status, 404);
  const both = app.issue(SCOPES, { cooperatives: [1] }).key;
  assert.equal((await app.send('/members/4', { key: both })).json.detail, 'Merged into member 2.');
  await correct(app, (store, options) => store.run('erasePerson', { nid: nid(2) }, options));
  assert.equal((await get('/members/2')).json.detail, 'Erased.');
  assert.deepEqual(idsOf(await get('/members?id=1,2,3,4')), [2, ['1', '3']]);
});

test('a replaced national ID leads only to what the key sees', async (context) => {
  const { ask, app } = await start(context);
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(2), current: nid(12) }, options),
  );
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(1), current: nid(11) }, options),
  );
  assert.equal((await ask(`/members/${nid(2)}`)).status, 404);
  assert.equal((await ask(`/cooperatives/1/members/${nid(2)}`)).status, 404);
  assert.deepEqual(idsOf(await ask(`/members?identity_card=${nid(2)}`)), [0, []]);
  const found = await ask(`/members/${nid(1)}`);
  assert.equal(found.headers['content-location'], `/api/v1/members/${nid(11)}`);
  assert.equal(found.json.memberships.length, 1);
  assert.deepEqual(idsOf(await ask(`/members?identity_card=${nid(1)}`)), [1, ['3']]);
});

test('events are those of the cooperatives that the key sees', async (context) => {
  const { ask, app } = await start(context);
  const own = (response: { json: { results: { data: { cooperative_id: string } }[] } }) =>
    response.json.results.map(({ data }) => data.cooperative_id);
  const all = await app.send('/events?after=0');
  const seen = await ask('/events?after=0');
  assert.ok(own(all).includes('1'));
  assert.deepEqual(
    seen.json.results,
    all.json.results.filter(
      (event: { data: { cooperative_id: string } }) => event.data.cooperative_id === '2',
    ),
  );
  assert.equal(seen.json.last_sequence, all.json.last_sequence);
  const read: unknown[] = [];
  for (let after = 0; after < all.json.last_sequence; ) {
    const { json } = await ask(`/events?after=${after}&limit=1`);
    assert.ok(json.last_sequence > after);
    read.push(...json.results);
    after = json.last_sequence;
  }
  assert.deepEqual(read, seen.json.results);
});

test('a follower is not woken by what it does not see', async (context) => {
  const { ask, app } = await start(context);
  const waiting = ask('/events?wait=25');
  let isAnswered = false;
  void waiting.then(() => {
    isAnswered = true;
  });
  const rename = (id: number, name: string) =>
    app.send(`/cooperatives/${id}`, { method: 'PATCH', body: { name } });
  for (const name of ['Other', 'Another']) assert.equal((await rename(1, name)).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(isAnswered, false);
  assert.equal((await rename(2, 'Own')).status, 200);
  const { results } = (await waiting).json;
  assert.deepEqual(
    results.map(({ data }: { data: { cooperative_id: string } }) => data.cooperative_id),
    ['2'],
  );
});

test('a page of events says how far it was read, when the next one seen is far away', async (context) => {
  const { ask, app } = await start(context);
  const db = openFile(app.config.storage);
  db.exec(`WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
    INSERT INTO events (type, row_id, cooperative_id, fields, at, actor)
      SELECT type, row_id, 1, fields, at, actor FROM n CROSS JOIN (SELECT * FROM events LIMIT 1)`);
  db.close();
  const { last_sequence: last } = (await app.send('/events')).json;
  let pages = 0;
  for (let after = last - 25_000; after < last; pages++) {
    const { json } = await ask(`/events?after=${after}`);
    assert.deepEqual(json.results, []);
    assert.ok(json.last_sequence > after);
    after = json.last_sequence;
  }
  assert.equal(pages, 3);
});

test('a key that only looks up finds a person by the full national ID, and nothing else', async (context) => {
  const { app } = await start(context);
  const { key } = app.issue(SCOPES, { isLookupOnly: true });
  const status = async (path: string) => (await app.send(path, { key })).status;
  for (const path of [
    `/members/${nid(1)}`,
    `/members/${nid(1)}/`,
    `/cooperatives/1/members/${nid(1)}`,
    `/members?identity_card=${nid(1)}`,
    `/members?status=active&identity_card=${nid(1)}`,
    '/me',
    '/cooperatives',
    '/cooperatives/1',
  ])
    assert.equal(await status(path), 200, path);
  for (const path of [`/members/${nid(9)}`, `/cooperatives/1/members/${nid(9)}`])
    assert.equal(await status(path), 404, path);
  // A mistyped number is told so.
  for (const path of [
    '/members/119858900012304',
    '/members/x',
    '/members?identity_card=',
    '/members?identity_card=1',
  ])
    assert.equal(await status(path), 400, path);
  for (const path of [
    '/members',
    '/members?mobile=0788000001',
    '/members?member_code=M-1',
    '/members?id=1',
    '/members?page=2',
    '/members?Identity_card=1',
    '/members/1',
    '/members/001',
    '/members/1/deliveries',
    '/members/1/savings-transactions',
    '/cooperatives/1/members',
    `/cooperatives/1/members?identity_card=${nid(1)}`,
    '/loans',
    `/loans?identity_card=${nid(1)}`,
    '/loans/1',
    '/payments',
    '/payments/1',
    '/events',
    '/events?after=0',
  ]) {
    const refused = await app.send(path, { key });
    assert.deepEqual([refused.status, refused.json], [403, DENIED], path);
    assert.equal(refused.headers['www-authenticate'], undefined);
    assert.equal(refused.headers.ratelimit, undefined);
  }
});

test('both restrictions hold together, and /me shows them', async (context) => {
  const { app, put } = await start(context);
  const { key } = app.issue(SCOPES, { isLookupOnly: true, cooperatives: [2] });
  const found = await app.send(`/members/${nid(1)}`, { key });
  assert.equal(found.json.memberships.length, 1);
  assert.equal((await app.send(`/members/${nid(2)}`, { key })).status, 404);
  assert.equal((await app.send('/members', { key })).status, 403);
  const me = async () => (await app.send('/me', { key })).json;
  assert.deepEqual([(await me()).lookup_only, (await me()).cooperatives], [true, ['B-2']]);
  await put('/cooperatives/2', { code: 'B-3', name: 'Renamed' });
  assert.deepEqual((await me()).cooperatives, ['B-3']);
  assert.equal((await app.send(`/members/${nid(1)}`, { key })).status, 200);
  const { json } = await app.send('/me');
  assert.deepEqual([json.lookup_only, json.cooperatives], [false, null]);
});

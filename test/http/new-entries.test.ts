/** New deliveries and savings transactions over HTTP (docs/api.md#deliveries-and-savings-transactions). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../src/access/api-keys.ts';
import { type Sent, startApp, type TestApp, type TestResponse } from '../support/app.ts';
import { type ImportPlace, nid, SAVINGS_HEADER, startedPlace } from '../support/importing.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { openFile } from '../support/sqlite.ts';

const DELIVERY = { reference: 'D-1', delivered_at: '2025-06-01T08:00:00+02:00', kg: '12.5', product: 'Milk' };
const { reference: _, ...UNNUMBERED } = DELIVERY;
const SAVING = {
  ...{ account_number: 'S-1', reference: 'T-1', kind: 'contribution' },
  ...{ amount: '1000', transacted_at: '2025-06-02T09:00:00+02:00' },
};
const { reference: _also, ...UNNUMBERED_SAVING } = SAVING;
const DELIVERIES = '/members/1/deliveries';
const TRANSACTIONS = '/members/1/savings-transactions';
const PRODUCTION_HEADER = 'cooperative_code,member_code,reference,delivered_at,kg,product';

interface Place extends Pick<ImportPlace, 'load' | 'command' | 'query' | 'value' | 'databaseFile'> {
  readonly app: TestApp;
  post(path: string, body: unknown, sent?: Sent): Promise<TestResponse>;
  /** Adds an entry. @returns it */
  add(path: string, body: unknown): Promise<{ readonly [field: string]: string }>;
}

/** Members 1 to 3 are persons 1 to 3 in A-1, by import 2; B-2 has nobody. */
async function start(context: TestContext, options: Parameters<typeof startApp>[1] = {}): Promise<Place> {
  const place = await startedPlace(context);
  const app = await startApp(context, { folder: place.folder, ...options });
  const post: Place['post'] = (path, body, sent = {}) => app.send(path, { method: 'POST', body, ...sent });
  return {
    ...place,
    app,
    post,
    async add(path, body) {
      const { status, json, text } = await post(path, body);
      assert.equal(status, 201, text);
      return json;
    },
  };
}

const refusal = async (response: Promise<TestResponse>): Promise<unknown> => {
  const { status, json, text } = await response;
  assert.equal(status, 400, text);
  return json;
};

const listed = async (app: TestApp, path: string) => (await app.send(path)).json.results;

test('a delivery is added as GET shows it, with its history, an event of the member, and the summary', async (context) => {
  const { app, post, query } = await start(context);
  const { id: keyId, key } = app.issue(['members:write', 'members:financials']);
  const response = await post(DELIVERIES, DELIVERY, { key });
  assert.equal(response.status, 201, response.text);
  assert.deepEqual(response.json, { id: '1', ...DELIVERY, kg: '12.500' });
  assert.equal(response.headers.location, undefined);
  assert.deepEqual(await listed(app, DELIVERIES), [response.json]);
  assert.deepEqual(query("SELECT entity, row_id, field, actor FROM changes WHERE field = 'created'"), [
    { entity: 'production', row_id: 1, field: 'created', actor: `key:${keyId}` },
  ]);
  const { results: events } = (await app.send('/events?after=0')).json;
  const { type, data, actor } = events.at(-1);
  assert.deepEqual(
    [type, data.id, data.fields_changed, actor],
    ['member.updated', '1', ['production_summary'], `key:${keyId}`],
  );
  assert.deepEqual(query('SELECT id FROM members WHERE production IS NOT NULL'), [{ id: 1 }]);
  assert.deepEqual(query("SELECT id FROM members WHERE production = ''"), []);
  const { production_summary } = (await app.send(`/members/${nid(1)}`)).json.memberships[0];
  assert.deepEqual(production_summary, {
    ...{ window_days: 365, entries_count: 1, total_kg: '12.500' },
    last_delivery_at: DELIVERY.delivered_at,
  });
  const { production } = (await app.send('/cooperatives/1/statistics')).json;
  assert.deepEqual(production, [{ month: '2025-06', product: 'Milk', deliveries: 1, total_kg: '12.500' }]);
});

test('a savings transaction opens the account if it does not exist, and is told in one event', async (context) => {
  const { app, add, query, value } = await start(context);
  const before = value('SELECT count(*) FROM events');
  const added = await add(TRANSACTIONS, SAVING);
  assert.deepEqual(added, { id: '1', ...SAVING, amount: '1000.00' });
  await add(TRANSACTIONS, { ...SAVING, reference: 'T-2', kind: 'withdrawal', amount: '400.50' });
  assert.equal(value('SELECT count(*) FROM events'), (before as number) + 2);
  assert.deepEqual(query('SELECT member_id, account_number FROM savings_accounts'), [
    { member_id: 1, account_number: 'S-1' },
  ]);
  assert.deepEqual(
    query("SELECT entity, row_id FROM changes WHERE field = 'created' ORDER BY id").map(Object.values),
    [
      ['accounts', 1],
      ['savings', 1],
      ['savings', 2],
    ],
  );
  assert.deepEqual(query("SELECT id FROM members WHERE savings = ''"), []);
  const { savings_summary } = (await app.send(`/members/${nid(1)}`)).json.memberships[0];
  assert.deepEqual(savings_summary, {
    ...{ accounts_count: 1, total_contributions_rwf: '1000.00', total_withdrawals_rwf: '400.50' },
    last_transaction_at: SAVING.transacted_at,
  });
});

test('a key needs both scopes, and is told so', async (context) => {
  const { app, post } = await start(context);
  for (const [path, body] of [
    [DELIVERIES, DELIVERY],
    [TRANSACTIONS, SAVING],
  ] as const)
    for (const scope of ['members:write', 'members:financials'] as const) {
      const { status, headers } = await post(path, body, { key: app.issue([scope]).key });
      assert.equal(status, 403, scope);
      assert.match(String(headers['www-authenticate']), /, scope="members:write members:financials"$/);
    }
});

test('all faults of a body are reported at once, in the texts of other bodies', async (context) => {
  const { post, add } = await start(context);
  assert.deepEqual(await refusal(post(DELIVERIES, {})), {
    delivered_at: ['This field is required.'],
    kg: ['This field is required.'],
  });
  await add(DELIVERIES, DELIVERY);
  const wrong = { reference: 'D-1', delivered_at: '2025-06-16', kg: '0', product: '', weight: 3 };
  assert.deepEqual(await refusal(post(DELIVERIES, wrong)), {
    reference: ['This field must be unique.'],
    delivered_at: ['This date is in the future.'],
    kg: ['Ensure this value is greater than 0.'],
    product: ['This field may not be blank.'],
    weight: ['Unknown field.'],
  });
  assert.deepEqual(await refusal(post(TRANSACTIONS, { account_number: null, kind: 'loan', amount: 5 })), {
    account_number: ['This field may not be null.'],
    kind: ['"loan" is not a valid choice.'],
    amount: ['Not a valid string.'],
    transacted_at: ['This field is required.'],
  });
});

test('a reference is unique in the cooperative for each kind, and an account belongs to one member', async (context) => {
  const { app, post, add } = await start(context);
  const cooperative = { cooperative_id: '2', identity_card: nid(7), member_code: 'M-1', full_name: 'Else' };
  const { id: elsewhere } = await add('/members', cooperative);
  await add(DELIVERIES, { ...DELIVERY, reference: 'X-1' });
  await add(TRANSACTIONS, { ...SAVING, reference: 'X-1' });
  const unique = { reference: ['This field must be unique.'] };
  assert.deepEqual(await refusal(post('/members/2/deliveries', { ...DELIVERY, reference: 'X-1' })), unique);
  const ofSecond = { ...SAVING, reference: 'X-1', account_number: 'S-2' };
  assert.deepEqual(await refusal(post('/members/2/savings-transactions', ofSecond)), unique);
  assert.deepEqual(await refusal(post('/members/2/savings-transactions', SAVING)), {
    account_number: ['This account belongs to another member of the cooperative.'],
  });
  await add(`/members/${elsewhere}/deliveries`, { ...DELIVERY, reference: 'X-1' });
  await add(`/members/${elsewhere}/savings-transactions`, { ...SAVING, reference: 'X-1' });
  assert.deepEqual(await listed(app, '/members/2/savings-transactions'), []);
});

test('an entry without a reference is the row of a file without one, and an equal one is another', async (context) => {
  const { add, load, value } = await start(context);
  const [first, second, third] = [
    await add(DELIVERIES, UNNUMBERED),
    await add(DELIVERIES, { ...UNNUMBERED, reference: null }),
    await add(DELIVERIES, UNNUMBERED),
  ];
  assert.match(first?.reference ?? '', /^auto-[0-9a-f]{20}$/);
  assert.deepEqual([second?.reference, third?.reference], [`${first?.reference}-2`, `${first?.reference}-3`]);
  const other = await add('/members/2/deliveries', UNNUMBERED);
  assert.doesNotMatch(other.reference ?? '', new RegExp(first?.reference ?? ''));
  const row = 'A-1,M-1,,2025-06-01T08:00:00+02:00,12.5,Milk\n';
  const file = await load('production', `${PRODUCTION_HEADER}\n${row.repeat(4)}`);
  assert.match(file.out, /1 new, 0 changed, 3 unchanged/);
  const references = value("SELECT group_concat(reference, ' ') FROM production_entries WHERE member_id = 1");
  const all = ['', '-2', '-3', '-4'].map((place) => `${first?.reference}${place}`);
  assert.equal(references, all.join(' '));

  const saving = await add(TRANSACTIONS, UNNUMBERED_SAVING);
  const again = await add(TRANSACTIONS, UNNUMBERED_SAVING);
  assert.equal(again.reference, `${saving.reference}-2`);
  const cells = 'A-1,M-1,S-1,,contribution,1000,2025-06-02T09:00:00+02:00\n';
  const savings = await load('savings', `${SAVINGS_HEADER}\n${cells.repeat(2)}`);
  assert.match(savings.out, /0 new, 0 changed, 2 unchanged/);
});

test('a repeated request with its Idempotency-Key adds once, without a reference too', async (context) => {
  const { app, post } = await start(context);
  const sent = { headers: { 'Idempotency-Key': 'k-1' } };
  const first = await post(DELIVERIES, UNNUMBERED, sent);
  const again = await post(DELIVERIES, UNNUMBERED, sent);
  assert.deepEqual([first.status, again.status, again.text], [201, 201, first.text]);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal((await post('/members/2/deliveries', UNNUMBERED, sent)).status, 422);
  assert.equal((await listed(app, DELIVERIES)).length, 1);
});

test('it is a reading where the response shows a reference that the request did not have', async (context) => {
  const ledger = memoryLedger();
  const { app, post } = await start(context, { ledger });
  const sent = (name: string) => ({ headers: { 'Idempotency-Key': name } });
  for (const [path, numbered, unnumbered] of [
    [DELIVERIES, DELIVERY, UNNUMBERED],
    [TRANSACTIONS, SAVING, UNNUMBERED_SAVING],
  ] as const) {
    const before = ledger.readings.length;
    for (const _again of [1, 2]) {
      const { status, headers } = await post(path, numbered, sent(`a${path.replaceAll('/', '-')}`));
      assert.deepEqual([status, headers['x-access-receipt']], [201, undefined]);
    }
    assert.equal(ledger.readings.length, before);
    for (const _again of [1, 2]) {
      const { status, headers } = await post(path, unnumbered, sent(`b${path.replaceAll('/', '-')}`));
      assert.equal(status, 201);
      assert.ok('x-access-receipt' in headers);
    }
    for (const { route, subject, fields } of ledger.readings.slice(before)) {
      const name = `POST /api/v1${path.replace('1', '{id}')}`;
      assert.deepEqual([route, subject, fields], [name, { memberIds: [1] }, ['financials']]);
    }
    assert.equal(ledger.readings.length, before + 2);
  }
  assert.equal((await app.send(TRANSACTIONS)).json.count, 2);
});

test('the member must be there for the key: 404, or 410 when it was merged or erased', async (context) => {
  const { app, post, command, value } = await start(context);
  const narrow = { key: app.issue(SCOPES, { cooperatives: [2] }).key };
  const bodies = [
    ['deliveries', DELIVERY],
    ['savings-transactions', SAVING],
  ] as const;
  for (const args of [
    ['members', 'merge', '2', '3'],
    ['persons', 'erase', nid(1)],
  ])
    assert.equal((await command(...args, '--yes', '--reason', 'test')).status, 0);
  // Also with a body that has faults: nothing is said of those.
  for (const [name, body] of bodies)
    for (const sent of [body, { ...body, kg: 'x' }]) {
      const answers = async (id: string, more?: Sent) => {
        const { status, json } = await post(`/members/${id}/${name}`, sent, more);
        return [status, json.detail];
      };
      assert.deepEqual(await answers('1'), [410, 'Erased.']);
      assert.deepEqual(await answers('2'), [410, 'Merged into member 3.']);
      assert.deepEqual(await answers('99'), [404, 'Not found.']);
      assert.deepEqual(await answers('3', narrow), [404, 'Not found.']);
      assert.deepEqual(await answers(nid(3)), [400, 'Expected a member id.']);
    }
  assert.equal(value('SELECT count(*) FROM production_entries'), 0);
});

test('what came after a change of cooperative is recorded there, but withdrawals end old savings', async (context) => {
  const { app, post, add, command } = await start(context);
  await app.send('/members/1', { method: 'PATCH', body: { registration_date: '2020-01-01' } });
  const transfer = ['members', 'transfer', '1', '--to', 'B-2', '--code', 'N-1', '--on', '2025-05-31'];
  const transferred = await command(...transfer, '--yes', '--reason', 'test');
  assert.equal(transferred.status, 0, transferred.err);
  const elsewhere = ['The member had changed to another cooperative by then: record it there.'];
  assert.deepEqual(await refusal(post(DELIVERIES, { ...DELIVERY, delivered_at: '2025-06-01' })), {
    delivered_at: elsewhere,
  });
  await add(DELIVERIES, { ...DELIVERY, delivered_at: '2025-05-31T23:59:59' });
  assert.deepEqual(await refusal(post(TRANSACTIONS, SAVING)), { transacted_at: elsewhere });
  await add(TRANSACTIONS, { ...SAVING, kind: 'withdrawal' });
  const { id } = (await app.send(`/members?identity_card=${nid(1)}&cooperative=2`)).json.results[0];
  await add(`/members/${id}/deliveries`, DELIVERY);
  const loan = { member_id: '1', reference: 'L-1', amount: '1000', interest_rate: '10' };
  const after = { ...loan, loan_start_date: '2025-06-01' };
  assert.deepEqual(await refusal(post('/loans', after)), { loan_start_date: elsewhere });
  const wrong = { ...after, amount: '0' };
  const faults = { amount: ['Ensure this value is greater than 0.'], loan_start_date: elsewhere };
  assert.deepEqual(await refusal(post('/loans', wrong)), faults);
  await add('/loans', { ...after, member_id: id });
  const { id: earlier } = await add('/loans', { ...loan, loan_start_date: '2025-05-31' });
  const changed = await app.send(`/loans/${earlier}`, { method: 'PATCH', body: after });
  assert.equal(changed.status, 200, changed.text);
  // Somebody who has left without joining another one may still have something to be recorded.
  await app.send('/members/2', { method: 'PATCH', body: { status: 'withdrawn' } });
  await add('/members/2/deliveries', { ...DELIVERY, reference: 'D-2' });
  await add('/loans', { ...after, member_id: '2', reference: 'L-2' });
});

test('two memberships merged after a change of cooperative are one: what came after it belongs there', async (context) => {
  const { app, add, load, command } = await start(context);
  await app.send('/members/1', { method: 'PATCH', body: { registration_date: '2020-01-01' } });
  const why = ['--yes', '--reason', 'test'];
  const transfer = ['members', 'transfer', '1', '--to', 'B-2', '--code', 'N-1', '--on', '2025-05-01'];
  assert.equal((await command(...transfer, ...why)).status, 0);
  assert.equal((await command('cooperatives', 'merge', 'A-1', 'B-2', ...why)).status, 0);
  const { id } = (await app.send(`/members?identity_card=${nid(1)}`)).json.results[0];
  await app.send(`/members/${id}`, { method: 'PATCH', body: { status: 'withdrawn' } });
  await add(`/members/${id}/deliveries`, DELIVERY);
  const late = await load('production', `${PRODUCTION_HEADER}\nB-2,N-1,D-9,2025-06-02,5,\n`);
  assert.equal(late.status, 0, late.out);
});

test('an import is not undone beneath such an entry, and an erasure forgets the kept response', async (context) => {
  const { post, command, value } = await start(context);
  const sent = { headers: { 'Idempotency-Key': 'k-1' } };
  assert.equal((await post(DELIVERIES, DELIVERY, sent)).status, 201);
  const undo = await command('imports', 'undo', '2', '--yes');
  assert.equal(undo.status, 1);
  assert.match(undo.err + undo.out, /D-1/);
  const transaction = { headers: { 'Idempotency-Key': 'k-2' } };
  assert.equal((await post('/members/2/savings-transactions', SAVING, transaction)).status, 201);
  assert.equal((await command('persons', 'erase', nid(1), '--yes', '--reason', 'test')).status, 0);
  assert.equal(value('SELECT group_concat(idempotency_key) FROM idempotent_responses'), 'k-2');
  assert.equal((await post(DELIVERIES, DELIVERY, sent)).status, 410);
  const check = await command('check');
  assert.equal(check.status, 0, check.out);
});

for (const [path, body] of [
  [DELIVERIES, DELIVERY],
  [TRANSACTIONS, SAVING],
] as const) {
  test(`\`check\` misses the event of what was added to ${path}, not that of a member who was merged`, async (context) => {
    const { app, add, command, databaseFile } = await start(context);
    await add(path, body);
    const [merge, why] = [
      ['members', 'merge', '1', '2'],
      ['--yes', '--reason', 'Registered twice'],
    ];
    assert.equal((await command(...merge, ...why)).status, 0);
    assert.equal((await command('check')).status, 0);
    assert.equal((await command('imports', 'undo', '3', '--yes')).status, 0);
    app.clock.advance(2_000);
    await add(path, { ...body, reference: 'D-2' });
    const db = openFile(databaseFile);
    db.exec('DELETE FROM events WHERE sequence = (SELECT max(sequence) FROM events)');
    db.close();
    assert.match((await command('check')).out, /sequence of events .*wrong/);
  });
}

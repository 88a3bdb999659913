/** PATCH: a JSON merge patch of one resource (docs/api.md#changing-some-fields). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { SCOPES } from '../../src/access/api-keys.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openFile } from '../support/sqlite.ts';

const NID = '1198589000123042';
const COOPERATIVE = {
  ...{ code: 'A-1', name: 'Abahuje', sector: 'mining', province: 'South', district: 'Huye' },
  ...{ registration_date: '2012-05-14', status: 'inactive' },
};
const MEMBER = {
  ...{ cooperative_id: '1', identity_card: NID, member_code: 'M-1', full_name: 'Uwase Aline' },
  ...{ first_name: 'Aline', last_name: 'Uwase', gender: 'FEMALE', date_of_birth: '1985-03-31' },
  ...{ mobile: '+250781234567', role: 'TREASURER', status: 'suspended' },
  ...{ registration_date: '2020-02-14T11:14:00+02:00' },
};
const LOAN = {
  ...{ member_id: '1', reference: 'L-1', amount: '300000.00', interest_rate: '18.00' },
  ...{ loan_start_date: '2025-01-15', loan_end_date: '2026-07-15', status: 'pending' },
};
const PAYMENT = { loan_id: '2', amount: '27500.50', method: 'cash', reference: 'P-1' };
const OTHER = { ...MEMBER, identity_card: NID.replace('042', '043'), member_code: 'M-2' };

async function startWithRows(context: TestContext): Promise<TestApp> {
  const app = await startApp(context);
  await app.send('/cooperatives', { method: 'POST', body: COOPERATIVE });
  await app.send('/cooperatives', { method: 'POST', body: { ...COOPERATIVE, code: 'B-2' } });
  for (const body of [MEMBER, OTHER])
    assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  for (const body of [LOAN, { ...LOAN, reference: 'L-2', status: 'approved' }])
    assert.equal((await app.send('/loans', { method: 'POST', body })).status, 201);
  assert.equal((await app.send('/payments', { method: 'POST', body: PAYMENT })).status, 201);
  app.clock.advance(60_000);
  return app;
}

const patch = (app: TestApp, path: string, body: unknown) => app.send(path, { method: 'PATCH', body });

/** One change of each field, each with what is shown then. */
const CHANGES: { readonly [path: string]: readonly (readonly [given: object, shown?: object])[] } = {
  '/cooperatives/1': [
    [{ code: ' C-3 ' }, { code: 'C-3' }],
    [{ name: 'Twisungane' }],
    [{ sector: null }],
    [{ sector: 'fishing', province: null }],
    [{ district: 'Gasabo' }],
    [{ registration_date: null }],
    [{ status: 'active' }],
  ],
  '/members/1': [
    [{ identity_card: NID.replace('042', '044') }],
    [{ member_code: 'M-9' }],
    [{ full_name: 'Mukamana Aline' }],
    [{ first_name: null }],
    [{ first_name: 'Alina', last_name: 'Mukamana' }],
    [{ gender: null, date_of_birth: null }],
    [{ mobile: '078 123 4568' }, { mobile: '+250781234568' }],
    [{ mobile: null }],
    [{ role: 'MEMBER', status: 'active' }],
    [{ registration_date: '2021-01-01' }, { registration_date: '2021-01-01T00:00:00+02:00' }],
    [{ cooperative_id: 1 }, {}],
    // Made of both parts, as on PUT.
    [{ full_name: null }, { full_name: 'Alina Mukamana' }],
  ],
  '/loans/1': [
    [{ amount: '350000' }, { amount: '350000.00' }],
    [{ interest_rate: '19.5' }, { interest_rate: '19.50' }],
    [{ loan_end_date: null }],
    [{ reference: 'L-9', loan_start_date: null }],
    [{ member_id: '1' }, {}],
  ],
  '/payments/1': [
    [{ amount: '27500.51' }],
    [{ method: 'bank', reference: 'P-9' }],
    [{ paid_at: '2025-06-01' }, { paid_at: '2025-06-01T00:00:00+02:00' }],
    [{ loan_id: 2 }, {}],
    [{ status: 'void' }],
  ],
};

for (const [path, changes] of Object.entries(CHANGES)) {
  test(`PATCH ${path} changes the fields that are given and no others`, async (context) => {
    const app = await startWithRows(context);
    let expected = (await app.send(path)).json;
    for (const [given, shown = given] of changes) {
      app.clock.advance(1_000);
      const response = await patch(app, path, given);
      assert.equal(response.status, 200, response.text);
      const { updated_at } = response.json;
      assert.deepEqual(response.json, { ...expected, ...shown, updated_at }, JSON.stringify(given));
      assert.equal(updated_at === expected.updated_at, JSON.stringify(shown) === '{}');
      expected = response.json;
      assert.deepEqual((await app.send(path)).json, expected);
    }
  });

  test(`an empty PATCH of ${path}, or one with what is stored, changes nothing, updated_at included`, async (context) => {
    const app = await startWithRows(context);
    const stored = (await app.send(path)).json;
    // Read-only fields are ignored, as on PUT.
    for (const body of [{}, stored, { id: '7', created_at: null }]) {
      const response = await patch(app, path, body);
      assert.equal(response.status, 200, response.text);
      assert.deepEqual(response.json, stored);
    }
  });
}

for (const [path, changes] of Object.entries(CHANGES)) {
  const resource = path.split('/')[1] as 'cooperatives' | 'members' | 'loans' | 'payments';

  test(`a key that may only write ${resource} reads nothing by changing nothing`, async (context) => {
    const app = await startWithRows(context);
    const { key } = app.issue([`${resource}:write`]);
    const other = app.issue([`${resource}:write`, ...SCOPES.filter((scope) => !scope.startsWith(resource))]);
    const { json: stored, headers } = await app.send(path);
    const before = (await app.send('/events?after=0')).json.last_sequence;
    const ifMatch = { 'If-Match': headers.etag as string };
    const requests = [{}, stored, { id: '7' }].map((body) => ({ method: 'PATCH', body }));
    for (const request of [...requests, { method: 'PUT', body: stored }]) {
      for (const sent of [{ key }, { key: other.key }, { key, headers: ifMatch }]) {
        const response = await app.send(path, { ...request, ...sent });
        assert.equal(response.status, 403, response.text);
        assert.deepEqual(response.json, { detail: 'You do not have permission to perform this action.' });
        assert.equal(response.headers.etag, undefined);
        assert.match(
          String(response.headers['www-authenticate']),
          new RegExp(`insufficient_scope", scope="${resource}:read"$`),
        );
      }
    }
    assert.equal((await app.send('/events?after=0')).json.last_sequence, before);
    // What was wrong before there could be a change is reported as to everybody.
    const empty = { method: 'PATCH', body: {}, key };
    assert.equal((await app.send(`/${resource}/99`, empty)).status, 404);
    assert.equal((await app.send(path, { ...empty, headers: { 'If-Match': '"x"' } })).status, 412);
    assert.equal((await app.send(path, { ...empty, body: { status: 'lost' } })).status, 400);
    // A change is shown, and with it the rest.
    const [change] = changes[0] as readonly [object];
    const changed = await app.send(path, { ...empty, body: change });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(changed.json, (await app.send(path)).json);
  });
}

for (const path of ['/cooperatives/1', '/members/1']) {
  test(`PATCH ${path} checks what is given with the declarations of PUT, all faults together`, async (context) => {
    const app = await startWithRows(context);
    const stored = (await app.send(path)).json;
    const { code, member_code } = stored;
    const required = code === undefined ? { member_code: null } : { code: null };
    const [name] = Object.keys(required);
    const faults = { status: null, registration_date: '31/03/2024', nickname: 'x', ...required };
    assert.deepEqual(
      Object.keys((await patch(app, path, faults)).json).sort(),
      [name, 'nickname', 'registration_date', 'status'].sort(),
    );
    const refused = await patch(app, path, faults);
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.json[name as string], ['This field may not be null.']);
    assert.deepEqual(refused.json.status, ['This field may not be null.']);
    assert.deepEqual(refused.json.nickname, ['Unknown field.']);
    // A conflict is reported with them, and by itself.
    const taken = code === undefined ? { member_code: 'M-2' } : { code: 'B-2' };
    const unique = { [name as string]: ['This field must be unique.'] };
    assert.deepEqual((await patch(app, path, taken)).json, unique);
    assert.deepEqual((await patch(app, path, { ...taken, nickname: 1 })).json, {
      ...unique,
      nickname: ['Unknown field.'],
    });
    assert.deepEqual((await app.send(path)).json, { ...stored, ...(code ? { code } : { member_code }) });
  });

  test(`PATCH ${path} takes an object only`, async (context) => {
    const app = await startWithRows(context);
    for (const [body, message] of [
      [[{ op: 'remove', path: '/mobile' }], 'Invalid data. Expected a dictionary, but got list.'],
      [null, 'No data provided'],
      ['x', 'Invalid data. Expected a dictionary, but got str.'],
    ] as const) {
      const response = await patch(app, path, body);
      assert.equal(response.status, 400);
      assert.deepEqual(response.json, { non_field_errors: [message] });
    }
  });

  test(`application/merge-patch+json is for PATCH ${path} only`, async (context) => {
    const app = await startWithRows(context);
    const send = (method: string, to: string, type: string) =>
      app.send(to, { method, raw: '{"status":"active"}', headers: { 'Content-Type': type } });
    for (const type of ['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8']) {
      const response = await send('PATCH', path, type);
      assert.equal(response.status, 200, response.text);
      assert.equal(response.json.status, 'active');
    }
    for (const [method, to, type] of [
      ['PUT', path, 'application/merge-patch+json'],
      ['POST', path.replace('/1', ''), 'application/merge-patch+json'],
      ['PATCH', path, 'application/json-patch+json'],
      ['PATCH', path, 'text/plain'],
    ] as const) {
      const response = await send(method, to, type);
      assert.equal(response.status, 415, `${method} ${type}`);
      assert.deepEqual(response.json, { detail: `Unsupported media type "${type}" in request.` });
    }
  });
}

test('a PATCH keeps what a write between its reading and its transaction has changed', async (context) => {
  const app = await startWithRows(context);
  const lock = openFile(app.config.storage);
  context.after(() => lock.close());
  lock.exec('BEGIN IMMEDIATE');
  const sent = [{ mobile: '+250781234560' }, { full_name: 'Mukamana Aline' }].map((body) =>
    patch(app, '/members/1', body),
  );
  // Until both have read the member and wait for the lock.
  await setTimeout(200);
  lock.exec('COMMIT');
  const both = await Promise.all(sent);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  const { mobile, full_name } = (await app.send('/members/1')).json;
  assert.deepEqual([mobile, full_name], ['+250781234560', 'Mukamana Aline']);
});

test('the cooperative of a member cannot be changed, and a name cannot be taken away', async (context) => {
  const app = await startWithRows(context);
  assert.deepEqual((await patch(app, '/members/1', { cooperative_id: '2' })).json, {
    cooperative_id: ['This field cannot be changed.'],
  });
  assert.deepEqual((await patch(app, '/members/1', { full_name: null, first_name: null })).json, {
    full_name: ['This field is required.'],
  });
});

test('PATCH by national ID is refused like PUT, and one of nobody is 404', async (context) => {
  const app = await startWithRows(context);
  const response = await patch(app, `/members/${NID}`, {});
  assert.deepEqual([response.status, response.json], [400, { detail: 'Expected a member id.' }]);
  for (const path of ['/members/9', '/cooperatives/9', '/cooperatives/x'])
    assert.equal((await patch(app, path, {})).status, 404, path);
});

test('PATCH is recorded in the history and the log under its name', async (context) => {
  const app = await startWithRows(context);
  await patch(app, '/members/1', { status: 'active' });
  const line = app.logLines.find((each) => each.includes('"method":"PATCH"'));
  assert.match(line ?? '', /"route":"\/api\/v1\/members\/\{id\}","status":200/);
});

test('one step of a loan is a PATCH of its status, which decides from the loan as it is', async (context) => {
  const app = await startWithRows(context);
  const approved = await patch(app, '/loans/1', { status: 'approved' });
  assert.equal(approved.status, 200, approved.text);
  assert.deepEqual(
    [approved.json.status, approved.json.amount, approved.json.loan_end_date, approved.json.approved_at],
    ['approved', '300000.00', '2026-07-15T00:00:00+02:00', '2025-06-15T12:01:00+02:00'],
  );
  assert.deepEqual((await patch(app, '/loans/1', { status: 'rejected', amount: '1', nickname: '' })).json, {
    nickname: ['Unknown field.'],
    status: ['A loan cannot go from approved to rejected.'],
    amount: ['This field cannot be changed once the loan is approved.'],
  });
  assert.deepEqual((await patch(app, '/loans/1', { amount: null, status: null, member_id: '2' })).json, {
    amount: ['This field may not be null.'],
    status: ['This field may not be null.'],
    member_id: ['This field cannot be changed.'],
  });
  assert.deepEqual((await patch(app, '/loans/1', { reference: 'L-2' })).json, {
    reference: ['This field must be unique.'],
  });
});

test('a payment becomes void by a PATCH of its status, and what is paid on the loan follows', async (context) => {
  const app = await startWithRows(context);
  assert.equal((await app.send('/loans/2')).json.paid_amount, '27500.50');
  assert.equal((await patch(app, '/payments/1', { amount: '100' })).status, 200);
  assert.equal((await app.send('/loans/2')).json.paid_amount, '100.00');
  const tag = (await app.send('/loans/2')).headers.etag as string;
  assert.equal((await patch(app, '/payments/1', { status: 'void' })).json.amount, '100.00');
  const loan = await app.send('/loans/2', { headers: { 'If-None-Match': tag } });
  assert.deepEqual([loan.status, loan.json.paid_amount], [200, '0.00']);
  assert.deepEqual((await patch(app, '/payments/1', { amount: '1', status: 'recorded' })).json, {
    amount: ['This field cannot be changed once the payment is void.'],
    status: ['This field cannot be changed once the payment is void.'],
  });
});

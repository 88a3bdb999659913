/** Whose data each route shows, and that every such response has a receipt (docs/ledger.md). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AccessRecord } from '../../src/access/access-ledger.ts';
import { SCOPES } from '../../src/access/api-keys.ts';
import { fullPath, type Route } from '../../src/http/declare/route.ts';
import type { FieldGroup } from '../../src/values/declared-fields.ts';
import type { TestResponse } from '../support/app.ts';
import { correct } from '../support/correct.ts';
import { nid } from '../support/importing.ts';
import { type Lending, LOAN_TERMS, startLending } from '../support/lending.ts';
import { type MemoryLedger, memoryLedger, receiptOf } from '../support/memory-ledger.ts';
import { declaredRoutes } from '../support/openapi-file.ts';

const PERSON: readonly FieldGroup[] = ['identity', 'contact'];
const ALL: readonly FieldGroup[] = ['identity', 'contact', 'financials'];
const LENDING: readonly FieldGroup[] = ['identity', 'financials'];
const MONEY: readonly FieldGroup[] = ['financials'];

interface Place extends Lending {
  readonly ledger: MemoryLedger;
  /** The reading of a response, which has its receipt. */
  read(path: string, sent?: Parameters<Lending['app']['send']>[1]): Promise<[TestResponse, AccessRecord]>;
}

/** Loan 1 with payment 1 is of member 1; members 1 and 3 are one person. */
async function start(context: TestContext): Promise<Place> {
  const ledger = memoryLedger();
  const lending = await startLending(context, { ledger });
  await lending.lend({ reference: 'L-1', status: 'approved' });
  await lending.pay('1');
  return {
    ...lending,
    ledger,
    async read(path, sent = {}) {
      const before = ledger.readings.length;
      const response = await lending.app.send(path, sent);
      assert.equal(ledger.readings.length, before + 1, response.text);
      assert.equal(response.headers['x-access-receipt'], receiptOf(before + 1));
      return [response, ledger.readings[before] as AccessRecord];
    },
  };
}

const member = { cooperative_id: '1', identity_card: nid(5), member_code: 'M-9', full_name: 'Person 5' };
const loan = { member_id: '2', reference: 'L-9', ...LOAN_TERMS };
const payment = { loan_id: '1', amount: '1.00', method: 'cash', reference: 'P-9' };
const delivery = { delivered_at: '2025-06-01', kg: '1.000', product: 'Milk' };
const saving = { account_number: 'S-9', kind: 'contribution', amount: '1.00', transacted_at: '2025-06-01' };

type Case = readonly [
  path: string,
  subject: AccessRecord['subject'],
  fields: readonly FieldGroup[],
  body?: { readonly [field: string]: unknown },
];

/** A request to each route that shows persons. */
const CASES: { readonly [route: string]: Case } = {
  'GET /api/v1/cooperatives/{id}/members': ['/cooperatives/1/members', { memberIds: [1, 2] }, PERSON],
  'GET /api/v1/cooperatives/{id}/members/{nid}': [
    `/cooperatives/1/members/${nid(1)}`,
    { identityCards: [nid(1)], memberIds: [1] },
    ALL,
  ],
  'GET /api/v1/deliveries/export': [
    '/deliveries/export?cooperative=1',
    { all: { asOfSequence: 0, cooperativeIds: [1] } },
    LENDING,
  ],
  'GET /api/v1/loans': ['/loans', { memberIds: [1] }, LENDING],
  'GET /api/v1/loans/export': ['/loans/export', { all: { asOfSequence: 0, cooperativeIds: null } }, LENDING],
  'GET /api/v1/loans/{id}': ['/loans/1', { memberIds: [1] }, LENDING],
  'GET /api/v1/members': ['/members', { memberIds: [1, 2, 3] }, PERSON],
  'GET /api/v1/members/export': [
    '/members/export?cooperative=2',
    { all: { asOfSequence: 0, cooperativeIds: [2] } },
    PERSON,
  ],
  'GET /api/v1/members/{id}': [`/members/${nid(1)}`, { identityCards: [nid(1)], memberIds: [3, 1] }, ALL],
  'GET /api/v1/members/{id}/deliveries': ['/members/2/deliveries', { memberIds: [2] }, MONEY],
  'GET /api/v1/members/{id}/savings-transactions': [
    '/members/2/savings-transactions',
    { memberIds: [2] },
    MONEY,
  ],
  'GET /api/v1/payments': ['/payments', { memberIds: [1] }, LENDING],
  'GET /api/v1/payments/export': [
    '/payments/export',
    { all: { asOfSequence: 0, cooperativeIds: null } },
    LENDING,
  ],
  'GET /api/v1/payments/{id}': ['/payments/1', { memberIds: [1] }, LENDING],
  'GET /api/v1/savings-transactions/export': [
    '/savings-transactions/export',
    { all: { asOfSequence: 0, cooperativeIds: null } },
    LENDING,
  ],
  'PATCH /api/v1/loans/{id}': ['/loans/1', { memberIds: [1] }, LENDING, { reference: 'L-2' }],
  'PATCH /api/v1/members/{id}': ['/members/2', { memberIds: [2] }, PERSON, { gender: 'MALE' }],
  'PATCH /api/v1/payments/{id}': ['/payments/1', { memberIds: [1] }, LENDING, { method: 'bank' }],
  'POST /api/v1/loans': ['/loans', { memberIds: [2] }, LENDING, loan],
  'POST /api/v1/members/lookups': [
    '/members/lookups',
    { identityCards: [nid(2), nid(1), nid(9)], memberIds: [2, 3, 1] },
    ALL,
    { identity_cards: [nid(2), nid(1), nid(9)] },
  ],
  'POST /api/v1/members/{id}/deliveries': ['/members/2/deliveries', { memberIds: [2] }, MONEY, delivery],
  'POST /api/v1/members/{id}/savings-transactions': [
    '/members/2/savings-transactions',
    { memberIds: [2] },
    MONEY,
    saving,
  ],
  'POST /api/v1/payments': ['/payments', { memberIds: [1] }, LENDING, payment],
  'PUT /api/v1/loans/{id}': ['/loans/1', { memberIds: [1] }, LENDING, { ...loan, member_id: '1' }],
  'PUT /api/v1/members/{id}': ['/members/2', { memberIds: [2] }, PERSON, { ...member, member_code: 'M-2' }],
  'PUT /api/v1/payments/{id}': ['/payments/1', { memberIds: [1] }, LENDING, payment],
};

const name = (route: Route): string => `${route.method} ${fullPath(route)}`;
const routes = declaredRoutes();
const showsOnlyItsRequest = (route: Route): boolean =>
  'creation' in route && route.creation.showsOnlyItsRequest === true;
const personal = routes.filter((route) => route.personal !== 'none' && !showsOnlyItsRequest(route));

test('every route that shows persons has a case, and says which groups of fields a key may see', () => {
  assert.deepEqual(personal.map(name).sort(), Object.keys(CASES));
  for (const route of personal) {
    const { persons, fields } = route.personal as Exclude<Route['personal'], 'none'>;
    const [, subject, shown] = CASES[name(route)] as Case;
    assert.deepEqual(fields, shown, name(route));
    assert.equal(persons === 'all', 'all' in subject, name(route));
  }
});

/** Of an export the sequence is that which its headers say. */
const expectedOf = (
  { all, ...subject }: AccessRecord['subject'],
  { headers }: TestResponse,
): AccessRecord['subject'] =>
  all === undefined ? subject : { all: { ...all, asOfSequence: Number(headers['x-snapshot-sequence']) } };

for (const route of personal) {
  test(`${name(route)}: its response has a receipt, and its reading says whom it showed`, async (context) => {
    const { app, read } = await start(context);
    const [path, subject, fields, body] = CASES[name(route)] as Case;
    const sent = { method: route.method, ...(body === undefined ? {} : { body }) };
    const [response, reading] = await read(path, {
      ...sent,
      headers: { 'X-Purpose': 'Audit', 'X-End-User': 'Zoë', 'X-Request-Id': 'r-1' },
    });
    assert.ok(response.status < 300, response.text);
    const persons = route.personal === 'none' ? undefined : route.personal.persons;
    assert.deepEqual(reading, {
      timeMs: app.clock.now(),
      requestId: 'r-1',
      reader: { keyId: 1 },
      route: name(route),
      fields,
      status: response.status,
      address: '127.0.0.1',
      purpose: 'Audit',
      endUser: 'Zoë',
      ...(persons === 'page' ? { isPage: true } : {}),
      ...(persons === 'numbers' ? { isOfNumbers: true } : {}),
      subject: expectedOf(subject, response),
    });
    if (route.method === 'GET') {
      const [head, again] = await read(path, { method: 'HEAD' });
      assert.deepEqual([head.status, again.subject], [200, reading.subject]);
    }
  });
}

test('no other route is recorded', async (context) => {
  const { app, ledger } = await start(context);
  const others = routes.filter((route) => route.personal === 'none');
  const before = ledger.readings.length;
  for (const route of others) {
    const path = fullPath(route).replace('{id}', '1');
    const { headers } = await app.send(`/${path}`, {
      method: route.method,
      ...(route.body ? { body: {} } : {}),
    });
    assert.equal(headers['x-access-receipt'], undefined, name(route));
  }
  assert.ok(others.length > 5);
  assert.equal(ledger.readings.length, before);
});

test('a lookup that finds nobody is recorded, and other responses that show nobody are not', async (context) => {
  const { app, read, ledger } = await start(context);
  for (const path of [`/members/${nid(8)}`, `/cooperatives/2/members/${nid(8)}`]) {
    const [{ status }, { subject, fields }] = await read(path);
    assert.deepEqual([status, subject, fields], [404, { identityCards: [nid(8)] }, []], path);
  }
  for (const list of ['/members', '/cooperatives/1/members', '/loans', '/payments']) {
    const [{ json }, { subject }] = await read(`${list}?identity_card=${nid(8)}`);
    assert.deepEqual([json.count, subject], [0, { identityCards: [nid(8)], memberIds: [] }], list);
    const [{ status }, past] = await read(`${list}?identity_card=${nid(8)}&page=9`);
    assert.deepEqual([status, past.subject], [404, { identityCards: [nid(8)] }], list);
  }
  const before = ledger.readings.length;
  for (const [path, status] of [
    ['/members/99', 404],
    ['/members/99/deliveries', 404],
    ['/members?page=9', 404],
    ['/members/12345', 404],
    ['/members/119858900012304', 400],
    ['/members?mobile=x', 400],
    ['/members/export?format=none', 400],
  ] as const) {
    const response = await app.send(path);
    assert.deepEqual([response.status, response.headers['x-access-receipt']], [status, undefined], path);
  }
  assert.equal((await app.send('/members/1', { key: null })).status, 401);
  assert.equal((await app.send('/members/1', { key: app.issue(['loans:read']).key })).status, 403);
  assert.equal(ledger.readings.length, before);
});

test('a refused write that tells that somebody is a member is a reading of the number', async (context) => {
  const { app, ledger } = await start(context);
  const body = { cooperative_id: '1', identity_card: nid(1), member_code: 'NEW', full_name: 'Nobody New' };
  const write = () => app.send('/members', { method: 'POST', body });
  const refused = await write();
  assert.equal(refused.status, 400, refused.text);
  assert.ok('x-access-receipt' in refused.headers);
  const { subject, fields, status } = ledger.readings.at(-1) as AccessRecord;
  assert.deepEqual([subject, fields, status], [{ identityCards: [nid(1)] }, [], 400]);
  ledger.isFull = true;
  const unrecorded = await write();
  assert.equal(unrecorded.status, 503);
  assert.doesNotMatch(unrecorded.text, /unique|change was made/);
});

test('a list of one person names the number and the rows; a former number stands beside the current one', async (context) => {
  const { app, read } = await start(context);
  const [, filtered] = await read(`/members?identity_card=${nid(1)}`);
  assert.deepEqual(filtered.subject, { identityCards: [nid(1)], memberIds: [1, 3] });
  await correct(app, (store, options) =>
    store.run('replaceIdentityCard', { old: nid(1), current: nid(8) }, options),
  );
  for (const [path, memberIds] of [
    [`/members/${nid(1)}`, [3, 1]],
    [`/cooperatives/2/members/${nid(1)}`, [3]],
  ] as const) {
    const [{ status }, { subject }] = await read(path);
    assert.deepEqual([status, subject], [200, { identityCards: [nid(1), nid(8)], memberIds }], path);
  }
});

test('what a key does not see is not said to be shown', async (context) => {
  const { app, read } = await start(context);
  const plain = { key: app.issue(['members:read']).key };
  for (const path of [`/members/${nid(1)}`, `/cooperatives/1/members/${nid(1)}`, '/members/1'])
    assert.deepEqual((await read(path, plain))[1].fields, PERSON, path);
  assert.deepEqual((await read('/members/1'))[1].fields, PERSON);
  const narrow = { key: app.issue(SCOPES, { cooperatives: [2] }).key };
  assert.deepEqual((await read('/members', narrow))[1].subject, { memberIds: [3] });
  for (const [path, cooperativeIds] of [
    ['/members/export', [2]],
    ['/members/export?cooperative=1', []],
  ] as const)
    assert.deepEqual((await read(path, narrow))[1].subject.all?.cooperativeIds, cooperativeIds, path);
});

test('a new member, which shows nothing but its request, is no reading, nor is it when sent again', async (context) => {
  const { app, ledger } = await start(context);
  assert.deepEqual(routes.filter(showsOnlyItsRequest).map(name), ['POST /api/v1/members']);
  const before = ledger.readings.length;
  const body = {
    ...member,
    ...{ first_name: 'Person', last_name: '5', gender: 'MALE', date_of_birth: '1990-01-02' },
    ...{ mobile: '+250788000005', role: 'MEMBER', status: 'active', registration_date: '2020-01-02' },
  };
  const sent = { method: 'POST', body, headers: { 'Idempotency-Key': 'k' } };
  for (const isReplayed of [undefined, 'true']) {
    const { status, headers, json } = await app.send('/members', sent);
    assert.deepEqual([status, headers['idempotency-replayed']], [201, isReplayed]);
    assert.equal(headers['x-access-receipt'], undefined);
    const others = ['id', 'cooperative', 'registration_date', 'created_at', 'updated_at'];
    for (const [field, value] of Object.entries(json))
      if (!others.includes(field)) assert.equal(value, body[field as keyof typeof body], field);
  }
  assert.equal(ledger.readings.length, before);
  ledger.isFull = true;
  const recorded = await app.send('/members', {
    method: 'POST',
    body: { ...body, identity_card: nid(6), member_code: 'M-6' },
  });
  assert.equal(recorded.status, 201, recorded.text);
});

test('an answer that is sent again, and one that the client has already, are readings', async (context) => {
  const { read } = await start(context);
  for (const [path, body, memberIds] of [
    ['/loans', loan, [2]],
    ['/payments', payment, [1]],
  ] as const) {
    const sent = { method: 'POST', body, headers: { 'Idempotency-Key': `k-${memberIds}` } };
    const [first] = await read(path, sent);
    const [again, { subject, status }] = await read(path, sent);
    assert.deepEqual([first.status, again.headers['idempotency-replayed']], [201, 'true']);
    assert.deepEqual([status, subject], [201, { memberIds }], path);
    const own = `${path}/${first.json.id}`;
    const [known, unchanged] = await read(own, {
      headers: { 'If-None-Match': first.headers.etag as string },
    });
    assert.deepEqual([known.status, known.text, unchanged.status], [304, '', 304]);
    assert.deepEqual(unchanged.subject, { memberIds }, own);
  }
});

test('X-Purpose and X-End-User are 1 to 200 printable characters, on routes that show persons', async (context) => {
  const { app, read, ledger } = await start(context);
  for (const [sent, text] of [
    ['a', 'a'],
    ['é'.repeat(200), 'é'.repeat(200)],
    [Buffer.from('Uwase – prêt').toString('latin1'), 'Uwase – prêt'],
    [' padded ', 'padded'],
  ] as const) {
    const [, { purpose, endUser }] = await read('/members/1', {
      headers: { 'X-Purpose': sent, 'X-End-User': sent },
    });
    assert.deepEqual([purpose, endUser], [text, text]);
  }
  const before = ledger.readings.length;
  for (const header of ['X-Purpose', 'X-End-User'])
    for (const given of ['', '  ', 'x'.repeat(201), 'a\tb', 'a\u0085b', ['a', 'b']]) {
      const headers = { [header]: given };
      const { status, json } = await app.send('/members/1', { headers });
      assert.equal(status, 400, `${header}: ${given}`);
      assert.deepEqual(json, { detail: `${header}: Expected one text of 1 to 200 printable characters.` });
      assert.equal((await app.send('/me', { headers })).status, 200);
    }
  assert.equal(ledger.readings.length, before);
});

test('the purpose of a key is recorded where its request states none', async (context) => {
  const { app, read } = await start(context);
  const { id, key } = app.issue(SCOPES, { purpose: 'credit checks' });
  const headers = { 'X-Purpose': 'Audit' };
  const purposes = async (): Promise<unknown[]> => {
    const readings = [await read('/members/1', { key }), await read('/members/1', { key, headers })];
    return [...readings, await read('/members/1')].map(([, { purpose }]) => purpose);
  };
  assert.deepEqual(await purposes(), ['credit checks', 'Audit', null]);
  app.keys.update(id, { purpose: null }, 0);
  assert.deepEqual(await purposes(), [null, 'Audit', null]);
});

test('a key that must state its purpose is refused on routes that show persons without it, and nowhere else', async (context) => {
  const { app, read, ledger } = await start(context);
  const { id, key } = app.issue(SCOPES, { requiresPurpose: true });
  const before = ledger.readings.length;
  for (const [route, [path, , , body]] of Object.entries(CASES)) {
    const [method] = route.split(' ') as [string];
    const { status, json } = await app.send(path, { key, method, ...(body === undefined ? {} : { body }) });
    assert.deepEqual([status, json], [400, { detail: 'X-Purpose: This key must say why it reads.' }], route);
  }
  assert.equal(ledger.readings.length, before);
  assert.equal((await app.send('/cooperatives', { key })).status, 200);
  const { json } = await app.send('/me', { key });
  assert.deepEqual([json.purpose, json.require_purpose], [null, true]);
  const [, reading] = await read('/members/1', { key, headers: { 'X-Purpose': 'Audit' } });
  assert.equal(reading.purpose, 'Audit');
  app.keys.update(id, { requiresPurpose: false }, 0);
  await read('/members/1', { key });
});

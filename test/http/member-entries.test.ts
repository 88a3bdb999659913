/** What a summary adds up: the deliveries and savings transactions of a member. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { nid, SAVINGS_HEADER, startedPlace } from '../support/importing.ts';

const PRODUCTION = `cooperative_code,member_code,reference,delivered_at,kg,product
A-1,M-1,D-1,2025-03-30T23:59:59+02:00,10,Coffee
A-1,M-1,D-2,2025-03-31T00:00:00+02:00,20.5,COFFEE
A-1,M-1,D-3,2025-03-31T23:59:59+02:00,30,Tea
A-1,M-1,D-4,2025-04-01T00:00:00+02:00,0.001,
A-1,M-1,D-5,2025-03-31T00:00:00+02:00,40,Coffee
A-1,M-2,D-6,2025-03-31T00:00:00+02:00,99,Coffee
`;
const SAVINGS = `${SAVINGS_HEADER}
A-1,M-1,S-1,T-1,contribution,1000,2025-03-30
A-1,M-1,S-2,T-2,withdrawal,500.50,2025-03-31T08:00:00+02:00
A-1,M-2,S-3,T-3,contribution,7,2025-03-31
`;

/** A registry whose member 1 has five deliveries and two savings transactions, of two accounts. */
async function start(context: TestContext): Promise<TestApp> {
  const place = await startedPlace(context);
  assert.equal((await place.load('production', PRODUCTION)).status, 0);
  assert.equal((await place.load('savings', SAVINGS)).status, 0);
  return startApp(context, { folder: place.folder });
}

const references = async (app: TestApp, path: string): Promise<string[]> => {
  const response = await app.send(path);
  assert.equal(response.status, 200, response.text);
  assert.equal(response.json.count, response.json.results.length);
  return response.json.results.map((row: { reference: string }) => row.reference);
};

test('the deliveries of a member are listed newest first, with what was delivered', async (context) => {
  const app = await start(context);
  const { json } = await app.send('/members/1/deliveries/?page_size=2&page=2');
  assert.deepEqual(json, {
    count: 5,
    next: `${app.url}/api/v1/members/1/deliveries/?page=3&page_size=2`,
    previous: `${app.url}/api/v1/members/1/deliveries/?page_size=2`,
    results: [
      {
        ...{ id: '5', reference: 'D-5', delivered_at: '2025-03-31T00:00:00+02:00' },
        ...{ kg: '40.000', product: 'Coffee' },
      },
      {
        ...{ id: '2', reference: 'D-2', delivered_at: '2025-03-31T00:00:00+02:00' },
        ...{ kg: '20.500', product: 'COFFEE' },
      },
    ],
  });
  assert.deepEqual(await references(app, '/members/1/deliveries'), ['D-4', 'D-3', 'D-5', 'D-2', 'D-1']);
});

test('the savings transactions of all accounts of a member are listed newest first', async (context) => {
  const app = await start(context);
  const { json } = await app.send('/members/1/savings-transactions');
  assert.deepEqual(json, {
    ...{ count: 2, next: null, previous: null },
    results: [
      {
        ...{ id: '2', account_number: 'S-2', reference: 'T-2', kind: 'withdrawal', amount: '500.50' },
        transacted_at: '2025-03-31T08:00:00+02:00',
      },
      {
        ...{ id: '1', account_number: 'S-1', reference: 'T-1', kind: 'contribution', amount: '1000.00' },
        transacted_at: '2025-03-30T00:00:00+02:00',
      },
    ],
  });
  assert.deepEqual(await references(app, '/members/1/savings-transactions?to=2025-03-30'), ['T-1']);
});

test('a period includes both its days, and both its moments', async (context) => {
  const app = await start(context);
  const listed = (query: string) => references(app, `/members/1/deliveries?${query}`);
  assert.deepEqual(await listed('from=2025-03-31&to=2025-03-31'), ['D-3', 'D-5', 'D-2']);
  assert.deepEqual(await listed('to=2025-03-30'), ['D-1']);
  assert.deepEqual(await listed('from=2025-04-01'), ['D-4']);
  assert.deepEqual(await listed('from=2025-03-30T23:59:59&to=2025-03-31T00:00:00'), ['D-5', 'D-2', 'D-1']);
  assert.deepEqual(await listed('from=2025-03-30T22:00:00Z&to=2025-03-31T21:59:58Z'), ['D-5', 'D-2']);
  assert.deepEqual(await listed('from=2025-03-31T00:00:00%2B02:00'), ['D-4', 'D-3', 'D-5', 'D-2']);
  assert.deepEqual(await listed('from=2031-01-01'), []);
});

test('a product is found whatever its case, and never by a part of it', async (context) => {
  const app = await start(context);
  const listed = (query: string) => references(app, `/members/1/deliveries?${query}`);
  assert.deepEqual(await listed('product=coffee'), ['D-5', 'D-2', 'D-1']);
  assert.deepEqual(await listed('product=Tea&from=2025-03-31'), ['D-3']);
  assert.deepEqual(await listed('product=Cof'), []);
});

test('a malformed period or product is refused by its name', async (context) => {
  const app = await start(context);
  const refusal = async (query: string) => {
    const response = await app.send(`/members/1/deliveries?${query}`);
    assert.equal(response.status, 400, query);
    return response.json;
  };
  const wrong =
    'Datetime has wrong format. Use one of these formats instead: ' +
    'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';
  assert.deepEqual(await refusal('from=31/03/2025&to=2025-02-30'), { from: [wrong], to: [wrong] });
  assert.deepEqual(await refusal('from=2025-04-01&to=2025-03-31'), {
    to: ['Ensure this is not before from.'],
  });
  assert.deepEqual(await refusal('product='), { product: ['This field may not be blank.'] });
  const response = await app.send('/members/1/savings-transactions?product=Coffee');
  assert.deepEqual(response.json, { product: ['Unknown parameter.'] });
});

test('entries are listed by member id only', async (context) => {
  const app = await start(context);
  for (const name of ['deliveries', 'savings-transactions']) {
    for (const id of [nid(1), 'x', '1%202', '1234567890123']) {
      const response = await app.send(`/members/${id}/${name}`);
      assert.equal(response.status, 400, id);
      assert.deepEqual(response.json, { detail: 'Expected a member id.' });
    }
    assert.deepEqual((await app.send(`/members/99/${name}`)).json, { detail: 'Not found.' });
    assert.equal((await app.send(`/members/3/${name}`)).json.count, 0);
    assert.equal((await app.send(`/members/1/${name}?page=9`)).status, 404);
  }
});

test('the deliveries of a member are those that its production summary adds up', async (context) => {
  const app = await start(context);
  const { entries_count, total_kg } = (await app.send(`/members/${nid(1)}`)).json.memberships[0]
    .production_summary;
  const { count, results } = (await app.send('/members/1/deliveries?from=2024-06-15')).json;
  assert.equal(entries_count, count);
  const sum = results.reduce(
    (grams: number, { kg }: { kg: string }) => grams + Number(kg.replace('.', '')),
    0,
  );
  assert.equal(total_kg, `${Math.floor(sum / 1000)}.${String(sum % 1000).padStart(3, '0')}`);
});

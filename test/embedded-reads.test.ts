/** What embedding programs read without HTTP: the same objects as the JSON (docs/embedding.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RegistryError } from '../src/index.ts';
import { startApp, temporaryFolder } from './support/app.ts';
import { OBJECT_TYPES_FILE, objectTypesText } from './support/object-types.ts';
import { copyRegistry } from './support/sample-registry.ts';

/** As the formatter has not touched them: it writes a long choice with a bar before the first. */
const declarations = (text: string): string[] =>
  text.replace(/\s+/g, '').replaceAll(':|', ':').replaceAll(';}', '}').split('export');

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

test('the types of objects are what the routes declare; `make openapi` writes them', () => {
  assert.deepEqual(declarations(readFileSync(OBJECT_TYPES_FILE, 'utf8')), declarations(objectTypesText()));
});

test('each function of an embedding program gives the object of the JSON', async (context) => {
  const folder = temporaryFolder(context);
  await copyRegistry(folder);
  const settings = { PUBLIC_URL: 'https://registry.example.rw' };
  // After the loans were imported, with what was paid on them.
  const startMs = Date.now() + 86_400_000;
  const {
    registry: composed,
    send,
    issue,
  } = await startApp(context, {
    folder: join(folder, 'live'),
    settings,
    startMs,
  });
  const registry = composed.embedded;
  const { cooperatives, members, loans, payments } = registry;
  const plainKey = issue(['members:read', 'cooperatives:read']).key;
  const get = async (path: string, key?: string) => (await send(path, key === undefined ? {} : { key })).json;

  const { results } = await get('/members?status=active');
  const { id, identity_card: nid, cooperative } = results[0];
  const { id: loan } = (await get('/loans?status=approved')).results[0];
  const body = { loan_id: loan, amount: '1.00', method: 'cash', reference: 'P-1' };
  const created = await send('/payments', { method: 'POST', body });
  assert.equal(created.status, 201, created.text);
  const payment = created.json.id;
  const filters = { member_code: results[0].member_code, page: 1, page_size: 5 };
  const search = `member_code=${results[0].member_code}&page=1&page_size=5`;
  const same: [string, () => Promise<unknown>][] = [
    [`/members/${nid}`, () => registry.lookUp(nid, { financials: true })],
    [
      `/cooperatives/${cooperative.id}/members/${nid}`,
      () => registry.lookUpMembership(cooperative.id, nid, { financials: true }),
    ],
    [`/cooperatives/${cooperative.id}`, () => cooperatives.get(cooperative.id)],
    [`/cooperatives?status=ACTIVE`, () => cooperatives.list({ status: 'ACTIVE' })],
    [
      `/cooperatives/${cooperative.id}/statistics`,
      () => cooperatives.statistics(cooperative.id, { financials: true }),
    ],
    [`/members/${id}`, () => members.get(Number(id))],
    [
      '/members?page=2&page_size=3&status=active',
      () => members.list({ page: 2, pageSize: 3, status: 'active' }),
    ],
    [`/members?${search}`, () => members.list(filters)],
    ['/members?search=uwa&page_size=7', () => members.list({ search: 'uwa', page_size: 7 })],
    [`/members/${id}/deliveries?to=2099-01-01`, () => members.deliveries(id, { to: '2099-01-01' })],
    [`/members/${id}/savings-transactions`, () => members.savingsTransactions(id)],
    [`/loans/${loan}`, () => loans.get(loan)],
    [`/loans?member=${id}`, () => loans.list({ member: id })],
    [`/payments/${payment}`, () => payments.get(payment)],
    ['/payments', () => payments.list()],
    ['/statistics', () => registry.statistics({ financials: true })],
    ['/events?after=0&limit=250', () => registry.events({ after: 0, limit: 250 })],
  ];
  for (const [path, object] of same) assert.deepEqual(await object(), await get(path), path);
  const found = await registry.lookUp(nid, { financials: true });
  assert.ok(found?.memberships[0]?.loan_history, 'there is something to compare');
  const { results: events } = await registry.events({ after: 0, limit: 250 });
  assert.ok(events.length > 100, `${events.length} events are sent in several parts`);

  // Without the option, what a key without the scope gets.
  assert.deepEqual(await registry.lookUp(nid), await get(`/members/${nid}`, plainKey));
  assert.deepEqual(await registry.statistics({}), await get('/statistics', plainKey));

  const rows = await collect(members.all({ status: 'active' }));
  const { text } = await send('/members/export?status=active');
  assert.deepEqual(
    rows,
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  );
  assert.ok(rows.length > 20, 'several rows');
  // Those that end early make room for others: only two may run.
  for (const _ of [1, 2, 3, 4]) {
    for await (const member of members.all()) {
      assert.deepEqual(member, await members.get(member.id));
      break;
    }
  }
});

test('who is not there is undefined; a wrong argument is an error that names it', async (context) => {
  const { registry } = await startApp(context);
  const { lookUp, lookUpMembership, members, cooperatives, loans, statistics } = registry.embedded;
  const nid = '1199780012345678';
  for (const nobody of [
    lookUp(nid),
    lookUpMembership(1, nid, { financials: true }),
    members.get('1'),
    cooperatives.statistics(1),
    members.deliveries(9),
  ])
    assert.equal(await nobody, undefined);

  const faultsOf = async (work: () => Promise<unknown>): Promise<string> => {
    const error = await work().catch((reason: unknown) => reason);
    assert.ok(error instanceof RegistryError && error.code === 'invalid', String(error));
    return error.message;
  };
  const wrong: [(...values: never[]) => Promise<unknown>, unknown[], string][] = [
    [lookUp, ['12'], 'nid: Expected a national ID of exactly 16 digits.'],
    [lookUp, [1199780012345678], 'nid: Not a valid string.'],
    [lookUp, [undefined], 'nid: Not a valid string.'],
    [lookUp, [nid, { financial: true }], 'financial: There is no such option.'],
    [lookUp, [nid, { financials: 'yes' }], 'financials: Expected a value of type boolean.'],
    [lookUp, [nid, null], 'options: Expected an object.'],
    [lookUpMembership, ['A-1', nid], 'cooperativeId: Expected an id: 1 to 12 digits.'],
    [lookUpMembership, [1, '5'], 'nid: Expected a national ID of exactly 16 digits.'],
    [members.get, [nid], 'id: Expected an id: 1 to 12 digits.'],
    [members.get, [-1], 'id: Expected an id: 1 to 12 digits.'],
    [members.list, [{ sattus: 'active' }], 'sattus: Unknown parameter.'],
    [members.list, ['active'], 'options: Expected an object.'],
    [members.list, [{ status: ['active'] }], 'status: Expected a string or a whole number.'],
    [members.list, [{ page: 1.5 }], 'page: Expected a string or a whole number.'],
    [members.list, [{ page: 2 }], 'Invalid page.'],
    [members.list, [{ pageSize: 1, page_size: 2 }], 'page_size: Given more than once.'],
    [members.list, [{ pageSize: 0 }], 'page_size: Ensure this value is greater than or equal to 1.'],
    [loans.list, [{ member: 'A-1' }], 'member: Expected the id of a member.'],
    [statistics, [{ financials: 1 }], 'financials: Expected a value of type boolean.'],
    [(...given) => collect(members.all(...given)), [{ format: 'csv' }], 'format: Unknown parameter.'],
  ];
  for (const [work, given, message] of wrong)
    assert.equal(await faultsOf(() => work(...(given as never[]))), message);
});

test('a registry that is closed says so', async (context) => {
  const { registry } = await startApp(context);
  await registry.close();
  await assert.rejects(
    registry.embedded.lookUp('1199780012345678'),
    (error) => error instanceof RegistryError && error.message === 'The registry is closed.',
  );
});

test('a loop of calls leaves time for whatever else the process does', async (context) => {
  const { registry } = await startApp(context);
  let turns = 0;
  const count = () => {
    turns++;
    if (turns < 10) setImmediate(count);
  };
  setImmediate(count);
  for (let i = 0; i < 10; i++) await registry.embedded.lookUp('1199780012345678');
  assert.equal(turns, 10);
});

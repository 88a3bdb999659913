/** What was recorded in a cooperative, by kind: found, put in order, and each row changed from there. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AccessRecord } from '../../src/access/access-ledger.ts';
import { testDesk } from '../support/desk.ts';
import { type ImportPlace, LOANS_HEADER, nid, preparedPlace, SAVINGS_HEADER } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

const DELIVERIES = 60;
const DELIVERIES_HEADER = 'cooperative_code,member_code,reference,delivered_at,product,kg';
const file = (header: string, ...rows: string[]): string => `${[header, ...rows].join('\n')}\n`;

const start = preparedPlace(async (place) => {
  await place.load(
    'cooperatives',
    'code,name,district\nA-1,Abahuje,Huye\nB-2,Biringaniye,Gasabo\nC-3,Coko,\n',
  );
  await place.load(
    'members',
    file(
      'cooperative_code,identity_card,member_code,full_name,registration_date',
      ...[`A-1,${nid(1)},M-10,Keza Aline,2019-03-01`, `A-1,${nid(2)},M-2,Mukamana Rose,2021-03-01`],
      ...[`A-1,${nid(3)},M-3,habimana Eric,2020-03-01`, `B-2,${nid(4)},M-2,Uwase Diane,2020-03-01`],
    ),
  );
  await place.load(
    'production',
    file(
      DELIVERIES_HEADER,
      ...Array.from({ length: DELIVERIES }, (_, i) => `A-1,M-10,P-${i + 1},2025-02-01,maize,${1000 + i}`),
      ...['A-1,M-2,P-61,2025-04-01,coffee,7', 'A-1,M-3,P-62,2025-03-01,,8', 'B-2,M-2,P-1,2025-03-01,tea,9'],
    ),
  );
  await place.load(
    'savings',
    file(
      SAVINGS_HEADER,
      ...['A-1,M-2,S-2,T-1,contribution,500,2025-01-02', 'A-1,M-2,S-2,T-2,withdrawal,200,2025-01-03'],
    ),
  );
  await place.load(
    'loans',
    file(LOANS_HEADER, 'A-1,M-3,L-1,100000,10,approved,,2024-01-02,2026-01-02,2024-01-02'),
  );
  await place.load(
    'payments',
    file(
      'cooperative_code,loan_reference,reference,amount,method,paid_at',
      'A-1,L-1,Y-1,2500,cash,2025-01-02',
    ),
  );
});

async function begin(context: TestContext) {
  const place: ImportPlace = await start(context);
  const readings: AccessRecord[] = [];
  const ledger = {
    record: (recorded: readonly AccessRecord[]) => {
      readings.push(...recorded);
      return Promise.resolve(recorded.map(() => '1-0'));
    },
    isRecording: () => true,
    close: () => Promise.resolve(),
  };
  const browser = await (await testDesk(context, place.databaseFile, { ledger })).enter();
  return { place, browser, readings };
}

/** The texts of the cells of each row. */
const rowsOf = (page: string): string[][] =>
  [...page.matchAll(/<tr><td.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]*>/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  );
const columnOf = (page: string, column: number): string[] => rowsOf(page).map((row) => row[column] ?? '');

test('deliveries of a cooperative are listed, the last recorded first, on any page; who is shown is recorded', async (context) => {
  const { browser, readings } = await begin(context);
  const path = '/cooperative/A-1/deliveries';
  assert.match((await browser.get('/cooperative/A-1')).text, new RegExp(`href="${path}"`));
  const first = await browser.get(path);
  assert.match(first.text, /<p>62 rows</);
  assert.equal(rowsOf(first.text).length, 50);
  assert.deepEqual(rowsOf(first.text).slice(0, 3), [
    ['habimana Eric', 'M-3', '1 Mar 2025', '', '8 kg', 'P-62', 'Change… Remove…'],
    ['Mukamana Rose', 'M-2', '1 Apr 2025', 'coffee', '7 kg', 'P-61', 'Change… Remove…'],
    ['Keza Aline', 'M-10', '1 Feb 2025', 'maize', '1,059 kg', 'P-60', 'Change… Remove…'],
  ]);
  assert.deepEqual(readings.at(-1)?.subject.memberIds, [3, 2, 1]);
  assert.deepEqual(readings.at(-1)?.fields, ['identity', 'financials']);
  assert.equal(readings.at(-1)?.route, 'desk /cooperative/:code/deliveries');
  const second = await browser.get(`${path}?page=2`);
  assert.deepEqual(columnOf(second.text, 5).at(-1), 'P-1');
  assert.equal(rowsOf(second.text).length, 12);
  assert.deepEqual(rowsOf((await browser.get('/cooperative/B-2/deliveries')).text).length, 1);
  assert.equal((await browser.get('/cooperative/X-9/deliveries')).status, 404);
});

test('savings, loans and payments are listed with what they are, a payment with its loan and borrower', async (context) => {
  const { place, browser, readings } = await begin(context);
  const list = async (name: string) => rowsOf((await browser.get(`/cooperative/A-1/${name}`)).text);
  const rose = ['Mukamana Rose', 'M-2'];
  assert.deepEqual(await list('savings'), [
    [...rose, '3 Jan 2025', 'paid out', '-RWF 200', 'T-2', 'Change… Remove…'],
    [...rose, '2 Jan 2025', 'paid in', 'RWF 500', 'T-1', 'Change… Remove…'],
  ]);
  const eric = ['habimana Eric', 'M-3'];
  assert.deepEqual(await list('loans'), [
    [...eric, '2 Jan 2024', 'approved', 'RWF 100,000', 'L-1', 'Change… New payment Remove…'],
  ]);
  const payment = ['RWF 2,500', 'Y-1', 'L-1', 'Change…'];
  assert.deepEqual(await list('payments'), [[...eric, '2 Jan 2025', 'cash', ...payment]]);
  const db = openFile(place.databaseFile);
  db.run("UPDATE payments SET status = 'void'");
  db.close();
  assert.deepEqual(await list('payments'), [[...eric, '2 Jan 2025', 'void', ...payment]]);
  const before = readings.length;
  for (const name of ['deliveries', 'savings', 'loans', 'payments'])
    assert.match((await browser.get(`/cooperative/C-3/${name}`)).text, /<p>0 rows</);
  assert.equal(readings.length, before);
});

test('a row is changed and removed from the list of its cooperative', async (context) => {
  const { browser } = await begin(context);
  const { text } = await browser.get('/cooperative/A-1/deliveries');
  const [, change = ''] = /href="(\/person\/\d+\/change\/production\/61\?list=[^"]*)"/.exec(text) ?? [];
  const form = (await browser.get(change)).text;
  assert.match(form, /Mukamana Rose · P-61[\s\S]*value="coffee"/);
  assert.match(form, /<a href="\/cooperative\/A-1\/deliveries">Back<\/a>/);
  assert.match(
    (await browser.get(change.replace(/list=.*/, 'list=//elsewhere.example'))).text,
    /"\/person\/\d+">Back</,
  );
  const person = change.split('/change')[0] ?? '';
  assert.match(text, new RegExp(`action="${person}"[\\s\\S]*?name="reference" value="P-61"`));
  const removal = { action: 'remove', kind: 'production', cooperative: 'A-1', reference: 'P-61' };
  assert.match((await browser.post(person, removal)).text, /This would be done:[\s\S]*1 delivery/);
});

test('the rows of one member are found by the code, which stands in no address', async (context) => {
  const { browser, readings } = await begin(context);
  const path = '/cooperative/A-1/deliveries';
  const sent = await browser.post(path, { action: 'filter', text: 'M-2', sort: 'day' });
  assert.equal(sent.headers.location, `${path}?search=1&sort=day`);
  const { text } = await browser.get(`${path}?search=1&sort=day`);
  // Not the member of another cooperative who has the same code.
  assert.deepEqual(columnOf(text, 5), ['P-61']);
  assert.match(text, /Member code\s*<input[^>]* value="M-2"/);
  assert.match(text, /name="sort" value="day"/);
  assert.deepEqual(readings.at(-1)?.subject.memberIds, [2]);
  await browser.post(path, { action: 'filter', text: 'M-' });
  assert.match((await browser.get(`${path}?search=2`)).text, /No rows of a member with the code “M-”/);
  for (const [name, found] of [
    ['savings', 2],
    ['loans', 0],
    ['payments', 0],
  ] as const)
    assert.equal(rowsOf((await browser.get(`/cooperative/A-1/${name}?search=1`)).text).length, found);
});

test('a heading puts a list in order of its column, on every page of it', async (context) => {
  const { browser } = await begin(context);
  const path = '/cooperative/A-1/deliveries';
  const inOrder = async (sort: string) => (await browser.get(`${path}?sort=${sort}`)).text;
  assert.deepEqual(columnOf(await inOrder('name'), 0).slice(0, 2), ['habimana Eric', 'Keza Aline']);
  assert.deepEqual(columnOf(await inOrder('code'), 1).slice(0, 3), ['M-2', 'M-3', 'M-10']);
  assert.deepEqual(columnOf(await inOrder('day'), 5).slice(0, 3), ['P-61', 'P-62', 'P-60']);
  assert.deepEqual(columnOf(await inOrder('what'), 3).slice(0, 2), ['coffee', 'maize']);
  assert.deepEqual(columnOf(await inOrder('amount'), 5).slice(0, 2), ['P-60', 'P-59']);
  assert.deepEqual(columnOf(await inOrder('reference'), 5).slice(0, 3), ['P-1', 'P-10', 'P-11']);
  const text = await inOrder('amount');
  assert.match(text, /<th scope="col" class="n" aria-sort="descending"><a href="[^"]*deliveries">Weight</);
  assert.match(text, /<th scope="col"><a href="[^"]*\?sort=name">Name</);
  assert.match(text, /href="[^"]*\?sort=amount&amp;page=2"/);
  const second = (await browser.get(`${path}?sort=amount&page=2`)).text;
  assert.deepEqual(columnOf(second, 5).slice(-2), ['P-62', 'P-61']);
  // Another order begins with its first page.
  assert.match(second, /href="[^"]*\?sort=name">Name</);
  // What is no column is no order.
  assert.deepEqual(columnOf(await inOrder('e.id'), 5)[0], 'P-62');
  const payments = (await browser.get('/cooperative/A-1/payments?sort=loan')).text;
  assert.match(payments, /aria-sort="ascending"><a href="[^"]*payments">Reference of the loan</);
  const late = (await browser.get('/cooperative/A-1/without-delivery?sort=code')).text;
  assert.match(late, /aria-sort="ascending"><a href="[^"]*without-delivery">Member code</);
});

test('members and cooperatives are put in order of any column, with what is filtered', async (context) => {
  const { browser } = await begin(context);
  const members = async (query: string) => (await browser.get(`/cooperative/A-1/members?${query}`)).text;
  assert.deepEqual(columnOf(await members(''), 0), ['M-10', 'M-2', 'M-3']);
  assert.deepEqual(columnOf(await members('sort=member_code'), 0), ['M-2', 'M-3', 'M-10']);
  const byName = await members('sort=full_name&status=active');
  assert.deepEqual(columnOf(byName, 1), ['habimana Eric', 'Keza Aline', 'Mukamana Rose']);
  assert.match(byName, /aria-sort="ascending"><a href="[^"]*members\?status=active">Name</);
  const joined = await members('sort=registration_date');
  assert.deepEqual(columnOf(joined, 0), ['M-2', 'M-3', 'M-10']);
  assert.match(joined, /aria-sort="descending"/);
  const cooperatives = async (sort: string) =>
    columnOf((await browser.get(`/cooperatives?sort=${sort}`)).text, 0).slice(0, 3);
  assert.deepEqual(await cooperatives('code'), ['A-1', 'B-2', 'C-3']);
  // Without a district: the last.
  assert.deepEqual(await cooperatives('district'), ['B-2', 'A-1', 'C-3']);
  assert.deepEqual(await cooperatives('members'), ['A-1', 'B-2', 'C-3']);
  const sent = await browser.post('/cooperatives', { action: 'filter', status: 'active', sort: 'members' });
  assert.equal(sent.headers.location, '/cooperatives?sort=members&status=active');
});

test('the entries of somebody who was erased stay in the list, and lead nowhere', async (context) => {
  const { place, browser } = await begin(context);
  const erased = await place.command('persons', 'erase', '--yes', nid(2), '--reason', 'Asked for it');
  assert.equal(erased.status, 0, erased.err);
  const { text } = await browser.get('/cooperative/A-1/savings');
  assert.equal(rowsOf(text).length, 2);
  assert.deepEqual(columnOf(text, 6), ['', '']);
  assert.doesNotMatch(text, /Mukamana|href="\/person/);
});

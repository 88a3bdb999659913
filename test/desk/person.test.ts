/** The screens that show people: what they show, and what they keep out of addresses and titles. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import type { AccessRecord } from '../../src/access/access-ledger.ts';
import { startApp } from '../support/app.ts';
import { testDesk } from '../support/desk.ts';
import { nid, preparedPlace, SAVINGS_HEADER } from '../support/importing.ts';
import { ledgerPlaceIn, reading } from '../support/sqlite-ledger.ts';

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>';
const HEADER = 'cooperative_code,identity_card,member_code,full_name,status,mobile,date_of_birth';

/** Person 1 in both cooperatives, with entries of each kind; person 2 has a hostile name. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,active,0780000001,1985-01-02`,
    `B-2,${nid(1)},11,Keza A.,withdrawn,,`,
    `A-1,${nid(2)},M-2,"${HOSTILE.replaceAll('"', '""')}",active,0780000002,`,
    `B-2,${nid(3)},12,Keza Jeanne,active,,`,
  ];
  await place.load('members', `${[HEADER, ...rows].join('\n')}\n`);
  const deliveries = ['A-1,M-1,P-1,2025-05-25,10.5', 'A-1,M-1,P-2,2025-06-01,1200'];
  await place.load(
    'production',
    `cooperative_code,member_code,reference,delivered_at,kg\n${deliveries.join('\n')}\n`,
  );
  await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,1250000.50,2025-06-01\n`);
});

test('the box finds a person by national ID, name, telephone and member code', async (context) => {
  const { databaseFile } = await start(context);
  const browser = await (await testDesk(context, databaseFile)).enter();
  for (const text of [nid(1), nid(1).replace(/(\d)(\d{4})/, '$1 $2 '), '0780 000 001', 'A-1/M-1', 'b-2/11']) {
    const found = await browser.find(text);
    assert.equal(found.path, '/person/1', text);
    assert.match(found.text, /<h1>Keza Aline<\/h1>/);
  }
  const named = await browser.find('keza');
  assert.match(named.path, /^\/found\/\d$/);
  assert.match(named.text, /href="\/person\/1">Keza Aline</);
  assert.match(named.text, /Keza Jeanne/);
  assert.match((await browser.find('Nobody Here')).text, /No results/);
  assert.match((await browser.find('k')).text, /Ensure each word has at least 3 characters/);
});

test('the box finds a cooperative by code and by name', async (context) => {
  const { databaseFile } = await start(context);
  const browser = await (await testDesk(context, databaseFile)).enter();
  for (const text of ['a-1', 'abah']) {
    const found = await browser.find(text);
    assert.equal(found.path, '/cooperative/A-1');
    assert.match(found.text, /Abahuje/);
  }
});

test('a person is shown with memberships, deliveries, savings and what has changed', async (context) => {
  const place = await start(context);
  const why = ['--reason', 'Reported by the sector office'];
  await place.command('persons', 'deceased', '--yes', nid(1), '--on', '2025-06-02', ...why, '--as', 'N. N.');
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const { text } = await browser.find(nid(1));
  assert.match(text, new RegExp(`<dd>${nid(1)}</dd>`));
  assert.match(text, /Keza Aline[\s\S]*2 Jan 1985[\s\S]*\+250780000001[\s\S]*Keza A\./);
  assert.match(text, /<title>Jun 2025: 1,200 kg<\/title>/);
  assert.match(text, /RWF\s1,250,000\.50/);
  assert.match(text, /correction 5: N\. N\. \(\w+\), Reported by the sector office/);
  const held = await browser.get('/person/1/held');
  assert.match(held.text, /P-1[\s\S]*10\.5 kg/);
});

test('an undo is shown under who has undone it', async (context) => {
  const place = await start(context);
  const death = [
    'persons',
    'deceased',
    nid(1),
    '--on',
    '2025-06-02',
    '--reason',
    'Heard of it',
    '--as',
    'A. A.',
  ];
  assert.equal((await place.command(...death, '--yes')).status, 0);
  assert.equal((await place.command('imports', 'undo', '5', '--as', 'O. O.', '--yes')).status, 0);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const { text } = await browser.find(nid(1));
  assert.match(text, /correction 5: A\. A\. \(\w+\), Heard of it/);
  assert.match(text, /undo of 5: O\. O\. \(\w+\), Heard of it/);
  assert.match((await browser.get('/imports/5')).text, /<dt>Undone<\/dt>\s*<dd>[^<]*, O\. O\. \(/);
  for (const page of ['/', '/import'])
    assert.match(
      (await browser.get(page)).text,
      /Heard of it(?:<br>[^<]*)?<br><b>undone: [^<]*, O\. O\. \(/,
      page,
    );
});

test('the cooperative that a member was moved from is shown as a number, not as a date', async (context) => {
  const place = await start(context);
  const { status } = await place.command(
    'members',
    'move',
    '3',
    '--to',
    'B-2',
    '--reason',
    'Typed wrongly',
    '--yes',
  );
  assert.equal(status, 0);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  for (const { text } of [await browser.find(nid(2)), await browser.get('/person/1/held')]) {
    assert.match(text, />Number of the cooperative<\/td>\s*<td[^>]*>1<\/td>\s*<td[^>]*>2</);
    assert.doesNotMatch(text, /1970/);
  }
});

test('a person is headed by the name that a lookup gives first', async (context) => {
  const place = await start(context);
  const file = 'cooperative_code,identity_card,member_code,full_name,status,registration_date';
  const rows = [
    // The newest membership has ended; of two that began on one day the later row counts.
    `A-1,${nid(4)},M-4,Older Active,active,2020-01-01`,
    `B-2,${nid(4)},M-4,Newer Withdrawn,withdrawn,2024-01-01`,
    `A-1,${nid(5)},M-5,First Row,active,2020-01-01`,
    `B-2,${nid(5)},M-5,Second Row,active,2020-01-01`,
  ];
  assert.equal((await place.load('members', `${[file, ...rows].join('\n')}\n`)).status, 0);
  const app = await startApp(context, { folder: place.folder });
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  for (const [number, name] of [
    [nid(4), 'Older Active'],
    [nid(5), 'Second Row'],
  ] as const) {
    assert.match((await browser.find(number)).text, new RegExp(`<h1>${name}</h1>`));
    assert.equal((await app.send(`/members/${number}`)).json.primary_full_name, name);
  }
});

test('no address and no title holds a name or number; what is hostile is text', async (context) => {
  const { databaseFile } = await start(context);
  const browser = await (await testDesk(context, databaseFile)).enter();
  await browser.find(nid(1));
  const pages = [await browser.find(nid(2)), await browser.find('script'), await browser.find(HOSTILE)];
  for (const { path, text } of [...pages, { path: '', text: (await browser.get('/person/2/held')).text }]) {
    assert.doesNotMatch(path, /\d{3}/);
    assert.doesNotMatch(/<title>.*<\/title>/.exec(text)?.[0] ?? '', /Keza|script|\d{3}/);
    for (const [, address = ''] of text.matchAll(/(?:href|action|src)="([^"]*)"/g))
      assert.doesNotMatch(address, /\d{3}|Keza/);
    assert.doesNotMatch(text, /<script>|<img|style="/);
  }
  assert.match(pages[0]?.text ?? '', /&lt;script&gt;alert\(1\)/);
  assert.equal((await browser.get(`/person/${nid(1)}`)).status, 404);
  assert.doesNotMatch((await browser.get(`/person/${nid(1)}`)).text, new RegExp(nid(1)));
});

test('the numbers of one session mean nothing in another', async (context) => {
  const { databaseFile } = await start(context);
  const desk = await testDesk(context, databaseFile);
  assert.equal((await (await desk.enter()).find(nid(1))).path, '/person/1');
  assert.equal((await (await desk.enter()).get('/person/1')).status, 404);
});

test('whose data a page shows is recorded before it is sent; it is not sent otherwise', async (context) => {
  const { databaseFile } = await start(context);
  const recorded: AccessRecord[] = [];
  let isFull = false;
  const ledger = {
    record: async (readings: readonly AccessRecord[]) => {
      if (isFull) throw new Error('full');
      recorded.push(...readings);
      return [];
    },
    isRecording: () => true,
    close: async () => {},
  };
  const browser = await (await testDesk(context, databaseFile, { ledger })).enter();
  await browser.get('/');
  assert.equal(recorded.length, 0);
  await browser.find('keza');
  await browser.find(nid(1));
  await browser.find(nid(77));
  // A digit of it is wrong: who is found instead is shown.
  await browser.find(nid(9));
  await browser.find(`A-1/${nid(77)}`);
  await browser.find('Nobody Here');
  assert.deepEqual(
    recorded.map(({ reader, route, subject }) => [reader, route, subject]),
    [
      [{ user: 'N. N. (tester)' }, 'desk /found/:search', { memberIds: [1, 2, 4] }],
      [{ user: 'N. N. (tester)' }, 'desk /found/:search', { identityCards: [nid(1)], memberIds: [1, 2] }],
      [{ user: 'N. N. (tester)' }, 'desk /person/:person', { identityCards: [nid(1)], memberIds: [1, 2] }],
      [{ user: 'N. N. (tester)' }, 'desk /found/:search', { identityCards: [nid(77)] }],
      [
        { user: 'N. N. (tester)' },
        'desk /found/:search',
        { identityCards: [nid(9)], memberIds: [1, 2, 3, 4] },
      ],
      [{ user: 'N. N. (tester)' }, 'desk /found/:search', { identityCards: [nid(77)] }],
    ],
  );
  await browser.get('/person/1/held');
  assert.equal(recorded.at(-1)?.route, 'desk /person/:person/held');
  // Who is named by the dry run of a correction is shown, too.
  await browser.post('/person/1', { action: 'merge', fromId: '1', intoId: 'A-1/M-2' });
  assert.deepEqual(recorded.at(-1)?.subject, { identityCards: [nid(1)], memberIds: [1, 2, 3] });
  // So is the number that is asked for: the dry run tells whether somebody has it.
  await browser.post('/person/1', { action: 'number', current: nid(9) });
  assert.deepEqual(recorded.at(-1)?.subject.identityCards, [nid(1), nid(9)]);
  isFull = true;
  const refused = await browser.get('/person/1');
  assert.equal(refused.status, 500);
  assert.doesNotMatch(refused.text, /Keza/);
  for (const number of [nid(1), nid(8)]) assert.equal((await browser.find(number)).status, 500);
});

test('who has seen the data of a person is shown, this page included the next time', async (context) => {
  const { databaseFile } = await start(context);
  const ledger = ledgerPlaceIn(dirname(databaseFile)).openLedger();
  const browser = await (await testDesk(context, databaseFile, { ledger })).enter();
  await browser.find(nid(1));
  const readers = async () => (await browser.get('/person/1/readers')).text;
  assert.match(
    await readers(),
    /N\. N\. \(tester\)<\/td><td[^>]*>the person<\/td><td[^>]*>the desk: Person<\/td>/,
  );
  assert.match(await readers(), /<td[^>]*>the desk: Who has seen this record<\/td>/);
  // The page to print has them too, with the purposes that were given.
  await ledger.record([
    reading({ purpose: 'Loan application', subject: { identityCards: [nid(1)], memberIds: [1] } }),
  ]);
  const held = (await browser.get('/person/1/held')).text;
  assert.match(held, /<h2>Who has seen this record<\/h2>[\s\S]*Loan application/);
});

test('numbers and dates are written as in each language', async (context) => {
  const { databaseFile } = await start(context);
  const browser = await (await testDesk(context, databaseFile)).enter();
  await browser.find(nid(1));
  const french = (await browser.get('/person/1', { 'accept-language': 'fr' })).text;
  assert.match(french, /1\s250\s000,50\sRWF/);
  assert.match(french, /2 janv\. 1985/);
  assert.match(french, /<dt>Date d&#39;adhésion<\/dt>/);
  const kinyarwanda = (await browser.get('/person/1', { 'accept-language': 'rw' })).text;
  assert.match(kinyarwanda, /1\.250\.000,50/);
  assert.match(kinyarwanda, /<html lang="rw">/);
});

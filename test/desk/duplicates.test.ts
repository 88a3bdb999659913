/** Duplicates at the desk: side by side, each settled after its dry run. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AccessRecord } from '../../src/access/access-ledger.ts';
import { type Browser, testDesk } from '../support/desk.ts';
import { nid, preparedPlace } from '../support/importing.ts';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const header = 'cooperative_code,identity_card,member_code,full_name,date_of_birth';
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,1985-02-03`,
    `A-1,${nid(2)},M-2,Keza Aline,1985-02-03`,
    `B-2,${nid(41)},M-1,Uwase <i>,1990-01-01`,
    `A-1,${nid(42)},M-4,Uwase <i>,1990-01-01`,
  ];
  await place.load('members', `${[header, ...rows].join('\n')}\n`);
});

async function begin(context: TestContext) {
  const place = await start(context);
  const shown: unknown[] = [];
  const ledger = {
    record: async (readings: readonly AccessRecord[]) => {
      shown.push(...readings.map(({ subject }) => subject));
      return [];
    },
    isRecording: () => true,
    close: async () => {},
  };
  const browser = await (await testDesk(context, place.databaseFile, { ledger })).enter();
  return { place, browser, shown };
}

const settle = async (browser: Browser, form: { [name: string]: string }) => {
  const plan = await browser.post('/duplicates', form);
  assert.equal(plan.status, 200, plan.text);
  const expected = /name="expected" value="([^"]+)"/.exec(plan.text)?.[1] ?? '';
  return browser.post('/duplicates', { ...form, expected, reason: 'Seen with both of them' });
};

test('pairs stand side by side, and what differs has a sign', async (context) => {
  const { browser, shown } = await begin(context);
  const { text } = await browser.whenDone('/duplicates');
  assert.deepEqual(shown.at(-1), { memberIds: [2, 1, 4, 3] });
  assert.match(text, /2 pairs of members may be one person/);
  assert.match(text, /class="differs"><th scope="row">National ID <b [^>]*aria-label="differs"[^>]*>≠<\/b>/);
  assert.match(text, /<tr><th scope="row">Name<\/th><td>Keza Aline<\/td>\s*<td>Keza Aline</);
  assert.match(text, /<mark>2<\/mark>/);
  assert.doesNotMatch(text, /<i>/);
  const french = (await browser.get('/duplicates', { 'accept-language': 'fr' })).text;
  assert.match(french, /Ressemblance \d+ sur 100[\s\S]*même date de naissance/);
});

test('one is merged, one set aside: neither is shown again', async (context) => {
  const { place, browser } = await begin(context);
  await browser.whenDone('/duplicates');
  const merged = await settle(browser, { action: 'merge', from: '2', into: '1' });
  assert.equal(merged.headers.location, '/duplicates');
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
  assert.match((await browser.get('/duplicates')).text, /1 pair of members/);
  await settle(browser, { action: 'dismiss', from: '4', into: '3' });
  await browser.post('/duplicates', { action: 'again' });
  const { text } = await browser.whenDone('/duplicates');
  assert.match(text, /No likely duplicates were found\.[\s\S]*1 pair was set aside before/);
  assert.equal((await browser.post('/duplicates', { action: 'merge', from: '2', into: '1' })).status, 404);
});

test('the number that is chosen as right replaces the other', async (context) => {
  const { place, browser, shown } = await begin(context);
  await place.load('cooperatives', 'code,name\nC-3,Cyizere\n');
  const more = `C-3,${nid(42)},M-5,Uwase`;
  await place.load('members', `cooperative_code,identity_card,member_code,full_name\n${more}\n`);
  await browser.whenDone('/duplicates');
  const form = { action: 'number', from: '4', into: '3', right: '4' };
  const unticked = await settle(browser, form);
  assert.match(unticked.text, /C-3\/M-5[\s\S]*They are the same person/);
  assert.deepEqual(shown.at(-1), { memberIds: [4, 3, 5] });
  assert.match(unticked.text, /Tick the box first/);
  assert.equal(place.value('SELECT count(DISTINCT identity_card) FROM members WHERE id IN (3, 4)'), 2);
  await settle(browser, { ...form, same_person: 'yes' });
  assert.deepEqual(place.query('SELECT DISTINCT identity_card AS number FROM members WHERE id IN (3, 4)'), [
    { number: nid(42) },
  ]);
});

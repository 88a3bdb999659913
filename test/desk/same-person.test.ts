/** At the desk two people become one only when a box is ticked, and persons who may be two are listed. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AccessRecord } from '../../src/access/access-ledger.ts';
import { type Browser, testDesk } from '../support/desk.ts';
import { COOPERATIVES, type ImportPlace, importPlace, MEMBERS_HEADER, nid } from '../support/importing.ts';

const HEADER = `${MEMBERS_HEADER},gender,date_of_birth`;
const REASON = { reason: 'Seen with the card' };

async function begin(context: TestContext, rows: readonly string[]) {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  if (rows.length > 0) {
    const { status, err } = await place.load('members', `${[HEADER, ...rows].join('\n')}\n`, '--yes');
    assert.equal(status, 0, err);
  }
  const shown: AccessRecord['subject'][] = [];
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

const expectedIn = (page: string): string => /name="expected" value="([^"]+)"/.exec(page)?.[1] ?? '';
const numbers = (place: ImportPlace) =>
  place
    .query<{ card: string }>('SELECT identity_card AS card FROM members ORDER BY id')
    .map(({ card }) => card);

const TWO = [
  `A-1,${nid(1)},M-1,Keza Aline,F,1980-01-02`,
  `B-2,${nid(1)},M-1,Keza Aline,F,1980-01-02`,
  `B-2,${nid(2)},M-2,Mugabo Jean,M,1964-01-01`,
];

test('the number of somebody else shows both side by side, and is taken only with a tick', async (context) => {
  const { place, browser, shown } = await begin(context, TWO);
  const { path } = await browser.find(nid(1));
  const form = { action: 'number', current: nid(2) };
  const plan = await browser.post(path, form);
  assert.equal(plan.status, 200);
  assert.match(plan.text, /Conflicting data: different dates of birth, different/);
  assert.match(plan.text, /<th scope="row">Name <b[^>]*>≠<\/b><\/th><td>Keza Aline<\/td>/);
  assert.match(plan.text, /<a href="\/person\/\d+">B-2\/M-2<\/a>/);
  assert.match(plan.text, /name="same_person" value="yes" required>\s*They are the same person/);
  assert.deepEqual(shown.at(-1), { identityCards: [nid(1), nid(2)], memberIds: [1, 2, 3] });
  const agreed = { ...form, ...REASON, expected: expectedIn(plan.text) };
  const unticked = await browser.post(path, agreed);
  assert.match(unticked.text, /role="alert">Tick the box first\./);
  assert.deepEqual(numbers(place), [nid(1), nid(1), nid(2)]);
  const done = await browser.post(path, { ...agreed, same_person: 'yes' });
  assert.equal(done.status, 303, done.text);
  assert.deepEqual(numbers(place), [nid(2), nid(2)]);
  // Nobody is asked about a number that nobody has.
  const free = await browser.post(path, { ...form, current: nid(9) });
  assert.doesNotMatch(free.text, /same_person/);
});

test('a former number of somebody else is shown with who has it, and is taken only with a tick', async (context) => {
  const { place, browser } = await begin(context, TWO);
  const replaced = await place.command('nid', 'replace', nid(2), nid(8), '--yes', '--reason', 'Card');
  assert.equal(replaced.status, 0);
  const { path } = await browser.find(nid(1));
  const form = { action: 'number', current: nid(2) };
  const plan = await browser.post(path, form);
  assert.match(plan.text, /B-2\/M-2[\s\S]*a former one of the same person[\s\S]*They are the same person/);
  const agreed = { ...form, ...REASON, expected: expectedIn(plan.text) };
  assert.equal((await browser.post(path, agreed)).status, 200);
  assert.deepEqual(numbers(place), [nid(1), nid(1), nid(8)]);
});

test('one membership of several gets another number', async (context) => {
  const { place, browser } = await begin(context, TWO);
  const { path, text } = await browser.find(nid(1));
  assert.match(text, /<select name="memberId"><option value="">all memberships<\/option>/);
  const form = { action: 'number', current: nid(7), memberId: '2' };
  const plan = await browser.post(path, form);
  await browser.post(path, { ...form, ...REASON, expected: expectedIn(plan.text) });
  assert.deepEqual(numbers(place), [nid(1), nid(7), nid(2)]);
  assert.equal((await browser.post(path, { ...form, memberId: '3' })).status, 422);
});

const PATH = '/duplicates/contradictions';
const contradictory = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => [
    `A-1,${nid(11 * i)},M-${i},Keza Aline,F,1980-01-02`,
    `B-2,${nid(11 * i)},M-${i},Mugabo Jean,M,1964-01-01`,
  ]).flat();
const cardsIn = (page: string): number => page.match(/class="card pair"/g)?.length ?? 0;

test('the list of persons who may be two is there with none, one and more than a page', async (context) => {
  for (const [count, pages] of [
    [0, [0]],
    [1, [1]],
    [21, [10, 10, 1]],
  ] as const) {
    const { browser, shown } = await begin(context, contradictory(count));
    const { text } = await browser.whenDone(PATH);
    if (count === 0) assert.match(text, /No conflicting records were found\./);
    else assert.match(text, new RegExp(`${count} persons? ha(s|ve) conflicting records`));
    for (const [at, cards] of pages.entries()) {
      const page = await browser.get(`${PATH}?page=${at + 1}`);
      assert.equal(cardsIn(page.text), cards);
      const before = at * 20;
      if (cards > 0)
        assert.deepEqual(shown.at(-1), {
          memberIds: Array.from({ length: 2 * cards }, (_, i) => before + i + 1),
        });
    }
    assert.match((await browser.whenDone('/duplicates')).text, new RegExp(`href="${PATH}"`));
  }
});

async function settle(browser: Browser, path: string, form: { [name: string]: string }) {
  const plan = await browser.post(path, form);
  assert.equal(plan.status, 200, plan.text);
  return browser.post(path, { ...form, ...REASON, expected: expectedIn(plan.text) });
}

test('a person who may be two gets another number for one membership, or is checked', async (context) => {
  const { place, browser } = await begin(context, contradictory(2));
  const { text } = await browser.whenDone(PATH);
  assert.match(text, /different years of birth, different genders, names without a common word/);
  assert.match(text, /<th scope="row">Gender <b[^>]*>≠<\/b>/);
  const [, person = ''] = /action="(\/person\/\d+)"/.exec(text) ?? [];
  const split = await settle(browser, person, { action: 'number', memberId: '2', current: nid(500) });
  assert.equal(split.headers.location, person);
  assert.equal(cardsIn((await browser.get(PATH)).text), 1);
  const same = await settle(browser, PATH, { action: 'same', member: '3' });
  assert.equal(same.headers.location, PATH);
  assert.equal(cardsIn((await browser.get(PATH)).text), 0);
  await browser.post(PATH, { action: 'again' });
  const after = await browser.whenDone(PATH);
  assert.match(after.text, /No conflicting records were found[\s\S]*1 person was checked before/);
  assert.equal(place.value("SELECT count(*) FROM operations WHERE kind = 'duplicates_same_person'"), 1);
  assert.equal((await browser.post(PATH, { action: 'same', member: '99' })).status, 404);
  const french = (await browser.get(PATH, { 'accept-language': 'fr' })).text;
  assert.match(french, /Données contradictoires/);
});

/** What the box of the desk finds, and what it says of what it does not find (docs/desk.md#pages). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { withOneTypo, withOneWrongDigit } from '../../src/values/search-words-and-typos.ts';
import { testDesk } from '../support/desk.ts';
import { nid, preparedPlace } from '../support/importing.ts';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nKOAKAMA-HUY,Abahuje\nKOBIRI-GSG,Biringaniye\n');
  const rows = [
    `KOAKAMA-HUY,${nid(1)},HUY-00054,Mukatuzeu Esperance`,
    `KOBIRI-GSG,${nid(4)},GSG-00054,Nshimiyimana Aline`,
    `KOBIRI-GSG,${nid(5)},GSG-00055,Uwase Aline`,
  ];
  await place.load('members', `cooperative_code,identity_card,member_code,full_name\n${rows.join('\n')}\n`);
});

const enter = async (context: TestContext) =>
  (await testDesk(context, (await start(context)).databaseFile)).enter();

test('a member code alone finds the member, in any letter case', async (context) => {
  const browser = await enter(context);
  for (const text of ['GSG-00054', 'gsg-00054'])
    assert.match((await browser.find(text)).text, /<h1>Nshimiyimana Aline<\/h1>/);
});

test('a reference alone finds whose the loan or delivery is', async (context) => {
  const place = await start(context);
  const loan = 'KOAKAMA-HUY,HUY-00054,L-003,1000,18,approved,2025-01-01';
  const header = 'cooperative_code,member_code,reference,amount,interest_rate,status,loan_start_date';
  await place.load('loans', `${header}\n${loan}\n`);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  for (const text of ['L-003', 'l-003'])
    assert.match((await browser.find(text)).text, /<h1>Mukatuzeu Esperance<\/h1>/);
});

test('an initial beside a name leaves those who have a word that begins so', async (context) => {
  const browser = await enter(context);
  assert.match((await browser.find('Aline N.')).text, /<h1>Nshimiyimana Aline<\/h1>/);
  assert.match((await browser.find('N. U.')).text, /at least 3 characters/);
  assert.match((await browser.find('HK-L-2')).text, /No results/);
});

test('the beginning of the code of a cooperative finds it, and of several a list', async (context) => {
  const browser = await enter(context);
  assert.match((await browser.find('koaka')).text, /<h1>Abahuje<\/h1>/);
  const { text } = await browser.find('KO');
  assert.match(text, /Abahuje[\s\S]*Biringaniye/);
});

for (const typed of ['mukatuzau', 'mukatuezu', 'mukatuzue esper', 'mukatzeu', 'nshimiyimanna']) {
  test(`"${typed}" finds who is similar, and says so`, async (context) => {
    const { text } = await (await enter(context)).find(typed);
    assert.match(text, /There is no exact match/);
    assert.match(text, typed.startsWith('muk') ? /Mukatuzeu Esperance/ : /Nshimiyimana Aline/);
    assert.match(text, new RegExp(`<input id="find"[^>]* value="${typed}"`));
  });
}

test('who is found exactly is not beside others who are similar', async (context) => {
  const { text } = await (await enter(context)).find('aline');
  assert.doesNotMatch(text, /There is no exact match/);
  assert.match(text, /Nshimiyimana Aline[\s\S]*Uwase Aline/);
});

test('a number with one wrong digit finds who has it, and is recorded as asked for', async (context) => {
  const browser = await enter(context);
  const wrong = nid(1).replace(/^(.{8})(.)/, (_, start, digit) => `${start}${digit === '0' ? '1' : '0'}`);
  const { text } = await browser.find(wrong);
  assert.match(text, /There is no exact match[\s\S]*Mukatuzeu Esperance/);
  assert.match((await browser.find('9999999999999999')).text, /No results/);
  assert.match((await browser.find(nid(1).slice(1))).text, /16 digits; this number has 15\./);
});

test('what has no letter and no digit gets a sentence', async (context) => {
  const browser = await enter(context);
  for (const text of ['🙂', '…', '--'])
    assert.match((await browser.find(text)).text, /Search for letters or digits/);
});

test('one typo is a letter missing, too many, wrong, or swapped; one wrong digit likewise', () => {
  const words = withOneTypo('muka');
  for (const each of ['mua', 'mukka', 'moka', 'mkua']) assert.ok(words.includes(each), each);
  assert.ok(!words.includes('muka') && !words.includes('makuu'));
  assert.deepEqual(withOneWrongDigit('12').sort(), [
    ...['02', '10', '11', '13', '14', '15', '16', '17', '18', '19'],
    ...['21', '22', '32', '42', '52', '62', '72', '82', '92'],
  ]);
});

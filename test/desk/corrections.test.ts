/** Corrections at the desk: each is shown before it is made, and recorded under the user of the session. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Browser, testDesk } from '../support/desk.ts';
import { type ImportPlace, nid, preparedPlace } from '../support/importing.ts';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const rows = [`A-1,${nid(1)},M-1,Keza Aline`, `B-2,${nid(1)},M-1,Keza`, `A-1,${nid(2)},M-2,Keza Alyne`];
  await place.load('members', `cooperative_code,identity_card,member_code,full_name\n${rows.join('\n')}\n`);
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-1,P-1,2025-05-25,10\n',
  );
});

async function begin(context: TestContext): Promise<{ place: ImportPlace; browser: Browser }> {
  const place = await start(context);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  assert.equal((await browser.find(nid(1))).path, '/person/1');
  return { place, browser };
}

const expectedIn = (page: string): string => /name="expected" value="([^"]+)"/.exec(page)?.[1] ?? '';

test('sums and days of what is removed are written as the language of the page does', async (context) => {
  const place = await start(context);
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-1,P-2,2025-05-26,1033.4\n',
  );
  const browser = await (await testDesk(context, place.databaseFile)).enter(undefined, 'fr');
  await browser.find(nid(1));
  const form = { action: 'remove', kind: 'production', cooperative: 'A-1', reference: 'P-2' };
  const plan = await browser.post('/person/1', form);
  assert.match(plan.text.replace(/[\u202f\u00a0]/g, ' '), /1 033,4 kg, du 26 mai 2025/);
});

test('a correction is shown first, asks for a reason, and is recorded under the user', async (context) => {
  const { place, browser } = await begin(context);
  const before = place.query('SELECT * FROM members ORDER BY id');
  const plan = await browser.post('/person/1', { action: 'deceased', on: '2025-06-01' });
  assert.equal(plan.status, 200);
  assert.match(plan.text, /This would be done:[\s\S]*2 members changed/);
  assert.deepEqual(place.query('SELECT * FROM members ORDER BY id'), before);
  const agreed = { action: 'deceased', on: '2025-06-01', expected: expectedIn(plan.text) };
  for (const reason of ['', `He is ${nid(1)}`]) {
    const again = await browser.post('/person/1', { ...agreed, reason });
    assert.match(again.text, /role="alert"/);
    assert.deepEqual(place.query('SELECT * FROM members ORDER BY id'), before);
  }
  const done = await browser.post('/person/1', { ...agreed, reason: 'Reported by the sector office' });
  assert.equal(done.status, 303);
  assert.equal(done.headers.location, '/person/1');
  assert.deepEqual(place.query('SELECT status, date_of_death AS died FROM members WHERE id < 3'), [
    { status: 'deceased', died: '2025-06-01' },
    { status: 'deceased', died: '2025-06-01' },
  ]);
  const { text } = await browser.get('/person/1');
  assert.match(text, /role="status">Correction 4 is done\. <a href="\/imports\/4">Undo…</);
  assert.match(text, /N\. N\. \(tester\), Reported by the sector office/);
  assert.doesNotMatch((await browser.get('/person/1')).text, /role="status"/);
  const shown = JSON.parse((await place.command('imports', 'show', '4', '--json')).out);
  assert.equal(shown.user, 'N. N. (tester)');
  assert.equal((await place.command('check')).status, 0);
});

test('what has changed since it was shown is shown again', async (context) => {
  const { place, browser } = await begin(context);
  const form = { action: 'remove', kind: 'production', cooperative: 'A-1', reference: 'P-1' };
  const plan = await browser.post('/person/1', form);
  const expected = expectedIn(plan.text);
  await place.command('members', 'merge', '3', '1', '--yes', '--reason', 'Registered twice');
  await place.load(
    'members',
    `cooperative_code,identity_card,member_code,full_name\nA-1,${nid(1)},M-1,Keza K.\n`,
  );
  const again = await browser.post('/person/1', { ...form, expected, reason: 'Twice in the ledger' });
  assert.equal(again.status, 200);
  assert.match(again.text, /The data has changed in the meantime/);
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 1);
  const done = await browser.post('/person/1', {
    ...{ ...form, expected: expectedIn(again.text), reason: 'Twice in the ledger' },
  });
  assert.equal(done.status, 303);
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 0);
});

test('what would write another value is shown again, although as many rows would change', async (context) => {
  const { place, browser } = await begin(context);
  const header = 'cooperative_code,member_code,identity_card,full_name,mobile';
  const telephone = (number: string) =>
    place.load('members', `${header}\nA-1,M-1,${nid(1)},Keza Aline,${number}\n`, '--overwrite-corrections');
  assert.equal((await telephone('0780000001')).status, 0);
  const form = { action: 'merge', fromId: '1', intoId: 'A-1/M-2' };
  const plan = await browser.post('/person/1', form);
  assert.equal((await telephone('0780000002')).status, 0);
  const again = await browser.post('/person/1', {
    ...{ ...form, expected: expectedIn(plan.text), reason: 'Registered twice' },
  });
  assert.match(again.text, /The data has changed in the meantime/);
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
});

test('the number of a page stays that of the person when the national ID is corrected', async (context) => {
  const { browser } = await begin(context);
  const form = { action: 'number', current: ` ${nid(7).slice(0, 4)} ${nid(7).slice(4)} ` };
  const plan = await browser.post('/person/1', form);
  assert.match(plan.text, new RegExp(`<dd>${nid(1)}</dd>[\\s\\S]*<dd>${form.current.trim()}</dd>`));
  const done = await browser.post('/person/1', {
    ...{ ...form, expected: expectedIn(plan.text), reason: 'Mistyped' },
  });
  assert.equal(done.headers.location, '/person/1');
  const { text } = await browser.get('/person/1');
  assert.match(text, new RegExp(`<dd>${nid(7)}</dd>[\\s\\S]*<dd>${nid(1)}</dd>`));
});

test('merging, transferring and erasing do what their commands do', async (context) => {
  const { place, browser } = await begin(context);
  const agree = async (form: { [name: string]: string }) => {
    const plan = await browser.post('/person/1', form);
    assert.equal(plan.status, 200, plan.text);
    return browser.post('/person/1', { ...form, expected: expectedIn(plan.text), reason: 'Asked for' });
  };
  await agree({ action: 'merge', fromId: '1', intoId: 'a-1/M-2' });
  assert.deepEqual(place.query('SELECT id, identity_card AS number FROM members ORDER BY id'), [
    { id: 2, number: nid(1) },
    { id: 3, number: nid(2) },
  ]);
  await agree({ action: 'transfer', memberId: '2', to: 'a-1', memberCode: 'M-9', on: '2025-06-15' });
  assert.equal(place.value("SELECT count(*) FROM members WHERE member_code = 'M-9'"), 1);
  const erase = { action: 'erase' };
  const unticked = await agree(erase);
  assert.match(unticked.text, /Tick the box first/);
  const erased = await agree({ ...erase, agreed: 'yes' });
  assert.equal(erased.headers.location, '/');
  assert.equal((await browser.get('/person/1')).status, 404);
  assert.equal((await place.command('check')).status, 0);
});

test('what cannot be meant changes nothing and says what is expected', async (context) => {
  const { place, browser } = await begin(context);
  const transfer = { action: 'transfer', memberId: '1', memberCode: 'M-9' };
  const wrong = [
    [{ action: 'number', current: '123' }, 422, /exactly 16 digits/],
    [{ action: 'deceased', on: '2099-01-01' }, 422, /in the future/],
    [{ action: 'deceased', on: '3 May' }, 422, /This is not a day, such as 31\/03\/2024/],
    [{ action: 'merge', fromId: '3', intoId: 'A-1/M-1' }, 422, /Choose a membership of this person/],
    [{ action: 'merge', fromId: '1', intoId: 'M-9' }, 422, /such as KOAKAMA\/11/],
    [{ ...transfer, to: 'B-2', on: '2025-06-01' }, 409, /Nothing was changed/],
    // Some cooperatives use national IDs as codes.
    [{ ...transfer, to: nid(5), on: '2025-06-01' }, 409, /There is no cooperative \(hidden\)\. Nothing/],
    [{ action: 'remove', kind: 'production', cooperative: 'A-1', reference: 'P-9' }, 422, /no longer exists/],
    [{ action: 'nothing' }, 404, /Page not found/],
  ] as const;
  const before = place.query('SELECT * FROM members ORDER BY id');
  for (const [form, status, text] of wrong) {
    const refused = await browser.post('/person/1', form);
    assert.equal(refused.status, status, JSON.stringify(form));
    assert.match(refused.text, text);
  }
  assert.deepEqual(place.query('SELECT * FROM members ORDER BY id'), before);
});

test('a mistyped code loses nothing that was typed beside it', async (context) => {
  const { browser } = await begin(context);
  const given = { memberId: '2', to: 'no code!', memberCode: 'X-77', on: '2025-02-03' };
  const refused = await browser.post('/person/1', { action: 'transfer', ...given });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /role="alert"/);
  for (const value of ['no code!', 'X-77', '2025-02-03'])
    assert.match(refused.text, new RegExp(`value="${value}"`));
  assert.match(refused.text, /<option value="2" selected>/);
});

test('two who contradict each other are merged only when somebody says that they are one person', async (context) => {
  const { place, browser } = await begin(context);
  const header = 'cooperative_code,identity_card,member_code,full_name,gender,date_of_birth';
  await place.load(
    'members',
    `${header}\nA-1,${nid(3)},M-3,Keza Aline,FEMALE,1980-01-02\n` +
      `A-1,${nid(4)},M-4,Mugabo Jean,MALE,1964-03-04\n`,
  );
  const person = (await browser.find(nid(4))).path;
  const fromId = String(place.value("SELECT id FROM members WHERE member_code = 'M-4'"));
  const form = { action: 'merge', fromId, intoId: 'M-3' };
  const plan = await browser.post(person, form);
  assert.match(plan.text, /Conflicting data: different dates of birth, different genders/);
  assert.match(plan.text, /name="same_person"[\s\S]*They are the same person/);
  const agreed = { ...form, expected: expectedIn(plan.text), reason: 'Registered twice' };
  const asked = await browser.post(person, agreed);
  assert.match(asked.text, /Tick the box first\./);
  assert.equal(place.value("SELECT count(*) FROM members WHERE member_code = 'M-4'"), 1);
  assert.equal((await browser.post(person, { ...agreed, same_person: 'yes' })).status, 303);
  assert.equal(place.value("SELECT count(*) FROM members WHERE member_code = 'M-4'"), 0);
});

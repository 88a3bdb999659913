/** Files given to the desk outlive it, with what was chosen and found (docs/desk.md#import). */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LANGUAGES, type Language } from '../../src/values/language.ts';
import { type Browser, testDesk } from '../support/desk.ts';
import { fill, give, SAMPLES_MS, settled, submit } from '../support/desk-import.ts';
import { COOPERATIVES, member, members, startedPlace } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

/** One desk after the other, of the same registry. */
async function startedDesks(context: TestContext) {
  const place = await startedPlace(context);
  let end: () => unknown = () => {};
  context.after(() => end());
  async function reopen(language?: Language): Promise<Browser> {
    await end();
    const desk = await testDesk(
      { after: (ends: () => unknown) => (end = ends) } as never,
      place.databaseFile,
    );
    desk.clock.advance(SAMPLES_MS - desk.clock.now());
    return desk.enter(undefined, language);
  }
  const folder = place.databaseFile.replace(/\.db$/, `.desk-${process.getuid?.()}`);
  return { ...place, folder, reopen, close: () => end() };
}

/** Three words for the gender, which no dictionary has; the second row has no national ID. */
const LEDGER = [
  'Nimero ya koperative;Indangamuntu;Kode;Amazina;gender',
  'A-1;1198079244288038;M-7;Person 7;xx',
  'A-1;123;M-8;Person 8;yy',
  'A-1;1198079244288041;M-9;Person 9;zz',
];
const WORDS = { xx: 'MALE', yy: 'FEMALE', zz: 'OTHER' };

/** Sends the form with what the words of the page mean. */
async function check(browser: Browser, path: string) {
  const { text } = await settled(browser, `${path}?choose=yes`);
  const chosen = Object.entries(WORDS).flatMap(([word, meaning]) => {
    const field = new RegExp(`[“«"]\\s?${word}\\s?[”»"][^<]*<select name="([^"]+)"`).exec(text)?.[1];
    return field === undefined ? [] : [[field, meaning]];
  });
  assert.ok(chosen.length > 0, text);
  const headings = { 'heading-1': 'identity_card', 'heading-2': 'member_code', 'heading-3': 'full_name' };
  return submit(browser, path, 'check', {
    ...{ 'heading-0': 'cooperative_code', ...headings },
    ...Object.fromEntries(chosen),
  });
}

test('files, choices and refused rows are there when the desk is opened again', async (context) => {
  const { folder, reopen, value } = await startedDesks(context);
  const first = await reopen();
  const { path } = await give(first, 'ledger.csv', LEDGER.join('\n'));
  assert.match((await check(first, path)).text, /column National ID: Expected/);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, '1', 'file')).mode & 0o777, 0o600);

  const second = await reopen();
  assert.match((await second.get('/import')).text, /<a href="\/import\/1">ledger\.csv<\/a>/);
  assert.match((await second.get(path)).text, /column National ID: Expected/);
  assert.match((await second.get(`${path}/rejects`)).text, /Person 8/);
  const choices = (await second.get(`${path}?choose=yes`)).text;
  for (const meaning of Object.values(WORDS))
    assert.match(choices, new RegExp(`value="${meaning}" selected`));
  await submit(second, path, 'good');
  await submit(second, path, 'import');
  assert.equal(value("SELECT count(*) FROM members WHERE member_code IN ('M-7', 'M-9')"), 2);

  const third = await reopen();
  assert.match((await third.get(path)).text, /The file is imported\./);
  assert.match((await third.get(`${path}/rejects`)).text, /Person 8/);
  const undone = await third.get('/import');
  assert.match(undone.text, />imported<\/td>/);
});

test('choices that cannot be meant are kept too, so that only what is wrong is chosen again', async (context) => {
  const { reopen } = await startedDesks(context);
  const first = await reopen();
  const { path, page } = await give(first, 'ledger.csv', LEDGER.join('\n'));
  const chosen = { 'heading-1': 'member_code', 'heading-2': 'member_code', 'word-gender-1': 'OTHER' };
  const refused = await first.post(path, fill(page.text, 'check', chosen));
  assert.equal(refused.status, 422);
  const isKept = async (browser: Browser) => {
    const { text } = await settled(browser, path);
    for (const [name, value] of Object.entries(chosen))
      assert.match(
        text,
        new RegExp(`<select name="${name}"[^>]*>(?:(?!</select>).)*value="${value}" selected`),
      );
  };
  await isKept(first);
  await isKept(await reopen());
});

test('a file that was imported in full goes with the desk, and the folder with the last one', async (context) => {
  const { folder, reopen, close } = await startedDesks(context);
  const browser = await reopen();
  const { path } = await give(browser, 'members.csv', members(member(4)));
  await submit(browser, path, 'check');
  await submit(browser, path, 'import');
  const other = await give(browser, 'cooperatives.csv', COOPERATIVES);
  await close();
  assert.deepEqual(readdirSync(folder), ['2']);
  const again = await reopen();
  assert.equal((await again.get(path)).status, 404);
  await again.post(other.path, { action: 'remove' });
  await close();
  assert.ok(!existsSync(folder));
});

test('a file whose import was undone stays, as no registry has its rows', async (context) => {
  const { reopen, command } = await startedDesks(context);
  const first = await reopen();
  const { path } = await give(first, 'members.csv', members(member(4)));
  await submit(first, path, 'check');
  const done = await submit(first, path, 'import');
  const [, id = ''] = /href="\/imports\/(\d+)"/.exec(done.text) ?? [];
  assert.equal((await command('imports', 'undo', id, '--yes')).status, 0);
  const second = await reopen();
  assert.match((await second.get('/import')).text, />undone<\/td>/);
  assert.match((await second.get(path)).text, /The file was imported, and the import undone\./);
  // The file can be imported again, after another check.
  await submit(second, path, 'again');
  assert.match((await submit(second, path, 'import')).text, /The file is imported\./);
});

const REJECTED = {
  en: /;gender;Registry: what is wrong\n.*;"?National ID: Expected/,
  fr: /;gender;Registre : ce qui ne va pas\n.*;"?Numéro d'identité nationale: Le numéro/,
  rw: /;gender;Igitabo: ibitagenda\n.*;"?Nimero y'indangamuntu: Nimero/,
};

for (const language of LANGUAGES)
  test(`refused rows have reasons in the language ${language}, and come back as their file was read`, async (context) => {
    const { reopen, value } = await startedDesks(context);
    const browser = await reopen(language);
    const { path } = await give(browser, 'ledger.csv', LEDGER.join('\n'));
    await check(browser, path);
    await submit(browser, path, 'good');
    await submit(browser, path, 'import');
    const rejects = (await browser.get(`${path}/rejects`)).text;
    assert.match(rejects, REJECTED[language]);
    const corrected = rejects.replace(';123;', ';1198079244288044;');
    assert.notEqual(corrected, rejects);
    const again = await give(browser, 'rejects-1.csv', corrected);
    await submit(browser, again.path, 'check');
    await submit(browser, again.path, 'import');
    assert.equal(
      value("SELECT gender || ' ' || full_name FROM members WHERE member_code = 'M-8'"),
      'FEMALE Person 8',
    );
  });

test('refused rows that are refused again have one reason each, in the language of that page', async (context) => {
  const { reopen } = await startedDesks(context);
  const twice = members(member(4), member(4), 'A-1,123,M-5');
  const french = await reopen('fr');
  const first = await give(french, 'members.csv', twice);
  await submit(french, first.path, 'check');
  const rejects = (await french.get(`${first.path}/rejects`)).text;
  const heading = ',Registre : deux fois dans le fichier,Registre : ce qui ne va pas\n';
  assert.ok(rejects.includes(heading), rejects);
  assert.match(rejects, /A-1,123,M-5,.*"?Registre : ce qui ne va pas: Il faut/);
  const english = await reopen('en');
  const { path } = await give(english, 'rejects.csv', rejects);
  assert.match(
    (await submit(english, path, 'check')).text,
    /column Registry: twice in the file: This row was/,
  );
  const again = (await english.get(`${path}/rejects`)).text;
  assert.match(again, /,Registry: twice in the file,Registry: what is wrong\n/);
  assert.match(again, /A-1,123,M-5,.*Registry: what is wrong: Expected/);
  assert.doesNotMatch(again, /Registre/);
});

test('refused rows without a reference say from which file they are, under a heading of the page', async (context) => {
  const { reopen, value } = await startedDesks(context);
  const browser = await reopen('rw');
  const rows = [
    'cooperative_code,member_code,delivered_at,kg',
    'A-1,M-1,2025-01-01,ten',
    'A-1,M-1,2025-01-01,5',
  ];
  const { path } = await give(browser, 'production.csv', rows.join('\n'));
  await submit(browser, path, 'check');
  await submit(browser, path, 'good');
  await submit(browser, path, 'import');
  const rejects = (await browser.get(`${path}/rejects`)).text;
  assert.match(rejects, /,Igitabo: dosiye byavuyemo,Igitabo: ibitagenda\n.*,ten,sha256:[0-9a-f]{16},/);
  const again = await give(browser, 'rejects.csv', rejects.replace('ten', '5'));
  await submit(browser, again.path, 'check');
  await submit(browser, again.path, 'import');
  // Counted beside the equal one of the file, as it is known to be another row.
  assert.equal(value('SELECT count(*) FROM production_entries'), 2);
});

test('a file that was ready to be imported is checked again at the next desk', async (context) => {
  const { reopen, value } = await startedDesks(context);
  const first = await reopen();
  const { path } = await give(first, 'members.csv', members(member(4)));
  assert.match((await submit(first, path, 'check')).text, /value="import"/);
  const second = await reopen();
  const shown = (await second.get(path)).text;
  assert.match(shown, /as they are understood[\s\S]*>Person 4</);
  assert.doesNotMatch(shown, /value="import"|Interrupted/);
  await submit(second, path, 'again');
  await submit(second, path, 'import');
  assert.equal(value("SELECT count(*) FROM members WHERE member_code = 'M-4'"), 1);
});

test('of a registry that was restored meanwhile, nothing is said to be checked or imported', async (context) => {
  const { databaseFile, reopen } = await startedDesks(context);
  const browser = await reopen();
  const { path } = await give(browser, 'ledger.csv', LEDGER.join('\n'));
  await check(browser, path);
  const file = openFile(databaseFile);
  file.exec("UPDATE feed SET epoch = 'fedcba9876543210'");
  file.close();
  const later = await reopen();
  assert.match((await later.get('/import')).text, />to be reviewed<\/td>/);
  const choices = (await later.get(path)).text;
  for (const meaning of Object.values(WORDS))
    assert.match(choices, new RegExp(`value="${meaning}" selected`));
});

test('what a power cut has left of a file is read anew, and half a file removed', async (context) => {
  const { folder, reopen } = await startedDesks(context);
  const browser = await reopen();
  await give(browser, 'members.csv', members(member(4)));
  await give(browser, 'members.csv', members(member(5)));
  await browser.get('/');
  const second = join(folder, '2', 'state.json');
  await reopen();
  writeFileSync(join(folder, '1', 'state.json'), '');
  unlinkSync(second);
  const later = await reopen();
  assert.match((await settled(later, '/import/1')).text, /Person 4/);
  assert.equal((await later.get('/import/2')).status, 404);
  assert.ok(!existsSync(join(folder, '2')));
});

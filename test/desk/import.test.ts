/** Files given to the desk: read by a chosen map, checked, imported and undone (docs/desk.md#import). */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/app.ts';
import { type Browser, OWN_FORM, testDesk, tokenOf } from '../support/desk.ts';
import { COOPERATIVES, importPlace, member, members, nid, startedPlace } from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const SAMPLES = fileURLToPath(new URL('../../data/samples/', import.meta.url));
/** After the newest date in them. */
const SAMPLES_MS = Date.UTC(2026, 9, 1);
const sample = (name: string) => readFileSync(join(SAMPLES, name));

type Fields = { readonly [name: string]: string };

/** Waits until no command is at work on the page. */
async function settled(browser: Browser, path: string) {
  for (;;) {
    const answer = await browser.get(path);
    if (answer.headers.refresh === undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** What a browser sends of the form with this action, with what was chosen in place of what it shows. */
function fill(page: string, action: string, chosen: Fields = {}): Fields {
  const forms = page.split('<form').filter((each) => each.includes(`name="action" value="${action}"`));
  assert.equal(forms.length, 1, `one form ${action}`);
  const [form = ''] = forms;
  // A box that nobody has ticked is not sent.
  const inputs = [
    ...form
      .replace(/<input type="checkbox"[^>]*>/g, '')
      .matchAll(/<input[^>]*name="([^"]+)"[^>]*?(?: value="([^"]*)")?[^>]*>/g),
  ];
  const selects = [...form.matchAll(/<select name="([^"]+)"[^>]*>(.*?)<\/select>/gs)].map(
    ([, name, options = '']) => {
      const first = /<option value="([^"]*)"/.exec(options)?.[1];
      return [name, /<option value="([^"]*)" selected/.exec(options)?.[1] ?? first] as const;
    },
  );
  const given = Object.fromEntries([...inputs.map(([, name, value]) => [name, value ?? '']), ...selects]);
  return { ...given, ...chosen };
}

async function submit(browser: Browser, path: string, action: string, chosen: Fields = {}) {
  const shown = action === 'check' ? `${path}?choose=yes` : path;
  const fields = fill((await settled(browser, shown)).text, action, chosen);
  const answer = await browser.post(path, fields);
  assert.equal(answer.status, 303, answer.text);
  return settled(browser, answer.headers.location ?? '');
}

async function give(browser: Browser, name: string, content: string | Buffer) {
  const given = await browser.upload('/import', { [name]: content });
  assert.equal(given.status, 303);
  const path = given.headers.location ?? '';
  assert.match(path, /^\/import\/\d+$/);
  return { path, page: await settled(browser, path) };
}

/** @returns the page of the file when it is imported */
async function bringIn(browser: Browser, name: string, chosen: Fields, agreed: Fields = {}) {
  const { path, page } = await give(browser, name, sample(name));
  for (const field of Object.keys(chosen)) assert.ok(page.text.includes(`name="${field}"`), field);
  await submit(browser, path, 'check', chosen);
  const done = await submit(browser, path, 'import', agreed);
  assert.match(done.text, /The file is imported\./, `${name}: ${done.text}`);
  return done.text;
}

async function openedDesk(context: TestContext, databaseFile: string): Promise<Browser> {
  const desk = await testDesk(context, databaseFile);
  // After the newest date of the samples, as the processes that it starts.
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  return desk.enter();
}

test('the messy samples come in with maps made by choosing, and one is undone', async (context) => {
  const place = importPlace(context);
  const browser = await openedDesk(context, place.databaseFile);
  place.clock.advance(SAMPLES_MS - place.clock.now());
  await place.run('cooperatives', join(SAMPLES, 'cooperatives.csv'));
  const kawa = { 'constant-cooperative_code': 'URUGERO-KAWA' };
  await bringIn(browser, 'members-kinyarwanda.csv', kawa);
  await bringIn(browser, 'members-french.csv', { 'word-status-0': 'withdrawn' });
  const ledger = await bringIn(browser, 'production-coffee-ledger.csv', kawa);
  await bringIn(browser, 'loans-workbook.xlsx', {
    ...{ 'constant-cooperative_code': 'URUGERO-AMATA', 'constant-paid_until': '2026-06-30' },
  });
  const counted = ['members', 'production_entries', 'loans'].map((name) =>
    Number(place.value(`SELECT count(*) FROM ${name}`)),
  );
  assert.ok(
    counted.every((count) => count > 5),
    counted.join(),
  );
  // The history has the name that the file was given under, and the person who gave it.
  const { out } = await place.command('imports', 'list', '--json');
  const [, second] = JSON.parse(out).imports;
  assert.equal(second.file, 'members-kinyarwanda.csv');
  assert.match(second.user, /^N\. N\. \(/);
  const record = /\/imports\/\d+/.exec(ledger)?.[0] ?? '';
  const plan = await submit(browser, record, 'plan');
  assert.match(plan.text, /Undoing import 4 would remove \d+ rows and put 0 rows back\./);
  assert.ok(Number(place.value('SELECT count(*) FROM production_entries')) > 0);
  const undone = await submit(browser, record, 'undo');
  assert.match(undone.text, /<dt>Undone<\/dt>/);
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 0);
  assert.match(
    (await browser.get('/import')).text,
    /Deliveries<\/a> <b>\(undone\)<\/b>\s*<br><small>production-coffee-ledger\.csv/,
  );
});

test('a warning is looked at before the file is imported', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const listed = Array.from({ length: 20 }, (_, i) => i + 1);
  assert.equal((await load('members', members(...listed.map((n) => member(n))), '--yes')).status, 0);
  const { path } = await give(browser, 'members.csv', members(...listed.map((n) => member(n, 'B-2'))));
  const checked = await submit(browser, path, 'check');
  assert.match(checked.text, /<h2>Warnings<\/h2>/);
  assert.match(
    checked.text,
    /20 of the 20 members listed for B-2 are members of A-1: is this the right code\?/,
  );
  await submit(browser, path, 'import');
  assert.equal(value('SELECT count(*) FROM members WHERE cooperative_id = 2'), 0);
  await submit(browser, path, 'import', { agreed: 'yes' });
  assert.equal(value('SELECT count(*) FROM members WHERE cooperative_id = 2'), 20);
});

test('of a file with bad rows the good ones come in, and the others are downloaded with the reasons', async (context) => {
  const { databaseFile, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path } = await give(browser, 'members.csv', members(member(4), 'A-1,123,M-5,Bad Number'));
  const checked = await submit(browser, path, 'check');
  assert.match(checked.text, /members\.csv line 3, column National ID: Expected a national ID of exactly 16/);
  assert.match(checked.text, /as they are understood[\s\S]*>Person 4</);
  assert.doesNotMatch(checked.text, /value="import"/);
  assert.doesNotMatch(checked.text, /\d{16}/);
  const rejects = await browser.get(`${path}/rejects`);
  assert.match(rejects.headers['content-disposition'] ?? '', /^attachment; filename="rejects-\d+\.csv"$/);
  assert.match(rejects.text, /Bad Number/);
  assert.doesNotMatch(rejects.text, /Person 4/);
  const good = await submit(browser, path, 'good');
  assert.match(good.text, /value="import"/);
  await submit(browser, path, 'import');
  assert.equal(value('SELECT count(*) FROM members'), 4);
});

test('a newer version replaces an earlier file', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  const first = 'cooperative_code,member_code,reference,delivered_at,kg\n';
  const row = (n: number) => `A-1,M-1,D-${n},2025-01-0${n},${n}\n`;
  const { status } = await load('production', first + row(1) + row(2));
  assert.equal(status, 0);
  const browser = await openedDesk(context, databaseFile);
  const { path } = await give(browser, 'production.csv', first + row(2));
  const checked = await submit(browser, path, 'check', { replaces: '3' });
  assert.match(checked.text, /1 row of the replaced import is not in this file/);
  await submit(browser, path, 'import');
  assert.equal(value('SELECT count(*) FROM production_entries'), 1);
});

test('another sheet of a workbook is chosen', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows = (first: string, n: number) =>
    rowsOf(['cooperative_code', first, 'full_name'], ['A-1', nid(n), `Person ${n}`]);
  const named = [
    { name: '2026', rows: rows('identity_card', 4) },
    { name: 'Old', rows: rows('Xyz', 5) },
  ];
  const { path, page } = await give(browser, 'members.xlsx', workbookOf({ sheets: named }));
  assert.match(page.text, /<option value="2026" selected>2026<\/option><option value="Old">/);
  const other = await submit(browser, path, 'kind', { sheet: 'Old' });
  assert.match(other.text, /<option value="Old" selected>.*Person 5/s);
  const several = [named[0], { ...named[0], name: '2025' }] as typeof named;
  const open = await give(browser, 'members.xlsx', workbookOf({ sheets: several }));
  assert.match(open.page.text, /Several sheets may be meant/);
  const chosen = await submit(browser, open.path, 'kind', { kind: 'members', sheet: '2025' });
  assert.match(chosen.text, /<option value="2025" selected>/);
});

test('the cooperative is guessed where the file names one', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows = 'identity_card,member_code,full_name\n';
  for (const [name, code, chosen] of [
    ['members b-2 (1).csv', 'M-4', 'B-2'],
    ['members.csv', 'A-1/M-4', 'A-1'],
    ['members a-1 b-2.csv', 'M-4', ''],
  ] as const) {
    const { page } = await give(browser, name, `${rows}${nid(4)},${code},Person 4\n`);
    assert.equal(fill(page.text, 'check')['constant-cooperative_code'], chosen);
  }
});

test('two tabs do not confuse it: what was not seen last is not agreed to', async (context) => {
  const { databaseFile, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path } = await give(browser, 'members.csv', members(member(4)));
  const first = fill((await submit(browser, path, 'check')).text, 'import');
  await submit(browser, path, 'check');
  await browser.post(path, first);
  assert.match((await settled(browser, path)).text, /Something has changed meanwhile/);
  assert.equal(value('SELECT count(*) FROM members'), 3);
});

test('what would change otherwise by now is not imported but shown again', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path } = await give(browser, 'members.csv', members(member(4)));
  await submit(browser, path, 'check');
  assert.equal((await load('members', members(member(4).replace('Person', 'Somebody')))).status, 0);
  const refused = await submit(browser, path, 'import');
  assert.match(refused.text, /Nothing of this file was imported.*no longer agrees with it/s);
  assert.equal(value("SELECT full_name FROM members WHERE member_code = 'M-4'"), 'Somebody 4');
  const again = await submit(browser, path, 'again');
  assert.match(again.text, /Name changes in 1 row/);
  await submit(browser, path, 'import');
  assert.equal(value("SELECT full_name FROM members WHERE member_code = 'M-4'"), 'Person 4');
});

test('an import waits for an answer as long as few others do; then the file is checked again', async (context) => {
  const { databaseFile, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const paths: string[] = [];
  for (const n of [4, 5, 6, 7]) {
    const { path } = await give(browser, 'members.csv', members(member(n)));
    await submit(browser, path, 'check');
    paths.push(path);
  }
  const [first = '', second = ''] = paths;
  const letGo = (await settled(browser, first)).text;
  assert.match(letGo, /value="again"/);
  assert.doesNotMatch(letGo, /value="import"/);
  await submit(browser, second, 'import');
  await submit(browser, first, 'again');
  await submit(browser, first, 'import');
  assert.equal(
    value('SELECT group_concat(member_code) FROM (SELECT member_code FROM members WHERE id > 3 ORDER BY id)'),
    'M-5,M-4',
  );
});

test('what is chosen twice is said, and a wrong kind is chosen again', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path, page } = await give(browser, 'members.csv', members(member(4)));
  const twice = fill(page.text, 'check', { 'heading-2': 'identity_card' });
  const refused = await browser.post(path, twice);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Another heading is read as identity_card, too\./);
  // What was chosen stays chosen.
  assert.equal(fill(refused.text, 'check')['heading-2'], 'identity_card');
  assert.equal(fill((await browser.get(path)).text, 'check')['heading-2'], 'identity_card');
  const other = await submit(browser, path, 'kind', { kind: 'savings' });
  assert.match(other.text, /<option value="savings" selected>/);
});

test('a hostile file is shown as text, whatever is in it', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const script = '<script>alert(1)</script>';
  const rows = members(member(4)).trimEnd().split('\n');
  const content = [`${rows[0]},${script},"=cmd|' /C calc'!A0",اسم`, `${rows[1]},${script},=cmd(),محمد`].join(
    '\n',
  );
  const name = `../../${script}.csv`;
  const { path, page } = await give(browser, name, content);
  assert.doesNotMatch(page.text, /<script>/);
  assert.match(page.text, /&lt;script&gt;alert\(1\)/);
  assert.match(page.text, /محمد/);
  const checked = await submit(browser, path, 'check');
  for (const text of [checked.text, (await browser.get('/import')).text])
    assert.doesNotMatch(text, /<script>/);
  const wide = `${rows[0]},${Array.from({ length: 10_000 }, (_, i) => `Column ${i} x`).join()}\n${rows[1]}\n`;
  const shown = await give(browser, 'members.csv', wide);
  assert.ok(shown.page.text.length < 300_000, String(shown.page.text.length));
  assert.match(shown.page.text, /9,940 more columns are ignored/);
  const found = await submit(browser, shown.path, 'check');
  assert.ok(found.text.length < 60_000, String(found.text.length));
  const garbage = await give(browser, 'members.csv', Buffer.from([0, 1, 2, 3, 255]));
  assert.match(garbage.page.text, /class="refused"/);
});

test('a script sends a file as it is, with the token in a header; no other site can', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const { send, enter, port } = await testDesk(context, databaseFile);
  const { cookie, get } = await enter();
  const token = tokenOf((await get('/')).text);
  const headers = {
    ...{ ...OWN_FORM, host: `127.0.0.1:${port}`, cookie, 'content-type': 'application/octet-stream' },
    ...{ 'x-desk-token': token, 'x-file-name': encodeURIComponent('abanyamuryango é.csv') },
  };
  const body = members(member(4));
  const given = await send('POST', '/import', headers, body);
  assert.equal(given.status, 303);
  assert.match((await get('/import')).text, /abanyamuryango é\.csv/);
  for (const wrong of [
    { 'x-desk-token': 'guessed' },
    { 'sec-fetch-site': 'cross-site' },
    { 'x-file-name': '%' },
  ])
    assert.equal((await send('POST', '/import', { ...headers, ...wrong }, body)).status, 403);
  // Other screens take no file.
  assert.equal((await send('POST', '/', headers, body)).status, 403);
});

test('files are kept for this user alone, and go with the desk', async (context) => {
  const { databaseFile } = await startedPlace(context);
  // Of its own: other desks have their folders in that of the machine.
  const parent = temporaryFolder(context);
  const { TMPDIR: ours } = process.env;
  process.env.TMPDIR = parent;
  const ends: (() => unknown)[] = [];
  const browser = await openedDesk(
    { after: (end: () => unknown) => void ends.push(end) } as never,
    databaseFile,
  );
  await give(browser, 'cooperatives.csv', COOPERATIVES);
  if (ours === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = ours;
  const [folder = ''] = readdirSync(parent).filter((name) => name.startsWith('registry-desk-'));
  const path = join(parent, folder);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  for (const end of ends) await end();
  assert.ok(!existsSync(path));
});

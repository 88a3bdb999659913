/** Files given to the desk: all samples, more than wait at once, hostile ones. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from '../support/desk.ts';
import { type Fields, give, openedDesk, SAMPLES_MS, settled, submit } from '../support/desk-import.ts';
import { importPlace, member, members, startedPlace } from '../support/importing.ts';

const SAMPLES = fileURLToPath(new URL('../../data/samples/', import.meta.url));
const sample = (name: string) => readFileSync(join(SAMPLES, name));

/** @returns the page of the file when it is imported */
async function bringIn(browser: Browser, name: string, chosen: Fields, agreed: Fields = {}) {
  const { path, page } = await give(browser, name, sample(name));
  for (const field of Object.keys(chosen)) assert.ok(page.text.includes(`name="${field}"`), field);
  await submit(browser, path, 'check', chosen);
  const done = await submit(browser, path, 'import', agreed);
  assert.match(done.text, /The file is imported\./, `${name}: ${done.text}`);
  return done.text;
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
    /Deliveries<\/a>\s*<br><small>production-coffee-ledger\.csv<br>[^<]*<br><b>undone: /,
  );
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
  assert.match(shown.page.text, /9,940 more columns are ignored: “Column/);
  const found = await submit(browser, shown.path, 'check');
  assert.ok(found.text.length < 60_000, String(found.text.length));
  const garbage = await give(browser, 'members.csv', Buffer.from([0, 1, 2, 3, 255]));
  assert.match(garbage.page.text, /class="refused"/);
});

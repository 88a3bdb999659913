/** Files given to the desk: read by a chosen map, checked, imported and undone (docs/desk.md#import). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDate, KIGALI } from '../../src/values/date-time.ts';
import { OWN_FORM, testDesk, tokenOf } from '../support/desk.ts';
import { fill, give, openedDesk, SAMPLES_MS, settled, submit } from '../support/desk-import.ts';
import { member, members, nid, startedPlace } from '../support/importing.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

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
  assert.match(
    checked.text,
    /members\.csv line 3, column National ID: Expected a national ID of exactly 16.*>line 3: Bad Number</,
  );
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

test('what a user uploaded is shown to another user with a record of the access', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const ledger = memoryLedger();
  const desk = await testDesk(context, databaseFile, { ledger });
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  const browser = await desk.enter('First');
  const { path } = await give(browser, 'members.csv', members(member(4), 'A-1,123,M-5,Bad Number'));
  const another = await desk.enter('Second');
  await another.get(path);
  await submit(browser, path, 'check');
  await browser.get(`${path}/rejects`);
  await another.get(`${path}/rejects`);
  const reader = { user: 'Second' };
  assert.deepEqual(
    ledger.readings.map((access) => [access.reader, access.route]),
    [
      [reader, 'desk /import/:file'],
      [reader, 'desk /import/:file/rejects'],
    ],
  );
});

test('the day until which a file counts repayments is counted to its end, and today until now', async (context) => {
  const { databaseFile, value, load } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const header =
    'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,loan_start_date';
  const today = formatDate(SAMPLES_MS / 1000, KIGALI);
  for (const [reference, day] of [
    ['L-1', '2024-02-28'],
    ['L-2', today],
  ] as const) {
    const loan = `${header}\nA-1,M-1,${reference},1000,12,approved,400,2024-01-02\n`;
    const { path } = await give(browser, 'loans.csv', loan);
    await submit(browser, path, 'check', { 'constant-paid_until': day });
    const again = await browser.get(`${path}?choose=yes`);
    if (day !== today) assert.match(again.text, /name="constant-paid_until"[^>]*value="2024-02-28"/);
    await submit(browser, path, 'import');
  }
  const end = 'SELECT paid_until FROM loans WHERE reference =';
  assert.equal(value(`${end} 'L-1'`), Date.parse('2024-02-28T23:59:59+02:00') / 1000);
  const untilNow = Number(value(`${end} 'L-2'`)) - SAMPLES_MS / 1000;
  assert.ok(untilNow >= 0 && untilNow < 3600, `${untilNow}`);
  const payments = 'cooperative_code,loan_reference,reference,amount,method,paid_at\nA-1,L-1,P-1,400,cash,';
  const counted = await load('payments', `${payments}2024-02-28T10:00:00\n`);
  assert.match(counted.err, /paid_at/);
  assert.equal(counted.status, 1);
  assert.equal((await load('payments', `${payments}2024-02-29\n`)).status, 0);
});

test('totals that could not be compared are said, by the name of the column', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows = ['cooperative_code,member_code,delivered_at,kg', 'A-1,M-1,2025-01-01,ten', 'Total,,,30'];
  const { path } = await give(browser, 'production.csv', rows.join('\n'));
  const checked = await submit(browser, path, 'check');
  assert.match(
    checked.text,
    /<h2>Warnings<.*The totals of column Kilograms were not compared: 1 cell of the column /s,
  );
});

test('earlier imports are on pages of their own', async (context) => {
  const { databaseFile, load } = await startedPlace(context);
  for (let n = 0; n < 24; n++)
    assert.equal((await load('members', members(member(n % 2 ? 3 : 4)))).status, 0);
  const browser = await openedDesk(context, databaseFile);
  const first = await browser.get('/import');
  assert.equal(first.status, 200);
  const [, address = ''] = /<a href="(\/import\?before=\d+)">Earlier/.exec(first.text) ?? [];
  assert.match((await browser.get(address)).text, /<a href="\/imports\/1">/);
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
  await submit(browser, path, 'import', { agreed: 'yes' });
  assert.equal(value('SELECT count(*) FROM production_entries'), 1);
});

test('columns that have no place are named beside the button that imports the file', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const content = `cooperative_code,identity_card,member_code,full_name,Land (ha)\n${member(4)},1.5\n`;
  const { path } = await give(browser, 'members.csv', content);
  const checked = await submit(browser, path, 'check');
  assert.match(
    checked.text,
    /<h2>Columns without a place in the registry<\/h2><ul><li>[a-z ]+: &quot;Land \(ha\)&quot;<\/li>/,
  );
  assert.match(checked.text, /value="import"/);
});

test('what is wrong is said by the names of columns and words, without options, beside the person', async (context) => {
  const { databaseFile, load } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const header = 'cooperative_code,identity_card,member_code,full_name,gender,date_of_birth\n';
  const bad = `A-1,${nid(4)},M-4,Keza Marie,Widowed,1990-02-31\n`;
  const wrong = await give(browser, 'members.csv', header + bad);
  const refused = await submit(browser, wrong.path, 'check');
  assert.match(refused.text, /&quot;Widowed&quot; is not a valid choice\. Known: man, woman, other\./);
  assert.match(refused.text, /column Date of birth: This is not a day, such as 31\/03\/2024\./);
  assert.match(refused.text, /<small>line 2: Keza Marie<\/small>/);
  const changed = `A-1,${nid(1)},M-1,Person 1,F,1985-03-31\n`;
  assert.equal((await load('members', header + changed)).status, 0);
  const other = await give(browser, 'members.csv', header + changed.replace(',F,1985', ',M,1984'));
  const shown = await submit(browser, other.path, 'check');
  assert.match(shown.text, /<li>Gender changes in 1 row: M-1 woman → man<\/li>/);
  assert.match(shown.text, /<li>Date of birth changes in 1 row: M-1 31 Mar 1985 → 31 Mar 1984<\/li>/);
  for (const { text } of [refused, shown])
    assert.doesNotMatch(text, / --|FEMALE|date_of_birth|\d{4}-\d\d-\d\d/);
});

test('what dates and amounts leave open is asked, and said in the words of the page', async (context) => {
  const { databaseFile, query } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows = [
    'cooperative_code,member_code,reference,interest_rate,amount,loan_start_date',
    'A-1,M-1,L-1,18,100.000 Frw,26/06/13',
    'A-1,M-1,L-2,18,Frw 250,26/06/14',
  ];
  const { path, page } = await give(browser, 'loans.csv', `${rows.join('\n')}\n`);
  assert.match(page.text, /How are dates written\?[\s\S]*<option value="ymd"[\s\S]*<select name="decimal"/);
  const refused = (await submit(browser, path, 'check')).text;
  assert.match(refused, /of 26\/06\/13 is the day, .* or choose how dates are written\./);
  assert.match(refused, /the point separates thousands or decimals\. Choose a comma or a point, or /);
  assert.doesNotMatch(refused, /in a map/);
  const checked = await submit(browser, path, 'check', { dates: 'ymd', decimal: ',' });
  assert.match(checked.text, /year of two digits in column .*: lines 2, 3/);
  await submit(browser, path, 'import');
  assert.deepEqual(query('SELECT amount_minor AS amount, loan_start_date AS start FROM loans ORDER BY id'), [
    { amount: 10_000_000, start: Date.UTC(2026, 5, 12, 22) / 1000 },
    { amount: 25_000, start: Date.UTC(2026, 5, 13, 22) / 1000 },
  ]);
});

test('what the file has no column of is given once for all rows', async (context) => {
  const { databaseFile, query } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const content = 'cooperative_code,member_code,kg\nA-1,M-1,12\nA-1,M-2,8\n';
  const { path, page } = await give(browser, 'production.csv', content);
  assert.match(page.text, /No column is read as: Delivered on\. Choose it beside its column, or/);
  assert.match(page.text, /<details open>\s*<summary>The same value in every row/);
  const offered = [...page.text.matchAll(/name="constant-(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(offered, ['delivered_at', 'product']);
  const wrong = fill(page.text, 'check', { 'constant-delivered_at': '2999-01-01' });
  const refused = await browser.post(path, wrong);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /<li>Delivered on: /);
  const given = { 'constant-delivered_at': '2025-03-05', 'constant-product': 'Coffee cherries' };
  const checked = await submit(browser, path, 'check', given);
  assert.match(checked.text, /value="import"/);
  await submit(browser, path, 'import');
  const stored = query(
    "SELECT product, date(delivered_at, 'unixepoch', '+2 hours') AS day FROM production_entries",
  );
  assert.deepEqual(stored, Array(2).fill({ product: 'Coffee cherries', day: '2025-03-05' }));
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
  assert.match((await settled(browser, path)).text, /The data has changed in the meantime/);
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

test('an undo agrees to the plan that was shown, and to no other', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  assert.equal((await load('members', members(member(4)))).status, 0);
  const desk = await testDesk(context, databaseFile);
  const browser = await desk.enter();
  const page = '/imports/3';
  const earlier = fill((await submit(browser, page, 'plan')).text, 'undo');
  const stranger = await desk.enter('O. O. (tester)');
  const theirs = fill((await submit(stranger, page, 'plan')).text, 'undo');
  assert.notEqual(earlier.plan, theirs.plan);
  for (const given of [earlier, theirs, { action: 'undo' }]) {
    assert.equal((await browser.post(page, { ...given, token: earlier.token ?? '' })).status, 303);
    assert.match((await settled(browser, page)).text, /The data has changed in the meantime/);
  }
  assert.equal(value('SELECT count(*) FROM members'), 4);
  // The row is changed after it was shown.
  assert.equal((await load('members', members(member(4).replace('Person', 'Somebody')))).status, 0);
  await stranger.post(page, theirs);
  assert.match((await settled(stranger, page)).text, /Nothing was undone: other rows build on import 3/);
  assert.equal(value('SELECT count(*) FROM members'), 4);
});

test('what is chosen twice is said, and a wrong kind is chosen again', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path, page } = await give(browser, 'members.csv', members(member(4)));
  const twice = fill(page.text, 'check', { 'heading-2': 'identity_card' });
  const refused = await browser.post(path, twice);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Two columns are read as National ID: choose something else for one of them\./);
  // What was chosen stays chosen.
  assert.equal(fill(refused.text, 'check')['heading-2'], 'identity_card');
  assert.equal(fill((await browser.get(path)).text, 'check')['heading-2'], 'identity_card');
  const other = await submit(browser, path, 'kind', { kind: 'savings' });
  assert.match(other.text, /<option value="savings" selected>/);
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

/** Questions about a file at the desk, and the words in which it is shown (docs/desk.md#import). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDate, KIGALI } from '../../src/values/date-time.ts';
import { fill, give, openedDesk, SAMPLES_MS, settled, submit } from '../support/desk-import.ts';
import { member, members, nid, startedPlace } from '../support/importing.ts';

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

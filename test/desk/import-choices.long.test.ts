/** Choices about a file at the desk: sheet, hidden rows, rounding, language (docs/desk.md#import). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDesk } from '../support/desk.ts';
import { fieldsOf, give, openedDesk, SAMPLES_MS, settled, submit } from '../support/desk-import.ts';
import { LOANS_HEADER, nid, startedPlace } from '../support/importing.ts';
import { type MadeCell, WORKBOOKS } from '../support/sheet.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

test('amounts and days in sentences are written as the language of the page does', async (context) => {
  const { databaseFile, load } = await startedPlace(context);
  const header = 'cooperative_code,member_code,delivered_at,kg\n';
  assert.equal((await load('production', `${header}A-1,M-1,2025-01-02,12345.5\n`)).status, 0);
  const loan = 'A-1,M-1,L-1,400000,18,approved,1000,2025-01-01,,2025-01-01,2025-02-01T10:00:00+02:00';
  assert.equal((await load('loans', `${LOANS_HEADER},paid_until\n${loan}\n`)).status, 0);
  const browser = await openedDesk(context, databaseFile, 'fr');
  // French groups digits by a narrow space.
  const plain = (text: string) => text.replace(/[\u202f\u00a0]/g, ' ');
  const rows = `${header}A-1,M-1,2025-01-02,33002.4\nTotal,,,12345.6\n`;
  const { path } = await give(browser, 'production.csv', rows);
  const shown = plain((await submit(browser, path, 'check')).text);
  assert.match(shown, /indique 12 345,6 dans la colonne .*, et ses lignes font 33 002,4\./);
  assert.match(shown, /ligne 2 : 33 002,4 kg au lieu de 12 345,5 le 2 janv\. 2025/);
  const again = plain((await submit(browser, path, 'check', { replaces: '3' })).text);
  assert.match(again, /\(M-1 12 345,5 2 janv\. 2025\)|\(M-1 2 janv\. 2025 12 345,5\)/);
  const paid =
    'cooperative_code,loan_reference,reference,amount,method,paid_at\nA-1,L-1,P-1,5,cash,2025-01-05\n';
  const payments = await give(browser, 'payments.csv', paid);
  const refused = (await submit(browser, payments.path, 'check')).text;
  assert.match(refused, /solde d&#39;ouverture de ce prêt, qui va jusqu&#39;au 1 févr\. 2025, 10:00\./);
});

test('another sheet of a workbook is chosen', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows = (first: string, n: number) =>
    rowsOf(['cooperative_code', first, 'full_name'], ['A-1', nid(n), `Person ${n}`]);
  const named = [
    { name: '2026', rows: rows('identity_card', 4) },
    { name: 'Old', rows: rows('Xyz', 5) },
    { name: 'Notes', rows: rowsOf(['Nothing to import']) },
  ];
  const { path, page } = await give(browser, 'members.xlsx', workbookOf({ sheets: named }));
  assert.match(page.text, /<option value="2026" selected>2026<\/option><option value="Old">/);
  const other = await submit(browser, path, 'kind', { sheet: 'Old' });
  assert.match(other.text, /<option value="Old" selected>.*Person 5/s);
  const wrong = await submit(browser, path, 'kind', { sheet: 'Notes' });
  assert.match(wrong.text, /<option value="Old">/);
  const several = [named[0], { ...named[0], name: '2025' }] as typeof named;
  const open = await give(browser, 'members.xlsx', workbookOf({ sheets: several }));
  assert.match(open.page.text, /Several sheets of the workbook may be meant: choose one\./);
  assert.match(open.page.text, /<option value="2026">2026<\/option><option value="2025">/);
  assert.doesNotMatch(open.page.text, /--/);
  const chosen = await submit(browser, open.path, 'kind', { kind: 'members', sheet: '2025' });
  assert.match(chosen.text, /<option value="2025" selected>/);
});

test('hidden rows of a workbook are left out only if their box is ticked', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows: MadeCell[][] = [
    ['cooperative_code', 'identity_card', 'member_code', 'full_name'],
    ['A-1', nid(4), 'M-4', 'Person 4'],
    ['A-1', nid(5), 'M-5', 'Person 5'],
  ];
  const file = WORKBOOKS.Excel({ rows, hiddenRows: [3] });
  for (const [choice, isRead] of [
    [{}, true],
    [{ skip_hidden: 'yes' }, false],
  ] as const) {
    const { path } = await give(browser, 'members.xlsx', file);
    const { text } = await submit(browser, path, 'check', choice);
    assert.equal(text.includes('Person 5'), isRead, text);
    assert.match(text, isRead ? /1 hidden row, read like the others/ : /1 hidden row, left out/);
  }
});

test('a column whose numbers were refused for their decimals is rounded if a user says so', async (context) => {
  const { databaseFile, query, value } = await startedPlace(context);
  const desk = await testDesk(context, databaseFile);
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  const [browser, french, kinyarwanda] = [
    await desk.enter(),
    await desk.enter('F', 'fr'),
    await desk.enter('K', 'rw'),
  ];
  const header = ['cooperative_code', 'member_code', 'reference', 'amount', 'interest_rate'];
  const loan = (n: number, ...cells: MadeCell[]): MadeCell[] => ['A-1', 'M-1', `L-${n}`, ...cells];
  const rows = [
    header,
    loan(1, { number: 1186.6071672, decimals: 0 }, 12.5),
    loan(2, 5000, 18.7512),
    loan(3, 6000, 0.195),
  ];
  const { path, page } = await give(browser, 'loans.xlsx', WORKBOOKS.Excel({ rows }));
  assert.doesNotMatch(page.text, /name="round-/);
  const refused = await submit(browser, path, 'check');
  assert.match(
    refused.text,
    /shows 1187 and holds 1186\.6071672, .* in the spreadsheet, or have the column rounded\./,
  );
  assert.doesNotMatch(refused.text, /in a map|let a map/);
  for (const [{ get }, words] of [
    [french, 'Arrondir la colonne Montant à 2 décimales'],
    [kinyarwanda, 'Cira inkingi Amafaranga ku mibare 2 nyuma y’akadomo'],
  ] as const)
    assert.ok((await get(path)).text.includes(`<button>${words}</button>`), words);
  // Only columns with such numbers, each with its button.
  const buttons = [...refused.text.matchAll(/name="(round-\w+)" value="yes">\s*<button>([^<]*)</g)];
  assert.deepEqual(
    buttons.map(([, field, label]) => [field, label]),
    [
      ['round-amount', 'Round the column Amount to 2 decimals'],
      ['round-interest_rate', 'Round the column Interest a year to 2 decimals'],
    ],
  );
  const [amount, rate] = refused.text.split('<form').filter((form) => form.includes('value="round"'));
  const round = async (form = '') => {
    await browser.post(path, fieldsOf(form));
    return settled(browser, path);
  };
  const amountRounded = await round(amount);
  assert.match(amountRounded.text, /rounded in column Amount: line 2</);
  assert.doesNotMatch(amountRounded.text, /name="round-amount"/);
  // A form of the earlier check rounds nothing.
  assert.match((await round(rate)).text, /The data has changed in the meantime/);
  const bothRounded = await submit(browser, path, 'round');
  assert.match(bothRounded.text, /rounded in column Interest a year: line 3</);
  // A rate that may be a share is still asked about.
  assert.match(bothRounded.text, /It is unclear whether 0\.195 means 19\.5 per cent or less/);
  const choices = await browser.get(`${path}?choose=yes`);
  assert.match(
    choices.text,
    /name="round-amount" value="yes" checked>\s*Round the column Amount to 2 decimals</,
  );
  const unticked = await submit(browser, path, 'check', { 'round-interest_rate': 'yes' });
  assert.match(unticked.text, /shows 1187 and holds 1186\.6071672/);
  assert.match(unticked.text, /rounded in column Interest a year: line 3</);
  await submit(browser, path, 'round');
  const good = await submit(browser, path, 'good');
  assert.match(good.text, /rounded in column Amount: line 2<.*rounded in column Interest a year: line 3</s);
  await submit(browser, path, 'import');
  assert.deepEqual(
    query('SELECT amount_minor AS amount, interest_rate_hundredths AS rate FROM loans ORDER BY reference'),
    [
      { amount: 118_661, rate: 1250 },
      { amount: 500_000, rate: 1875 },
    ],
  );
  assert.match(
    String(value('SELECT map FROM imported_files WHERE map IS NOT NULL')),
    /"rounded":\["amount","interest_rate"\]/,
  );
});

test('in a text file, too, a column is rounded where the mark before decimals is certain', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const rows = 'cooperative_code,member_code,delivered_at,kg\nA-1,M-1,2025-01-01,';
  const certain = await give(browser, 'production.csv', `${rows}1186.6071672\n`);
  assert.match((await submit(browser, certain.path, 'check')).text, /no more than 3 decimal places/);
  assert.match((await submit(browser, certain.path, 'round')).text, /value="import"/);
  const unclear = await give(browser, 'production.csv', `${rows}"1186,6071672"\n`);
  assert.doesNotMatch((await submit(browser, unclear.path, 'check')).text, /value="round"/);
});

test('a template is downloaded in the language of the page, and its example is never taken for data', async (context) => {
  const { databaseFile, value } = await startedPlace(context);
  const desk = await testDesk(context, databaseFile);
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  const browser = await desk.enter();
  const links = [...(await browser.get('/import')).text.matchAll(/href="(\/import\/template\/[a-z]+)"/g)];
  assert.equal(links.length, 6);
  const headers = { cookie: browser.cookie, 'accept-language': 'fr' };
  const file = await fetch(`http://127.0.0.1:${desk.port}${links[0]?.[1]}`, { headers });
  const content = Buffer.from(await file.arrayBuffer());
  const { path, page } = await give(browser, 'modele.xlsx', content);
  assert.match(page.text, /<option value="Colonnes">/);
  const checked = await submit(browser, path, 'check');
  assert.match(checked.text, /How the file was read.*<li>example of the template, left out: line 3</s);
  await submit(browser, path, 'import');
  assert.equal(value('SELECT count(*) FROM cooperatives'), 2);
});

/** Statistics and comparisons at the desk, and lists of members to talk to (docs/desk.md#pages). */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { command } from '../support/command.ts';
import { testDesk } from '../support/desk.ts';
import { importPlace, nid, preparedPlace } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

// The clock of the tests is in June 2025.
const start = preparedPlace(async (place) => {
  await place.load(
    'cooperatives',
    'code,name,district,province\nA-1,Abahuje,Huye,South\nB-2,Biringaniye,Gasabo,Kigali\n' +
      'C-3,Cyahafi,Huye,South\n',
  );
  const codes = ['A-1', 'B-2', 'C-3'];
  const rows = Array.from({ length: 60 }, (_, i) => `A-1,${nid(i + 1)},M-${i + 1},Person ${i + 1}`);
  const others = codes.slice(1).map((code, i) => `${code},${nid(90 + i)},M-1,Other ${i}`);
  await place.load(
    'members',
    `cooperative_code,identity_card,member_code,full_name\n${[...rows, ...others].join('\n')}\n`,
  );
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-1,P-1,2025-05-25,10.5\n' +
      'A-1,M-2,P-2,2024-05-25,7\nA-1,M-2,P-3,2024-11-25,100\nB-2,M-1,P-1,2025-01-02,3\n' +
      'C-3,M-1,P-1,2025-02-02,4\n',
  );
  await place.load(
    'loans',
    'cooperative_code,member_code,reference,amount,interest_rate,status,loan_start_date,loan_end_date\n' +
      'A-1,M-1,LATE,1000,18,approved,2024-01-01,2025-01-01\n' +
      'A-1,M-2,OPEN,2000,18,approved,2024-01-01,2026-01-01\n' +
      'A-1,M-3,PAID,3000,18,paid,2024-01-01,2025-01-01\n',
  );
});

/** The cells of the rows of a table, without what marks them up. */
const cellsOf = (page: string): string[][] =>
  [...page.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, '').trim()),
  );

test('statistics open with the country: totals, plots, and a table by district', async (context) => {
  const browser = await (await testDesk(context, (await start(context)).databaseFile)).enter();
  const { text } = await browser.get('/statistics');
  const totals = [...text.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  assert.deepEqual(totals.slice(0, 2), [
    ['Cooperatives', '3'],
    ['Active members', '62'],
  ]);
  assert.deepEqual(totals[5], ['Kilograms 2025, up to this month', '17.5 kg']);
  const headings = [...text.matchAll(/<(?:figcaption|h2[^>]*)>([^<]*)</g)].map(([, heading]) => heading);
  assert.deepEqual(headings.slice(0, 3), [
    'Members by year of joining',
    'Kilograms delivered by month and product, the last two years',
    headings[2],
  ]);
  assert.match(headings[2] ?? '', /^Loans: RWF.3,000 outstanding$/);
  assert.ok(headings.includes('By district'));
  const districts = (page: string) =>
    cellsOf(page.slice(page.indexOf('By district')))
      .filter((row) => row.length === 9)
      .map(([name]) => name);
  assert.deepEqual(districts(text), ['Gasabo', 'Huye']);
  assert.deepEqual(districts((await browser.get('/statistics?sort=members')).text), ['Huye', 'Gasabo']);
  // A comparison begins there, and without groups leads back there.
  assert.match(text, /href="\/compare\?by=district"[\s\S]*<form method="post" action="\/compare\?of="/);
  assert.equal((await browser.get('/compare?of=')).headers.location, '/statistics');
});

test('statistics of an empty registry lead to the import', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\n');
  const desk = await testDesk(context, place.databaseFile);
  const browser = await desk.enter();
  const { text } = await browser.get('/statistics');
  assert.deepEqual(desk.reported, []);
  assert.match(text, /The registry has no cooperatives yet\.\s*<a href="\/import"/);
  assert.doesNotMatch(text, /<figure|NaN/);
});

test('a code that no cooperative has is named', async (context) => {
  const place = await start(context);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const chosen = await browser.post('/compare', { action: 'choose', codes: 'A-1, zz-9' });
  const { text } = await browser.get(chosen.headers.location ?? '');
  assert.match(text, /There is no cooperative with the code ZZ-9\./);
  assert.match(text, /href="\/cooperative\/A-1"/);
});

test('cooperatives are compared: this year beside the same months of the year before', async (context) => {
  const browser = await (await testDesk(context, (await start(context)).databaseFile)).enter();
  const chosen = await browser.post('/compare', { action: 'choose', codes: 'b-2, A-1 NOBODY' });
  assert.equal(chosen.headers.location, '/compare?of=B-2.A-1');
  const { text } = await browser.get('/compare?of=B-2.A-1.NOBODY');
  const rows = cellsOf(text).filter((row) => row.length === 9);
  assert.deepEqual(
    rows.map(([name, , members]) => [name, members]),
    [
      ['Biringaniye (B-2)', '1'],
      ['Abahuje (A-1)', '60'],
    ],
  );
  // The delivery of November is after the month that the year has got to.
  assert.deepEqual(rows[1]?.slice(5, 7), ['7 kg', '10.5 kg']);
  assert.match(rows[1]?.[7] ?? '', /RWF.3,000/);
  assert.equal(
    (await browser.post('/compare', { action: 'choose', codes: '' })).headers.location,
    '/statistics',
  );
  // One is left out, another one added to those that stay.
  assert.match(text, /Biringaniye \(B-2\)\s*<a href="\/compare\?of=A-1\.NOBODY">Remove/);
  const added = await browser.post('/compare?of=A-1', { action: 'choose', codes: 'C-3' });
  assert.equal(added.headers.location, '/compare?of=A-1.C-3');
  const sorted = cellsOf((await browser.get('/compare?of=B-2.A-1&sort=members')).text);
  assert.equal(sorted.find((row) => row.length === 9)?.[0], 'Abahuje (A-1)');
});

test('what is typed gets into the address only where it is the code of a cooperative', async (context) => {
  const browser = await (await testDesk(context, (await start(context)).databaseFile)).enter();
  for (const typed of [nid(1), 'Mukamana', '✓', 'C-3&by=district', 'C-3.B-2', '<b>'])
    for (const [path, next] of [
      ['/compare?of=A-1', '/compare?of=A-1'],
      ['/compare?of=', '/statistics'],
    ] as const) {
      const { status, headers } = await browser.post(path, { action: 'choose', codes: typed });
      assert.deepEqual([status, headers.location], [303, next], typed);
      assert.match((await browser.get(next)).text, /There is no cooperative with the code /);
      assert.doesNotMatch((await browser.get(next)).text, /There is no cooperative with the code /);
    }
});

test('totals of another release are not shown, and the page says what to do', async (context) => {
  const { databaseFile } = await start(context);
  const desk = await testDesk(context, databaseFile);
  const browser = await desk.enter();
  const db = openFile(databaseFile);
  db.exec("UPDATE totals_zone SET version = '0'");
  db.close();
  for (const path of ['/statistics', '/compare?by=district', '/compare?of=A-1']) {
    const { status, text } = await browser.get(path);
    assert.equal(status, 503, path);
    // The command names this registry, which is not the one of the settings.
    const typed = `npm run -s registry -- summarize --db ${databaseFile}`;
    const sentence = 'The totals were stored by another release. On the server, run';
    assert.ok(text.includes(`${sentence} <code>${typed}</code>.`), text);
  }
  const french = await desk.enter('N.', 'fr');
  assert.match(
    (await french.get('/statistics')).text,
    /Les totaux ont été enregistrés par une autre version/,
  );
  const run = await command(['statistics'], { REGISTRY_DB: databaseFile });
  assert.equal(run.status, 2);
  assert.match(
    run.err,
    /^The totals were [^\n]+\. To refresh them, run npm run -s registry -- summarize( --db \S+)?\n$/,
  );
  assert.deepEqual(desk.reported, []);
});

test('the country is compared by district, and saved as a workbook', async (context) => {
  const place = await start(context);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const rows = cellsOf((await browser.get('/compare?by=district')).text).filter((row) => row.length === 9);
  assert.deepEqual(
    rows.map(([name, cooperatives, members]) => [name, cooperatives, members]),
    [
      ['Gasabo', '1', '1'],
      ['Huye', '2', '61'],
    ],
  );
  assert.deepEqual(rows[1]?.slice(5, 7), ['7 kg', '14.5 kg']);
  const saved = await browser.post('/compare?by=district', { action: 'export' });
  assert.equal(saved.status, 200);
  assert.match(String(saved.headers['content-disposition']), /compared-2025-06-15\.xlsx/);
  assert.ok(saved.text.startsWith('PK'));
});

test('names are in the same order wherever the machine is', async (context) => {
  const place = await start(context);
  await place.load('cooperatives', 'code,name,district\nD-4,Dukore,Zaza\nE-5,Ejo,Östra\n');
  // Of the languages of machines, Swedish has Ö after Z. Intl has no rules for Kinyarwanda.
  const code = `
    import { compareAll } from './src/statistics/compare.ts';
    import { listInOrder } from './src/desk/list.ts';
    import { openStatisticsOf } from './src/statistics/statistics-store.ts';
    import { KIGALI } from './src/values/date-time.ts';
    import { storageAt } from './test/support/storage.ts';
    const statistics = openStatisticsOf(storageAt('${place.databaseFile}'));
    const groups = compareAll(statistics, 'district', 1_750_000_000, KIGALI).map(({ name }) => name);
    const all = { rows: groups, count: groups.length };
    const page = { page: 1, pageSize: 50 };
    const listed = await listInOrder(() => all, page, { language: 'rw' }, (name) => name);
    console.log([...groups, ...listed.rows].join());
    statistics.close();`;
  const cwd = new URL('../../', import.meta.url);
  const env = { ...process.env, LC_ALL: 'sv_SE.UTF-8' };
  const out = execFileSync(process.execPath, { cwd, env, input: code });
  const names = ['Gasabo', 'Huye', 'Östra', 'Zaza'];
  assert.equal(String(out), `${[...names, ...names].join()}\n`);
});

test('members without a delivery this year are listed, page by page', async (context) => {
  const place = await start(context);
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const { text } = await browser.get('/cooperative/A-1/without-delivery');
  assert.match(text, /59 rows/);
  assert.doesNotMatch(text, />Person 1</);
  assert.match(text, />Person 2</);
  const second = await browser.get('/cooperative/A-1/without-delivery?page=2');
  assert.equal(cellsOf(second.text).filter((row) => row.length === 2).length, 9);
  assert.match((await browser.get('/cooperative/B-2/without-delivery')).text, /0 rows/);
});

test('loans that should have been paid back are listed with what is left, from the day after their last one', async (context) => {
  const place = await start(context);
  await place.load(
    'loans',
    'cooperative_code,member_code,reference,amount,interest_rate,status,loan_end_date\n' +
      'A-1,M-4,TODAY,1000,18,approved,2025-06-15\nA-1,M-5,YESTERDAY,1000,18,approved,2025-06-14T17:00\n',
  );
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const rows = cellsOf((await browser.get('/cooperative/A-1/late-loans')).text).filter(
    (row) => row.length === 6,
  );
  assert.deepEqual(
    rows.map((row) => row[2]),
    ['LATE', 'YESTERDAY'],
  );
  assert.match(rows[0]?.[5] ?? '', /RWF.1,000/);
});

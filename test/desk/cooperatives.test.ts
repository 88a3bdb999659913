/** Cooperatives at the desk: statistics as plots, lists of any page, files, and a merge. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { AccessRecord } from '../../src/access/access-ledger.ts';
import { MEMBER_FIELDS, type MemberField } from '../../src/registry/members.ts';
import { listFields } from '../../src/values/declared-fields.ts';
import { type Browser, testDesk } from '../support/desk.ts';
import { type ImportPlace, nid, preparedPlace } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

const MEMBERS = 60;

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje <b>\nB-2,Biringaniye\n');
  const members = Array.from({ length: MEMBERS }, (_, i) => [
    ...['A-1', nid(i + 1), `M-${i + 1}`, i === 6 ? 'Keza Aline' : `Mukamana ${'abcdefgh'[i % 8]}`],
    ...[i % 3 === 0 ? 'FEMALE' : 'MALE', i < 40 ? '2019-03-01' : '2022-03-01'],
  ]);
  const header = 'cooperative_code,identity_card,member_code,full_name,gender,registration_date';
  await place.load('members', `${[header, ...members].join('\n')}\n`);
  const kept = ['A-1,M-1,P-1,2025-05-25,coffee,1250.5', 'A-1,M-2,P-2,2025-05-26,maize,100'];
  await place.load(
    'production',
    `${['cooperative_code,member_code,reference,delivered_at,product,kg', ...kept].join('\n')}\n`,
  );
});

async function begin(
  context: TestContext,
  onRecord: (place: ImportPlace) => void = () => {},
): Promise<{ place: ImportPlace; browser: Browser; readings: AccessRecord[] }> {
  const place = await start(context);
  const readings: AccessRecord[] = [];
  const ledger = {
    record: (recorded: readonly AccessRecord[]) => {
      readings.push(...recorded);
      onRecord(place);
      return Promise.resolve(recorded.map(() => '1-0'));
    },
    isRecording: () => true,
    close: () => Promise.resolve(),
  };
  return {
    place,
    browser: await (await testDesk(context, place.databaseFile, { ledger })).enter(),
    readings,
  };
}

const textOf = (html: string): string => html.replace(/<[^>]*>/g, '').trim();
const expectedIn = (page: string): string => /name="expected" value="([^"]+)"/.exec(page)?.[1] ?? '';

test('the list of cooperatives is narrowed to a district of any name', async (context) => {
  const { place, browser } = await begin(context);
  const districts = ['Zone 2 (Huye)', 'St. Paul & Muhanga', 'Huye'];
  const rows = districts.map((district, i) => `C-${i},Cyizere ${i},${district}\n`);
  await place.load('cooperatives', `code,name,district\n${rows.join('')}`);
  for (const [i, district] of districts.entries()) {
    const { headers } = await browser.post('/cooperatives', { action: 'filter', text: '', district });
    const { text } = await browser.get(headers.location ?? '');
    const codes = [...text.matchAll(/class="hit" href="\/cooperative\/([^"]+)"/g)].map(([, code]) => code);
    assert.deepEqual(codes, [`C-${i}`], district);
  }
});

test('a cooperative is shown as plots with their figures, in the numbers of the language', async (context) => {
  const { browser, readings } = await begin(context);
  const { text } = await browser.get('/cooperative/A-1');
  assert.match(text, /<h1>Abahuje &lt;b&gt;<\/h1>/);
  for (const title of ['Members by year of joining', 'Active members by gender', 'Members by status'])
    assert.ok(text.includes(`<figcaption>${title}`), title);
  assert.match(text, /<title>2019: 40<\/title>[\s\S]*<title>2020: 0<\/title>[\s\S]*<title>2022: 20</);
  assert.match(text, /<title>May 2025: coffee 1,250\.5 kg, maize 100 kg<\/title>/);
  assert.match(text, />May 2025<\/td><td [^>]*>1,250\.5 kg<\/td><td [^>]*>100 kg</);
  const french = (await browser.get('/cooperative/A-1', { 'accept-language': 'fr' })).text;
  assert.match(french, /<figcaption>Membres par année d&#39;adhésion/);
  assert.match(french, /1\s250,5\skg/);
  assert.equal((await browser.get('/cooperative/C-3')).status, 404);
  // Statistics show nobody.
  assert.deepEqual(readings, []);
});

test('all cooperatives are listed, searched and filtered', async (context) => {
  const { browser } = await begin(context);
  const { text } = await browser.get('/cooperatives');
  assert.match(text, /href="\/cooperative\/A-1"[\s\S]*href="\/cooperative\/B-2"/);
  const found = await browser.post('/cooperatives', { action: 'filter', text: 'birin', status: 'active' });
  assert.equal(found.headers.location, '/cooperatives?search=1&status=active');
  const list = (await browser.get('/cooperatives?search=1&status=active')).text;
  assert.match(list, /href="\/cooperative\/B-2"/);
  assert.doesNotMatch(list, /href="\/cooperative\/A-1"/);
  assert.match((await browser.get('/cooperatives?status=dissolved')).text, /<p>0 cooperatives</);
});

test('members are found by name without it in the address, and on any page; who is shown is recorded', async (context) => {
  const { browser, readings } = await begin(context);
  const path = '/cooperative/A-1/members';
  const first = await browser.get(path);
  assert.match(first.text, /Page 1 of 2[\s\S]*href="\/cooperative\/A-1\/members\?page=2"/);
  assert.equal(readings.at(-1)?.subject.memberIds?.length, 50);
  assert.equal(readings.at(-1)?.route, 'desk /cooperative/:code/members');
  assert.match((await browser.get(`${path}?page=2`)).text, /M-60/);
  const sent = await browser.post(path, { action: 'filter', text: 'keza', status: '' });
  assert.equal(sent.headers.location, `${path}?search=1`);
  const found = await browser.get(`${path}?search=1`);
  assert.match(found.text, /<p>1 member</);
  assert.match(found.text, /<a class="hit" href="\/person\/\d+">Keza Aline</);
  assert.match(found.text, /value="keza"/);
  assert.doesNotMatch(found.text, /href="[^"]*\d{16}/);
  assert.match((await browser.get(`${path}?page=999&status=active`)).text, /Page 999 of 2/);
});

test('the list of members has the columns that the declaration of a field says, each filled', async (context) => {
  const { place, browser } = await begin(context);
  const listed = listFields<MemberField>(MEMBER_FIELDS).filter(({ isListedAtDesk }) => isListedAtDesk);
  const examples = {
    ...{
      cooperative_code: 'B-2',
      identity_card: nid(999),
      member_code: 'B-999',
      full_name: 'Iradukunda Eric',
    },
    ...{ mobile: '+250788000999', role: 'MEMBER', status: 'active', registration_date: '2021-04-05' },
  };
  await place.load('members', `${Object.keys(examples)}\n${Object.values(examples)}\n`);
  const { text } = await browser.get('/cooperative/B-2/members');
  const cells = (tag: string) =>
    [...text.matchAll(new RegExp(`<${tag}[ >].*?</${tag}>`, 'gs'))].map(([html]) => textOf(html));
  assert.deepEqual(
    cells('th'),
    listed.map(({ label }) => String(label)),
  );
  const shown = cells('td');
  assert.deepEqual(shown.length, listed.length);
  assert.ok(!shown.includes(''), shown.join(' | '));
});

test('rows are saved as files as the command writes them, and the reading is recorded first', async (context) => {
  const { place, browser, readings } = await begin(context);
  const ask = (kind: string, format: string) =>
    browser.post('/cooperative/A-1', { action: 'export', kind, format });
  const csv = await ask('members', 'csv');
  assert.equal(csv.headers['content-disposition'], 'attachment; filename="A-1-members.csv"');
  assert.equal(csv.text, (await place.command('export', 'members', '--cooperative', 'A-1')).out);
  const [reading] = readings;
  assert.deepEqual(reading?.subject.all?.cooperativeIds, [1]);
  assert.deepEqual(reading?.reader, { user: 'N. N. (tester)' });
  assert.equal((await ask('keys', 'csv')).status, 404);
  const workbook = await ask('members', 'xlsx');
  assert.match(workbook.text, /^PK/);
  const file = join(place.folder, 'members.xlsx');
  writeFileSync(file, workbook.bytes);
  const read = await place.run('members', file, '--dry-run');
  assert.equal(read.status, 0, read.err + read.out);
  assert.match((await place.command('import', 'map', file)).out, /"National ID"/);
});

test('once its rows are read, a file that is sent holds nothing of the registry', async (context) => {
  const busy: unknown[] = [];
  const { browser } = await begin(context, ({ databaseFile }) => {
    const db = openFile(databaseFile, { waitMs: 0 });
    db.run('UPDATE cooperatives SET updated_at = updated_at + 1');
    busy.push(db.raw.pragma('wal_checkpoint(TRUNCATE)'));
    db.close();
  });
  const sent = await browser.post('/cooperative/A-1', { action: 'export', kind: 'members', format: 'csv' });
  assert.match(sent.text, /Keza Aline/);
  assert.deepEqual(busy, [[{ busy: 0, log: 0, checkpointed: 0 }]]);
});

test('a cooperative is merged into another after its dry run', async (context) => {
  const { place, browser } = await begin(context);
  const wrong = await browser.post('/cooperative/A-1', { action: 'merge', into: 'b 2' });
  assert.equal(wrong.status, 422);
  const plan = await browser.post('/cooperative/A-1', { action: 'merge', into: 'b-2' });
  assert.match(plan.text, /This would be done:[\s\S]*60 members/);
  assert.equal(place.value("SELECT status FROM cooperatives WHERE code = 'A-1'"), 'active');
  const agreed = { action: 'merge', into: 'b-2', expected: expectedIn(plan.text), reason: 'One association' };
  const done = await browser.post('/cooperative/A-1', agreed);
  assert.equal(done.headers.location, '/cooperative/B-2');
  assert.equal(place.value("SELECT status FROM cooperatives WHERE code = 'A-1'"), 'dissolved');
});

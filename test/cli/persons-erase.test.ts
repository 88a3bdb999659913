/** `persons erase`: what says who somebody is goes, and what sums need stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeOfCode } from '../../src/registry/changes/event-types.ts';
import { startApp } from '../support/app.ts';
import {
  LOANS_HEADER,
  MEMBERS_HEADER,
  members,
  nid,
  preparedPlace,
  SAVINGS_HEADER,
} from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';

const WHY = ['--reason', 'Request of 12 June'];
const HEADER = `${MEMBERS_HEADER},first_name,last_name,gender,date_of_birth,mobile,role,status`;
/** Values of person 1 that are nobody else's, former ones included. */
const PERSONAL = [
  ...[nid(1), nid(7), 'Zimulinda', 'Abimana', 'imulinda', '788000111', '788000119', 'ZX-1', '1985-01-02'],
  Buffer.from('Zimulinda').toString('utf16le'),
];

const ROWS = [
  `A-1,${nid(1)},ZX-1,Zimulinda Abimana,Abimana,Zimulinda,female,1985-01-02,0788000111,PRESIDENT,active`,
  `B-2,${nid(1)},ZX-1,Zimulinda A.,,,,,0788000119,MEMBER,withdrawn`,
];
const FILE = `${HEADER}\n${ROWS.join('\n')}\n`;

/** Person 1 in two cooperatives, with entries and changed values; a few hundred others around. */
const start = preparedPlace(async (place) => {
  const load = async (kind: string, content: string, ...more: string[]) => {
    const { status, err } = await place.load(kind, content, ...more);
    assert.equal(status, 0, err);
  };
  await load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const other = (n: number) => `A-1,${nid(n)},M-${n},Person ${n},,,,,,MEMBER,active`;
  const others = Array.from({ length: 300 }, (_, i) => other(100 + i));
  await load(
    'members',
    `${HEADER}\n${[...others.slice(150), ...ROWS, ...others.slice(0, 150)].join('\n')}\n`,
  );
  await load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\n' +
      'A-1,ZX-1,P-1,2025-06-01,10\nA-1,M-100,P-2,2025-06-01,5\n',
  );
  await load('savings', `${SAVINGS_HEADER}\nA-1,ZX-1,S-1,T-1,contribution,123,2025-06-01\n`);
  await load('loans', `${LOANS_HEADER}\nA-1,ZX-1,L-1,1000,12,approved,250,2025-01-01,,2025-01-01\n`);
  await load('members', `${HEADER}\n${ROWS[0]?.replace('0788000111', '0788000118')}\n`);
  await load('members', `${HEADER}\n${ROWS[0]}\n`, '--overwrite-corrections');
  const replaced = await place.command(
    'nid',
    'replace',
    '--yes',
    nid(1),
    nid(7),
    '--reason',
    'Card was reissued',
  );
  assert.equal(replaced.status, 0, replaced.err);
  place.query(
    `INSERT INTO idempotent_responses
       (key_id, idempotency_key, request_hash, status, location, body, created_at)
     VALUES (1, 'k', 'h', 201, '/api/v1/members/1',
       '{"identity_card":"${nid(7)}","full_name":"Zimulinda"}', 1) RETURNING 1`,
  );
});

test('after persons erase no file of the registry has the number, the name or the phone any more', async (context) => {
  const place = await start(context);
  assert.equal(filesWith(place.folder, PERSONAL).length > 5, true);
  const done = await place.command('persons', 'erase', '--yes', nid(7), ...WHY);
  assert.equal(done.status, 0, done.err);
  assert.match(done.out, /It cannot be undone\.\n$/);
  assert.deepEqual(filesWith(place.folder, PERSONAL), []);
  for (const text of PERSONAL) assert.ok(!(done.out + done.err).includes(text));
  assert.equal((await place.command('check')).status, 0);
});

test('what sums need stays: entries, loans and their counts, without a person', async (context) => {
  const place = await start(context);
  const tables = ['production_entries', 'loans', 'savings_accounts', 'savings_transactions', 'loan_counts'];
  const before = tables.map((table) => place.query(`SELECT * FROM ${table}`));
  const dry = await place.command('persons', 'erase', '--yes', nid(1), ...WHY, '--dry-run');
  assert.match(
    dry.out,
    /^Nothing was changed\. .*\n(?: {2}member .*\n){2} {2}2 members erased\n {2}Note: Removed for good, /,
  );
  assert.match(dry.out, /It cannot be undone\.\n$/);
  assert.match(dry.out, /These stay without a person: 1 delivery, 1 loan, 1 savings transaction\./);
  assert.match(dry.out, /Loans that are not settled: 1\./);
  assert.ok(filesWith(place.folder, PERSONAL).length > 0);
  // A former number finds the person, too.
  const done = await place.command('persons', 'erase', '--yes', nid(1), ...WHY, '--json');
  assert.deepEqual([done.status, JSON.parse(done.out).final], [0, true]);
  assert.deepEqual(
    tables.map((table) => place.query(`SELECT * FROM ${table}`)),
    before,
  );
  const deleted = place.query<{ type: number; row_id: number }>(
    'SELECT type, row_id FROM events ORDER BY sequence DESC LIMIT 2',
  );
  assert.deepEqual(
    deleted.map(({ type }) => typeOfCode(type)),
    ['member.deleted', 'member.deleted'],
  );
});

test('an erased person is in no list, count or lookup; the id is 410, and a loan shows nobody', async (context) => {
  const place = await start(context);
  const [{ id }, { id: left }] = place.query<{ id: number }>(
    `SELECT id FROM members WHERE identity_card = '${nid(7)}' ORDER BY id`,
  ) as [{ id: number }, { id: number }];
  await place.command('persons', 'erase', '--yes', nid(7), ...WHY);
  const app = await startApp(context, { folder: place.folder });
  for (const each of [id, left])
    for (const path of [`/members/${each}`, `/members/${each}/deliveries`]) {
      const response = await app.send(path);
      assert.equal(response.status, 410, path);
      assert.deepEqual(response.json, { detail: 'Erased.' });
    }
  for (const number of [nid(1), nid(7)]) assert.equal((await app.send(`/members/${number}`)).status, 404);
  assert.equal((await app.send(`/members?identity_card=${nid(7)}`)).json.count, 0);
  assert.equal((await app.send('/members?mobile=0788000111')).json.count, 0);
  assert.equal((await app.send('/cooperatives/2/members')).json.count, 0);
  assert.equal((await app.send('/cooperatives/1')).json.members_count, 300);
  const seen = new Set<string>();
  for (let page = 1; page <= 31; page++) {
    const response = await app.send(`/members?page_size=10&page=${page}`);
    assert.equal(response.status, page === 31 ? 404 : 200);
    for (const row of response.json.results ?? []) seen.add(row.id);
    if (page < 31) assert.equal(response.json.count, 300);
  }
  assert.equal(seen.size, 300);
  assert.ok(!seen.has(String(id)) && !seen.has(String(left)));
  const loan = (await app.send('/loans/1')).json;
  assert.deepEqual(loan.member, { id: String(id), identity_card: null, full_name: '(erased)' });
  const body = { member_id: String(id), reference: 'L-9', amount: '5', interest_rate: '1' };
  assert.deepEqual((await app.send('/loans', { method: 'POST', body })).json.member_id, [
    `Invalid pk "${id}" - object does not exist.`,
  ]);
});

test('the same file does not bring an erased person back, unless --despite-erasure is given', async (context) => {
  const place = await start(context);
  await place.command('persons', 'erase', '--yes', nid(7), ...WHY);
  for (const number of [nid(1), nid(7)]) {
    const refused = await place.load('members', FILE.replaceAll(nid(1), number));
    assert.equal(refused.status, 1);
    assert.match(refused.err, /This person was erased\. --despite-erasure imports the row\./);
  }
  const entry = 'cooperative_code,identity_card,reference,delivered_at,kg\nA-1,';
  const delivery = await place.load('production', `${entry}${nid(7)},P-9,2025-06-01,1\n`);
  assert.match(delivery.err, /This person was erased\./);
  assert.equal((await place.load('members', members(`A-1,${nid(8)},M-8,Somebody Else`))).status, 0);
  assert.equal((await place.load('members', FILE, '--despite-erasure')).status, 0);
  // Who is registered again is no longer erased.
  assert.equal((await place.load('members', FILE)).status, 0);
  assert.equal((await place.command('check')).status, 0);
});

test('an erasure cannot be undone, nor what was imported before it; nobody is erased twice', async (context) => {
  const place = await start(context);
  const imported = place.value("SELECT id FROM operations WHERE kind = 'members' ORDER BY id LIMIT 1");
  await place.command('persons', 'erase', '--yes', nid(7), ...WHY);
  const erasure = place.value('SELECT max(id) FROM operations');
  const undo = await place.command('imports', 'undo', '--yes', String(erasure));
  assert.deepEqual([undo.status, undo.err], [1, 'An erasure cannot be undone.\n']);
  const before = await place.command('imports', 'undo', '--yes', String(imported));
  assert.equal(before.status, 1);
  assert.equal((await place.command('imports', 'changes', String(erasure))).status, 0);
  const again = await place.command('persons', 'erase', '--yes', nid(7), ...WHY);
  assert.deepEqual([again.status, again.err], [1, 'This person was erased. Nothing was changed.\n']);
  const unknown = await place.command('persons', 'erase', '--yes', nid(9), ...WHY);
  assert.deepEqual(
    [unknown.status, unknown.err],
    [1, 'No person has this national ID. Nothing was changed.\n'],
  );
  assert.deepEqual(filesWith(place.folder, PERSONAL), []);
});

test('an erased person is not merged, moved or given back a number', async (context) => {
  const place = await start(context);
  const ids = place.query<{ id: number }>(
    `SELECT id FROM members WHERE identity_card = '${nid(7)}' OR id > 300 ORDER BY id`,
  );
  await place.command('persons', 'erase', '--yes', nid(7), ...WHY);
  const erased = String(ids[0]?.id);
  for (const args of [
    ['members', 'merge', '--yes', erased, '200'],
    ['members', 'merge', '--yes', '200', erased],
    ['members', 'move', '--yes', erased, '--to', 'B-2'],
  ]) {
    const refused = await place.command(...args, ...WHY);
    assert.equal(refused.status, 1, args.join(' '));
    assert.match(refused.err, new RegExp(`Member ${erased} was erased\\.`));
  }
  const refused = await place.command('nid', 'replace', '--yes', nid(200), nid(7), ...WHY);
  assert.match(refused.err, /The new national ID is that of a person who was erased\./);
  assert.equal(refused.status, 1);
});

test('a registration that was merged into the person is erased too, and its number does not come back', async (context) => {
  const place = await start(context);
  await place.load('members', members(`A-1,${nid(5)},ZY-5,Zimulindaa Twice`));
  const [from, into] = ['ZY-5', 'ZX-1'].map((code) =>
    String(place.value(`SELECT id FROM members WHERE cooperative_id = 1 AND member_code = '${code}'`)),
  ) as [string, string];
  const merged = await place.command('members', 'merge', '--yes', from, into, '--reason', 'Registered twice');
  assert.equal(merged.status, 0, merged.err);
  assert.equal((await place.command('persons', 'erase', '--yes', nid(7), ...WHY)).status, 0);
  assert.deepEqual(filesWith(place.folder, [...PERSONAL, nid(5), 'ZY-5']), []);
  const again = await place.load('members', members(`A-1,${nid(5)},ZY-5,Zimulindaa Twice`));
  assert.match(again.err, /This person was erased\./);
  assert.equal((await place.command('check')).status, 0);
});

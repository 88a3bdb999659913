/** `members transfer`, as an operator uses it, and the files that come afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ImportPlace,
  member,
  members,
  nid,
  preparedPlace,
  SAVINGS_HEADER,
} from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

const WHY = ['--reason', 'Has moved to another village'];
const ON = '2025-05-10';
const DELIVERIES = 'cooperative_code,member_code,reference,delivered_at,kg\n';

/** Persons 1 to 3 in A-1, the first with a delivery, a loan and savings; person 3 in B-2 too. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const header = 'cooperative_code,identity_card,member_code,full_name,gender,date_of_birth,mobile,role';
  const more = ',F,1980-01-01,0781234567,TREASURER,2020-01-01';
  const rows = [
    `${member(1)}${more}`,
    `${member(2)}${more}`,
    `${member(3)}${more}`,
    `B-2,${nid(3)},7,Person 3${more}`,
  ];
  await place.load('members', `${header},registration_date\n${rows.join('\n')}\n`, '--yes');
  await place.load('production', `${DELIVERIES}A-1,M-1,P-1,2025-05-09,10\n`);
  await place.load(
    'loans',
    'cooperative_code,member_code,reference,amount,interest_rate,status\nA-1,M-1,L-1,100,5,approved\n',
  );
  await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,100,2025-05-01\n`);
});

const transfer = (place: ImportPlace, ...args: string[]) =>
  place.command('members', 'transfer', 'A-1/M-1', '--to', 'B-2', '--code', '8', '--on', ON, '--yes', ...args);

const dump = (place: ImportPlace) =>
  ['cooperatives', 'members', 'production_entries', 'loans', 'savings_accounts'].map((table) =>
    place.query(`SELECT * FROM ${table} ORDER BY id`).map(({ updated_at: _, ...row }) => row),
  );

test('members transfer ends a membership, which keeps its entries, and begins one of the same person', async (context) => {
  const place = await start(context);
  const before = dump(place);
  const shown =
    '  member 1: A-1 M-1, Person 1 (ends)\n  member 5: B-2 8, Person 1 (begins)\n' +
    '  1 member created\n  1 member changed\n';
  const dry = await transfer(place, ...WHY, '--dry-run');
  assert.equal(dry.out, `Nothing was changed. Without --dry-run:\n${shown}`);
  assert.deepEqual(dump(place), before);
  const done = await transfer(place, ...WHY);
  assert.equal(done.status, 0, done.err);
  assert.ok(done.out.endsWith(`:\n${shown}To undo it: npm run -s registry -- imports undo 6\n`), done.out);
  const [old, begun] = place.query('SELECT * FROM members WHERE id IN (1, 5) ORDER BY id');
  assert.deepEqual(old, { ...(before[1]?.[0] as object), status: 'withdrawn', updated_at: old?.updated_at });
  assert.deepEqual(begun, {
    ...{ ...old, id: 5, cooperative_id: 2, member_code: '8', status: 'active', role: 'MEMBER' },
    registration_date: Date.parse(`${ON}T00:00:00+02:00`) / 1000,
    created_at: begun?.created_at,
    ...{ updated_at: begun?.created_at, production: null, loans: null, savings: null },
  });
  const after = dump(place);
  assert.deepEqual([after[2], after[3], after[4]], [before[2], before[3], before[4]]);
  const history = await place.command('history', 'member', 'B-2/8', '--json');
  assert.equal(JSON.parse(history.out).history[0].actor, 'correction:6');
  assert.match(
    (await place.command('history', 'member', 'A-1/M-1')).out,
    /status +active +withdrawn +correction 6/,
  );
  assert.equal((await place.command('check')).status, 0);
  const undone = await place.command('imports', 'undo', '6', '--yes');
  assert.match(
    undone.out,
    /^Correction 6 is undone: 1 added row removed, 1 changed or removed row put back \(/,
  );
  assert.deepEqual(dump(place), before);
  assert.equal((await place.command('check')).status, 0);
  // Its id is not used again.
  assert.match((await transfer(place, ...WHY)).out, /member 6: B-2 8, Person 1 \(begins\)/);
});

test('all that belongs to the person goes along, every column that a later schema adds included', async (context) => {
  const place = await start(context);
  // What only begins with the new membership; the rest is the person's.
  const ofRow = ['id', 'created_at', 'updated_at', 'production', 'loans', 'savings'];
  const others = [...ofRow, 'cooperative_id', 'member_code', 'role', 'status', 'registration_date'];
  const before = place.query('SELECT * FROM members WHERE id = 1')[0] ?? {};
  const personal = Object.keys(before).filter((column) => !others.includes(column));
  const empty = personal.filter((column) => before[column] === null);
  const db = openFile(place.databaseFile);
  db.exec(`UPDATE members SET ${empty.map((column) => `${column} = '${column}'`).join(', ')} WHERE id = 1`);
  db.close();
  assert.equal((await transfer(place, ...WHY)).status, 0);
  const [old, begun] = place.query(`SELECT ${personal} FROM members WHERE id IN (1, 5) ORDER BY id`);
  assert.ok(!Object.values(old ?? {}).includes(null));
  assert.deepEqual(begun, old);
});

test('what cannot be a transfer is refused, and nothing is done', async (context) => {
  const place = await start(context);
  await place.load(
    'members',
    members(`A-1,${nid(4)},M-4,Person 4`)
      .replace('name\n', 'name,status\n')
      .replace(/4\n$/, '4,withdrawn\n'),
  );
  const before = dump(place);
  const run = (name: string, to: string, code: string, on: string) =>
    place.command('members', 'transfer', name, '--to', to, '--code', code, '--on', on, '--yes', ...WHY);
  for (const [args, status, message] of [
    [['1', 'B-2', '8', '2099-01-01'], 2, /--on: This date is in the future/],
    [['1', 'B-2', '8', '10/05/2025'], 2, /--on: Date has wrong format/],
    [['1', 'B-2', ' ', ON], 2, /--code/],
    [
      ['1', 'B-2', '8', '2019-12-31'],
      1,
      /before the registration of A-1\/M-1, on 2020-01-01\. .*import the members/,
    ],
    [['1', 'B-2', '7', ON], 1, /Another member of B-2 has this code\./],
    [['3', 'B-2', '8', ON], 1, /The person is member 4 of B-2 already: change the status of both instead\./],
    [['A-1/M-4', 'B-2', '8', ON], 1, /The membership of member 5 has ended already: withdrawn\./],
    [['1', 'A-1', '8', ON], 1, /Member 1 belongs to A-1 already\./],
    [['1', 'Z-9', '8', ON], 1, /There is no cooperative Z-9\./],
    [['99', 'B-2', '8', ON], 1, /There is no member 99\./],
  ] as const) {
    const refused = await run(...(args as readonly [string, string, string, string]));
    assert.equal(refused.status, status, args.join(' '));
    assert.match(refused.err, message);
    assert.doesNotMatch(refused.err, /[0-9]{16}/);
  }
  assert.deepEqual(dump(place), before);
  // The day of the registration is not before it.
  assert.equal((await run('1', 'B-2', '8', '2020-01-01')).status, 0);
});

test('a note counts what is dated after the change', async (context) => {
  const place = await start(context);
  await place.load('production', `${DELIVERIES}A-1,M-1,P-2,2025-05-10T23:59,1\nA-1,M-1,P-3,2025-05-11,1\n`);
  const dry = await transfer(place, ...WHY, '--dry-run');
  assert.match(dry.out, /Note: Dated after the change: 1 delivery\.\n/);
});

test('afterwards files of the old cooperative find the member up to the day, and later entries are refused', async (context) => {
  const place = await start(context);
  await place.load('production', `${DELIVERIES}A-1,M-1,P-0,2025-05-20,10\n`);
  await transfer(place, ...WHY);
  const fault = /The member changed to B-2 on 2025-05-10: what came after that day belongs there\./;
  const load = async (kind: string, text: string) => {
    const { status, err, out } = await place.load(kind, text, '--dry-run');
    return status === 0 ? 'in' : fault.test(err + out) ? 'fault' : err + out;
  };
  const delivery = (day: string, name = 'M-1') =>
    load('production', `${DELIVERIES}A-1,${name},P-9,${day},5\n`);
  assert.equal(await delivery('2025-05-09'), 'in');
  assert.equal(await delivery('2025-05-10T23:59:59'), 'in');
  assert.equal(await delivery('2025-05-11'), 'fault');
  assert.equal(await delivery('2025-05-11', 'M-2'), 'in');
  const byNumber = DELIVERIES.replace('member_code', 'identity_card');
  assert.equal(await load('production', `${byNumber}A-1,${nid(1)},P-9,2025-05-11,5\n`), 'fault');
  assert.equal(await load('production', `${byNumber}B-2,${nid(1)},P-9,2025-05-11,5\n`), 'in');
  // What was there before stays, the same file is the same, and what is owed is paid.
  assert.equal(await load('production', `${DELIVERIES}A-1,M-1,P-0,2025-05-20,11\n`), 'in');
  const saved = (kind: string) =>
    load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-9,${kind},5,2025-05-12\n`);
  assert.deepEqual([await saved('contribution'), await saved('withdrawal')], ['fault', 'in']);
  const loan = (reference: string) =>
    load(
      'loans',
      'cooperative_code,member_code,reference,amount,interest_rate,loan_start_date\n' +
        `A-1,M-1,${reference},100,5,2025-05-12\n`,
    );
  assert.deepEqual([await loan('L-9'), await loan('L-1')], ['fault', 'in']);
  // Nor does the list of the old cooperative bring the member back.
  const list = await place.load(
    'members',
    `cooperative_code,identity_card,member_code,full_name,status\n${member(1)},active\n`,
  );
  assert.equal(list.status, 0, list.err);
  assert.equal(place.value('SELECT status FROM members WHERE id = 1'), 'withdrawn');
});

test('the fault follows what becomes of the membership', async (context) => {
  const place = await start(context);
  const isRefused = async (code: string, name: string) => {
    const text = `${DELIVERIES}${code},${name},P-9,2025-05-11,5\n`;
    return (await place.load('production', text, '--dry-run')).status === 1;
  };
  await transfer(place, ...WHY);
  assert.equal(await isRefused('A-1', 'M-1'), true);
  // Moved, and merged into another one that has ended.
  await place.load('cooperatives', 'code,name\nC-3,Cyizere\n');
  await place.command('members', 'move', 'A-1/M-1', '--to', 'C-3', '--yes', ...WHY);
  assert.equal(await isRefused('C-3', 'M-1'), true);
  await place.command('imports', 'undo', '8', '--yes');
  const header = 'cooperative_code,identity_card,member_code,full_name,status\n';
  await place.load('members', `${header}${member(2)},withdrawn\n`, '--yes');
  await place.command('members', 'merge', 'A-1/M-1', 'A-1/M-2', '--yes', ...WHY);
  assert.equal(await isRefused('A-1', 'M-1'), true);
  assert.equal((await place.command('imports', 'undo', '10', '--yes')).status, 0);
  // Who is back, and leaves once more, did not change to another cooperative.
  for (const status of ['active', 'withdrawn']) {
    const back = await place.load(
      'members',
      `${header}${member(1)},${status}\n`,
      '--yes',
      '--overwrite-corrections',
    );
    assert.equal(back.status, 0, back.err);
    assert.equal(await isRefused('A-1', 'M-1'), false, status);
  }
  for (const id of ['12', '11'])
    assert.equal((await place.command('imports', 'undo', id, '--yes')).status, 0, id);
  assert.equal(await isRefused('A-1', 'M-1'), true);
  assert.equal((await place.command('imports', 'undo', '6', '--yes')).status, 0);
  assert.equal(await isRefused('A-1', 'M-1'), false);
});

test('a transfer is not undone where something builds on it, and an erasure finds both memberships', async (context) => {
  const place = await start(context);
  await transfer(place, ...WHY);
  await place.load('production', `${DELIVERIES}B-2,8,P-7,2025-05-12,5\n`);
  const refused = await place.command('imports', 'undo', '6', '--yes');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /delivery P-7, from import 7, belongs to a row that the correction created/);
  await place.command('imports', 'undo', '7', '--yes');
  assert.equal((await place.command('persons', 'erase', nid(1), '--yes', ...WHY)).status, 0);
  assert.equal(place.value("SELECT count(*) FROM members WHERE status = 'erased'"), 2);
  assert.equal(place.value(`SELECT count(*) FROM members WHERE identity_card = '${nid(1)}'`), 0);
  assert.equal((await place.command('check')).status, 0);
  assert.match((await place.command('imports', 'undo', '6', '--yes')).err, /An erasure cannot be undone/);
});

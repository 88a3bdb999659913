/** `nid replace` and `nid release`, as an operator uses them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ImportPlace, members, nid, preparedPlace, SAVINGS_HEADER } from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';

const WHY = ['--reason', 'The card was read wrongly'];

/** Persons 1 and 2 in A-1, person 1 in B-2 too, with entries of each. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load(
    'members',
    members(
      `A-1,${nid(1)},M-1,Keza Aline`,
      `A-1,${nid(2)},M-2,Keza Aline`,
      `B-2,${nid(1)},M-1,Keza Aline`,
      `B-2,${nid(3)},M-3,Mugabo Jean`,
    ),
  );
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\n' +
      'A-1,M-1,P-1,2025-06-01,10\nA-1,M-2,P-2,2025-06-01,10\nB-2,M-1,P-1,2025-06-02,5\n',
  );
  await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,100,2025-06-01\n`);
});

const numbers = 'SELECT id, identity_card AS card FROM members ORDER BY id';

test('nid replace gives every membership the new number, keeps the reason, and is undone like an import', async (context) => {
  const place = await start(context);
  const before = place.query('SELECT * FROM members ORDER BY id');
  const done = await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  assert.equal(done.status, 0, done.err);
  assert.match(done.out, /^Correction 5 is done/);
  assert.deepEqual(place.query(numbers), [
    ...[{ id: 1, card: nid(9) }],
    ...[{ id: 2, card: nid(2) }],
    ...[{ id: 3, card: nid(9) }],
    ...[{ id: 4, card: nid(3) }],
  ]);
  const shown = await place.command('imports', 'show', '5');
  assert.match(shown.out, /reason +The card was read wrongly\nkind +nid_replace\n/);
  assert.doesNotMatch(done.out + shown.out, /[0-9]{16}/);
  const changes = await place.command('imports', 'changes', '5', '--json');
  assert.deepEqual(JSON.parse(changes.out).changes, [
    { line: null, row: 'M-1', column: 'identity_card', old: nid(1), new: nid(9) },
    { line: null, row: 'M-1', column: 'identity_card', old: nid(1), new: nid(9) },
  ]);
  const undone = await place.command('imports', 'undo', '--yes', '5');
  assert.equal(undone.status, 0, undone.err);
  assert.deepEqual(place.query('SELECT * FROM members ORDER BY id'), before);
  assert.equal((await place.command('check')).status, 0);
});

test('a dry run of nid replace changes nothing and reports what would be changed', async (context) => {
  const place = await start(context);
  const dump = () => [
    ...place.query('SELECT * FROM members'),
    ...place.query('SELECT * FROM changes'),
    ...place.query('SELECT * FROM operations'),
    ...place.query('SELECT * FROM events'),
    ...place.query('SELECT * FROM sqlite_sequence'),
    ...place.query('SELECT * FROM replaced_identity_cards'),
  ];
  const before = dump();
  const dry = await place.command(
    'nid',
    'replace',
    '--yes',
    nid(1),
    nid(2),
    '--same-person',
    ...WHY,
    '--dry-run',
    '--json',
  );
  const { lock_seconds: _, ...document } = JSON.parse(dry.out);
  const rows = {
    members: { created: 0, changed: 1, removed: 1 },
    production: { created: 0, changed: 1, removed: 0 },
    accounts: { created: 0, changed: 1, removed: 0 },
  };
  const member = (id: number, member_code: string, fate: string, cooperative_code = 'A-1') => ({
    ...{ id, cooperative_code, member_code, fate },
  });
  assert.deepEqual(document, {
    ...{ outcome: 'done', dry_run: true, correction_id: null, final: false, rows },
    members: [member(1, 'M-1', 'goes'), member(2, 'M-2', 'stays'), member(3, 'M-1', 'changes', 'B-2')],
    notes: [
      'The person has a membership under both numbers in 1 cooperative: they are merged.',
      '1 delivery is equal on both sides, with different references: recorded twice?',
    ],
    compared: { replaced: [1, 3], holding: [2], contradictions: [] },
  });
  assert.deepEqual(dump(), before);
  const real = await place.command(
    'nid',
    'replace',
    '--yes',
    nid(1),
    nid(2),
    '--same-person',
    ...WHY,
    '--json',
  );
  assert.deepEqual(JSON.parse(real.out).rows, rows);
  const recorded = await place.command('imports', 'show', '5', '--json');
  assert.deepEqual(JSON.parse(recorded.out).notes, document.notes);
  assert.match((await place.command('imports', 'show', '5')).out, /notes +The person has a membership under/);
});

test('memberships of both numbers in one cooperative are merged, and put back by the undo', async (context) => {
  const place = await start(context);
  const tables = ['members', 'production_entries', 'savings_accounts', 'savings_transactions'];
  const dump = () => tables.map((table) => place.query(`SELECT * FROM ${table} ORDER BY id`));
  const before = dump();
  const done = await place.command('nid', 'replace', '--yes', nid(1), nid(2), '--same-person', ...WHY);
  assert.equal(done.status, 0, done.err);
  assert.deepEqual(place.query(numbers), [
    ...[{ id: 2, card: nid(2) }],
    ...[{ id: 3, card: nid(2) }],
    ...[{ id: 4, card: nid(3) }],
  ]);
  assert.deepEqual(place.query('SELECT member_id FROM production_entries ORDER BY id'), [
    ...[{ member_id: 2 }],
    ...[{ member_id: 2 }],
    ...[{ member_id: 3 }],
  ]);
  assert.deepEqual(place.query('SELECT member_id FROM savings_accounts'), [{ member_id: 2 }]);
  assert.equal((await place.command('check')).status, 0);
  const undone = await place.command('imports', 'undo', '--yes', '5');
  assert.equal(undone.status, 0, undone.err);
  const withoutComputed = (rows: Record<string, unknown>[][]) =>
    rows.map((table) => table.map(({ updated_at: _, production: __, savings: ___, ...row }) => row));
  assert.deepEqual(withoutComputed(dump()), withoutComputed(before));
  assert.equal((await place.command('check')).status, 0);
});

test('each change of a correction is an event, and so is each change of its undo', async (context) => {
  const place = await start(context);
  const last = place.value('SELECT max(sequence) FROM events') ?? 0;
  await place.command('nid', 'replace', '--yes', nid(1), nid(2), '--same-person', ...WHY);
  await place.command('imports', 'undo', '--yes', '5');
  // Types: 3 created, 4 updated, 5 deleted, of members; actors: 4 * id + 3 a correction, + 2 an undo.
  // Fields: 2 identity_card, 4096 production_summary, 8192 savings_summary.
  assert.deepEqual(
    place.query(`SELECT type, row_id AS id, fields, actor FROM events WHERE sequence > ${last}`),
    [
      { type: 5, id: 1, fields: 0, actor: 23 },
      { type: 4, id: 2, fields: 4096 + 8192, actor: 23 },
      { type: 4, id: 3, fields: 2, actor: 23 },
      { type: 3, id: 1, fields: 0, actor: 22 },
      { type: 4, id: 2, fields: 4096 + 8192, actor: 22 },
      { type: 4, id: 3, fields: 2, actor: 22 },
    ],
  );
});

test('a correction is not undone where a later change builds on it', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await place.command('nid', 'replace', '--yes', nid(9), nid(8), ...WHY);
  const refused = await place.command('imports', 'undo', '--yes', '5');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /member M-1 was changed since, by correction 6/);
  assert.match(refused.err, /First undo correction 6/);
  assert.equal((await place.command('imports', 'undo', '--yes', '6')).status, 0);
  assert.equal((await place.command('imports', 'undo', '--yes', '5')).status, 0);
  assert.equal(place.value('SELECT count(*) FROM replaced_identity_cards'), 0);
});

test('an import is not undone while a correction of its rows stands', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(2), '--same-person', ...WHY);
  for (const id of ['2', '3', '4']) {
    const refused = await place.command('imports', 'undo', '--yes', id);
    assert.equal(refused.status, 1, `${id}: ${refused.out}`);
    assert.match(refused.err, /by correction 5/);
  }
  await place.command('imports', 'undo', '--yes', '5');
  for (const id of ['4', '3', '2'])
    assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
});

test('nid replace names what is wrong with its arguments without repeating a national ID', async (context) => {
  const place = await start(context);
  const mistyped = `${nid(1)}0`;
  const wrong = [
    [['nid', 'replace', '--yes', mistyped, nid(9), ...WHY], 2, /exactly 16 digits/],
    [['nid', 'replace', '--yes', nid(1), nid(9)], 2, /--reason/],
    [['nid', 'replace', '--yes', nid(1), nid(9), '--reason', ' '], 2, /empty/],
    [['nid', 'replace', '--yes', nid(1), nid(9), '--reason', `was ${nid(1)}`], 2, /without national IDs/],
    [['nid', 'replace', '--yes', nid(1), nid(9), '--reason', 'x'.repeat(501)], 2, /more than 500/],
    [['nid', 'replace', '--yes', nid(7), nid(9), ...WHY], 1, /No person has/],
    [['nid', 'replace', '--yes', nid(1), nid(1), ...WHY], 1, /the same/],
  ] as const;
  for (const [args, status, message] of wrong) {
    const result = await place.command(...args);
    assert.equal(result.status, status, args.join(' '));
    assert.match(result.err, message);
    assert.doesNotMatch(result.out + result.err, /[0-9]{16}/);
  }
});

test('a release is not undone once somebody else has the number', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await place.command('nid', 'release', '--yes', nid(1), ...WHY);
  await place.load('members', members(`B-2,${nid(1)},M-7,Ineza Rose`), '--yes');
  const refused = await place.command('imports', 'undo', '--yes', '6');
  assert.equal(refused.status, 1);
  assert.match(
    refused.err,
    /member M-7, from import 7, has a member code or national ID that would be put back/,
  );
  assert.equal((await place.command('imports', 'undo', '--yes', '5')).status, 1);
  for (const id of ['7', '6', '5'])
    assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
  assert.equal((await place.command('check')).status, 0);
});

test('a release is not undone once its person has another number', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await place.command('nid', 'release', '--yes', nid(1), ...WHY);
  await place.command('nid', 'replace', '--yes', nid(9), nid(8), ...WHY);
  const refused = await place.command('imports', 'undo', '--yes', '6');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /member M-1 was changed since, by correction 7/);
  for (const id of ['7', '6']) assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
  assert.equal((await place.command('check')).status, 0);
});

test('a number that was replaced twice and taken back finds its person at each step', async (context) => {
  const place = await start(context);
  const leads = () =>
    place.value(`SELECT group_concat(substr(old, 13, 1) || substr(new, 13, 1))
      FROM replaced_identity_cards WHERE ended_by IS NULL`);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await place.command('nid', 'replace', '--yes', nid(9), nid(8), ...WHY);
  assert.equal(leads(), '18,98');
  await place.command('nid', 'replace', '--yes', nid(8), nid(1), ...WHY);
  assert.equal(leads(), '81,91');
  await place.command('imports', 'undo', '--yes', '7');
  assert.equal(leads(), '18,98');
  await place.command('imports', 'undo', '--yes', '6');
  assert.equal(leads(), '19');
});

const currentOf = (place: ImportPlace, number: string) =>
  place.value(`SELECT new FROM replaced_identity_cards WHERE old = '${number}' AND ended_by IS NULL`);

test('a former number follows the person when its successor is given up, and never finds who gets that', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  const released = await place.command('nid', 'replace', '--yes', nid(9), nid(8), '--release', ...WHY);
  assert.equal(released.status, 0, released.err);
  assert.equal(currentOf(place, nid(1)), nid(8));
  const { status, err } = await place.load('members', members(`A-1,${nid(9)},M-9,Mukamana Rose`));
  assert.equal(status, 0, err);
  const found = await place.command('history', 'member', nid(1));
  assert.match(found.out, /^A-1 M-1 /);
  assert.doesNotMatch(found.out, /M-9/);
  const refused = await place.command('imports', 'undo', '--yes', '6');
  assert.match(
    refused.err,
    /member M-9, from import 7, has a member code or national ID that would be put back/,
  );
  assert.equal((await place.command('persons', 'erase', '--yes', nid(8), ...WHY)).status, 0);
  for (const number of [1, 8]) assert.deepEqual(filesWith(place.folder, [nid(number)]), []);
  assert.equal((await place.command('check')).status, 0);
});

test('going back to a former number of the person gives up the other one when it is released', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  assert.equal(
    (await place.command('nid', 'replace', '--yes', nid(9), nid(1), '--release', ...WHY)).status,
    0,
  );
  assert.deepEqual([currentOf(place, nid(1)), currentOf(place, nid(9))], [undefined, undefined]);
  const { status, err } = await place.load('members', members(`A-1,${nid(9)},M-9,Mukamana Rose`));
  assert.equal(status, 0, err);
  assert.deepEqual(place.query(`SELECT member_code AS code FROM members WHERE identity_card = '${nid(9)}'`), [
    { code: 'M-9' },
  ]);
});

test('a former number that is taken from its person finds whoever has it now', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  const taken = await place.command('nid', 'replace', '--yes', nid(3), nid(1), '--release', ...WHY);
  assert.equal(taken.status, 0, taken.err);
  const found = async () => (await place.command('history', 'member', nid(1))).out.split(' ', 2).join(' ');
  assert.equal(await found(), 'B-2 M-3');
  assert.equal((await place.command('check')).status, 0);
  assert.equal((await place.command('imports', 'undo', '--yes', '6')).status, 0);
  assert.equal(await found(), 'A-1 M-1');
});

test('the history names the undo of a correction as what it is', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await place.command('imports', 'undo', '--yes', '5');
  const { out } = await place.command('history', 'member', '1');
  assert.match(out, /correction 5: .+\n/);
  assert.match(out, /undo of 5: .+\n/);
  assert.doesNotMatch(out, /undo of import/);
});

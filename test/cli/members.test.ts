/** `members merge`, `members move` and `cooperatives merge`, as an operator uses them. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ImportPlace,
  member,
  members,
  nid,
  preparedPlace,
  SAVINGS_HEADER,
} from '../support/importing.ts';

const WHY = ['--reason', 'Both lists were joined'];
const DELIVERIES = 'cooperative_code,member_code,reference,delivered_at,kg\n';

/** Persons 1 and 2 in A-1, persons 2 and 3 in B-2. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const rows = [member(1), member(2), `B-2,${nid(2)},N-2,Person 2`, `B-2,${nid(3)},N-3,Person 3`];
  await place.load('members', members(...rows));
  await place.load('production', `${DELIVERIES}A-1,M-1,P-1,2025-06-01,10\nA-1,M-2,P-2,2025-06-01,20\n`);
  await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-2,S-1,T-1,contribution,100,2025-06-01\n`);
});

const dump = (place: ImportPlace) =>
  ['cooperatives', 'members', 'production_entries', 'savings_accounts', 'savings_transactions'].map((table) =>
    place.query(`SELECT * FROM ${table} ORDER BY id`).map((row) => {
      const { updated_at: _, production: __, savings: ___, loans: ____, ...rest } = row;
      return rest;
    }),
  );

test('members move takes a member with everything to the other cooperative, and back by the undo', async (context) => {
  const place = await start(context);
  const before = dump(place);
  const moved = await place.command('members', 'move', '--yes', '1', '--to', 'B-2', ...WHY);
  assert.equal(moved.status, 0, moved.err);
  assert.match(
    moved.out,
    / 1 member changed\n {2}1 delivery changed\nTo undo it: npm run -s registry -- imports undo 5\n$/,
  );
  assert.equal(place.value('SELECT cooperative_id FROM production_entries WHERE id = 1'), 2);
  assert.equal((await place.command('check')).status, 0);
  assert.equal((await place.command('imports', 'undo', '--yes', '5')).status, 0);
  assert.deepEqual(dump(place), before);
});

test('what is proposed after an import or a correction names the registry that --db named', async (context) => {
  const place = await start(context);
  const db = join(place.folder, "an owner's.db");
  renameSync(place.databaseFile, db);
  const option = `--db '${db.replace("'", "'\\''")}'`;
  const moved = await place.command('members', 'move', '--yes', '1', '--to', 'B-2', ...WHY, '--db', db);
  assert.ok(moved.out.endsWith(`To undo it: npm run -s registry -- imports undo 5 ${option}\n`), moved.out);
  const imported = await place.load('cooperatives', 'code,name\nC-3,Coko\n', '--db', db);
  assert.ok(
    imported.out.includes(`\nTo undo it: npm run -s registry -- imports undo 6 ${option}\n`),
    imported.out,
  );
});

test('members move lists every collision, and does nothing', async (context) => {
  const place = await start(context);
  const before = dump(place);
  await place.load('production', `${DELIVERIES}B-2,N-3,P-2,2025-06-01,1\n`);
  const person = await place.command('members', 'move', '--yes', '2', '--to', 'B-2', ...WHY, '--json');
  assert.equal(person.status, 1);
  assert.deepEqual(JSON.parse(person.out), {
    ...{ outcome: 'refused', dry_run: false, correction_id: null },
    message: 'Some rows cannot be in B-2.',
    collisions: [
      {
        ...{ entity: 'members', row: 'M-2' },
        message:
          'The person is already member 3 there. To merge member 2 into it: npm run -s registry -- ' +
          `members merge 2 3 --reason "Registered twice" --db ${place.databaseFile}`,
      },
      {
        ...{ entity: 'production', row: 'P-2' },
        message: 'A delivery of the other cooperative has this reference.',
      },
    ],
  });
  const rest = dump(place);
  assert.deepEqual([rest[1], rest[3], rest[4]], [before[1], before[3], before[4]]);
});

test('a move is not undone where the member has got entries in the new cooperative', async (context) => {
  const place = await start(context);
  await place.command('members', 'move', '--yes', '1', '--to', 'B-2', ...WHY);
  await place.load('production', `${DELIVERIES}B-2,M-1,P-9,2025-06-02,1\n`);
  const refused = await place.command('imports', 'undo', '--yes', '5');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /delivery P-9, from import 6/);
  await place.command('imports', 'undo', '--yes', '6');
  assert.equal((await place.command('imports', 'undo', '--yes', '5')).status, 0);
});

test('members merge fills gaps, and keeps what the member has', async (context) => {
  const place = await start(context);
  await place.load(
    'members',
    `cooperative_code,identity_card,member_code,full_name,gender,mobile,date_of_birth
A-1,${nid(1)},M-1,Person 1,F,0781234567,1980-01-01\nA-1,${nid(2)},M-2,Person 2,M,,\n`,
  );
  assert.equal((await place.command('members', 'merge', '--yes', '1', '2', ...WHY)).status, 0);
  assert.deepEqual(
    place.query(
      'SELECT id, member_code, gender, mobile, date_of_birth FROM members WHERE cooperative_id = 1',
    ),
    [{ id: 2, member_code: 'M-2', gender: 'MALE', mobile: '+250781234567', date_of_birth: '1980-01-01' }],
  );
  const history = await place.command('history', 'member', '2');
  assert.match(history.out, /mobile +\+250781234567 +correction 6/);
  const gone = await place.command('members', 'merge', '--yes', '1', '2', ...WHY);
  assert.deepEqual([gone.status, gone.err], [1, 'Member 1 was merged into member 2. Nothing was changed.\n']);
});

test('members of two cooperatives are merged only when they have one national ID', async (context) => {
  const place = await start(context);
  const refused = await place.command('members', 'merge', '--yes', '1', '4', ...WHY);
  assert.equal(refused.status, 1);
  assert.match(refused.err, /belong to different cooperatives\. Move one first: members move\./);
  const before = dump(place);
  const merged = await place.command('members', 'merge', '--yes', '2', '3', ...WHY);
  assert.equal(merged.status, 0, merged.err);
  assert.equal(
    place.value("SELECT group_concat(cooperative_id || ' ' || member_id) FROM savings_accounts"),
    '2 3',
  );
  assert.equal((await place.command('check')).status, 0);
  assert.equal((await place.command('imports', 'undo', '--yes', '5')).status, 0);
  assert.deepEqual(dump(place), before);
});

test('members merge says how many other memberships keep the number that goes', async (context) => {
  const place = await start(context);
  const merge = ['members', 'merge', '--yes', '2', '1', ...WHY, '--dry-run'];
  const one = await place.command(...merge);
  assert.match(one.out, /member 2 is that of 1 other membership too, which stays as it is: nid replace/);
  await place.load('cooperatives', 'code,name\nC-3,Dukore\n');
  await place.load('members', members(`C-3,${nid(2)},X-2,Person 2`));
  const two = await place.command(...merge);
  assert.match(two.out, / is that of 2 other memberships too, which stay as they are: nid replace gives/);
});

test('cooperatives merge moves everybody, merges who is in both, and dissolves the cooperative', async (context) => {
  const place = await start(context);
  const before = dump(place);
  const done = await place.command('cooperatives', 'merge', '--yes', 'A-1', 'B-2', ...WHY);
  assert.equal(done.status, 0, done.err);
  assert.match(done.out, /Note: 1 person is a member of both: the two memberships are merged\./);
  assert.deepEqual(place.query('SELECT id, cooperative_id FROM members ORDER BY id'), [
    { id: 1, cooperative_id: 2 },
    { id: 3, cooperative_id: 2 },
    { id: 4, cooperative_id: 2 },
  ]);
  assert.equal(place.value('SELECT status FROM cooperatives WHERE id = 1'), 'dissolved');
  assert.deepEqual(place.query('SELECT cooperative_id, member_id FROM production_entries ORDER BY id'), [
    { cooperative_id: 2, member_id: 1 },
    { cooperative_id: 2, member_id: 3 },
  ]);
  assert.equal((await place.command('check')).status, 0);
  assert.equal((await place.command('imports', 'undo', '--yes', '5')).status, 0);
  assert.deepEqual(dump(place), before);
  assert.equal((await place.command('check')).status, 0);
});

test('an active member who would be merged into an ended membership is pointed out', async (context) => {
  const place = await start(context);
  const header = 'cooperative_code,identity_card,member_code,full_name,status\n';
  await place.load('members', `${header}A-1,${nid(2)},M-2,Person 2,withdrawn\n`, '--yes');
  const dry = await place.command('members', 'merge', '--yes', '1', '2', ...WHY, '--dry-run');
  assert.match(
    dry.out,
    /Note: 1 active member is merged into a member who is not active, and will no longer/,
  );
  assert.match(dry.out, /^Nothing was changed\. Without --dry-run:\n/);
});

test('ids and codes that cannot be one are wrong usage, and unknown ones are refused', async (context) => {
  const place = await start(context);
  const wrong = [
    [['members', 'merge', '--yes', 'x', '2', ...WHY], 2, /Expected a member/],
    [['members', 'merge', '--yes', nid(1), nid(1), ...WHY], 1, /cannot be merged into itself/],
    [['members', 'merge', '--yes', '1', '1', ...WHY], 1, /cannot be merged into itself/],
    [['members', 'merge', '--yes', '1', '99', ...WHY], 1, /There is no member 99\./],
    [['members', 'move', '--yes', '1', ...WHY], 2, /--to/],
    [['members', 'move', '--yes', '1', '--to', 'b 2', ...WHY], 2, /Expected the code of a cooperative/],
    [['members', 'move', '--yes', '1', '--to', 'Z-9', ...WHY], 1, /There is no cooperative Z-9\./],
    [['members', 'move', '--yes', '1', '--to', 'A-1', ...WHY], 1, /belongs to A-1 already/],
    [['cooperatives', 'merge', '--yes', 'A-1', 'A-1', ...WHY], 1, /cannot be merged into itself/],
    [['nid', 'release', '--yes', nid(1), ...WHY], 1, /not a former one\./],
  ] as const;
  for (const [args, status, message] of wrong) {
    const result = await place.command(...args);
    assert.equal(result.status, status, args.join(' '));
    assert.match(result.err, message);
    assert.doesNotMatch(result.out + result.err, /[0-9]{16}/);
  }
});

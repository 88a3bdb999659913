/** Files that still have the numbers and codes of before a correction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { member, members, nid, preparedPlace } from '../support/importing.ts';

const WHY = ['--reason', 'test'];
const REPLACED = 'This national ID was replaced, and the person is not a member here. Use the current one.';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(2)));
});

test('a list with a replaced national ID updates the person and keeps the current number', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  const list = members(`A-1,${nid(1)},M-1,Keza Aline`, member(2));
  for (const option of ['--dry-run', '--overwrite-corrections']) {
    const result = await place.load('members', list, option, '--json');
    assert.equal(result.status, 0, result.err);
    const file = JSON.parse(result.out).files[0];
    assert.deepEqual([file.created, file.changed, file.kept], [0, 1, 1], option);
  }
  assert.deepEqual(place.query('SELECT identity_card AS card, full_name AS name FROM members ORDER BY id'), [
    { card: nid(9), name: 'Keza Aline' },
    { card: nid(2), name: 'Person 2' },
  ]);
  const again = await place.load('members', list, '--json');
  const file = JSON.parse(again.out).files[0];
  assert.deepEqual([file.unchanged, file.kept], [2, 1]);
});

test('kept values are listed in the order of their lines, whatever keeps them', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await place.command('persons', 'deceased', '--yes', nid(2), '--on', '2025-01-01', ...WHY);
  const header = 'cooperative_code,identity_card,member_code,full_name,status';
  const rows = [`A-1,${nid(3)},M-3,Person 3,active`, `A-1,${nid(1)},M-1,Person 1,active`];
  const list = [header, ...rows, `A-1,${nid(2)},M-2,Person 2,active`].join('\n');
  const { out, err } = await place.load('members', `${list}\n`, '--json');
  const conflicts = JSON.parse(out).files[0].conflicts;
  assert.deepEqual(
    conflicts.map(({ line, column }: { line: number; column: string }) => [line, column]),
    [
      [3, 'identity_card'],
      [4, 'status'],
    ],
    err,
  );
});

test('entries that name the person by a replaced national ID belong to the person', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  const rows = `A-1,${nid(1)},M-1,P-1,2025-06-01,10\nA-1,${nid(1)},,P-2,2025-06-01,10\n`;
  const header = 'cooperative_code,identity_card,member_code,reference,delivered_at,kg\n';
  const result = await place.load('production', header + rows);
  assert.equal(result.status, 0, result.err);
  assert.deepEqual(place.query('SELECT member_id FROM production_entries'), [
    { member_id: 1 },
    { member_id: 1 },
  ]);
});

test('a list cannot give a replaced national ID to somebody else', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  for (const row of [`B-2,${nid(1)},M-7,Mugabo Jean`, `A-1,${nid(1)},M-2,Person 2`]) {
    const refused = await place.load('members', members(row), '--yes');
    assert.equal(refused.status, 1, row);
    assert.doesNotMatch(refused.out + refused.err, /[0-9]{16}/);
  }
  const elsewhere = await place.load('members', members(`B-2,${nid(1)},M-7,Mugabo Jean`), '--json');
  assert.deepEqual(
    JSON.parse(elsewhere.out).files[0].errors.map((each: { message: string }) => each.message),
    [REPLACED],
  );
  await place.command('nid', 'release', '--yes', nid(1), ...WHY);
  const accepted = await place.load('members', members(`B-2,${nid(1)},M-7,Mugabo Jean`));
  assert.equal(accepted.status, 0, accepted.err);
});

test('a list cannot change a number that has replaced another one', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  const refused = await place.load('members', members(`A-1,${nid(5)},M-1,Person 1`), '--yes', '--json');
  assert.equal(refused.status, 1);
  assert.match(refused.out, /has a national ID that replaced another\. Use nid replace/);
});

test('a list that has only the merged registration of a person updates the member who stays', async (context) => {
  const place = await start(context);
  assert.equal((await place.command('members', 'merge', '--yes', '1', '2', ...WHY)).status, 0);
  const only = await place.load('members', members(`A-1,${nid(1)},M-1,Keza Aline`), '--json');
  const file = JSON.parse(only.out).files[0];
  assert.deepEqual([file.created, file.changed, file.kept], [0, 1, 2]);
  assert.deepEqual(place.query('SELECT id, identity_card AS card, member_code AS code FROM members'), [
    { id: 2, card: nid(2), code: 'M-2' },
  ]);
  const both = await place.load('members', members(member(1), member(2)), '--json');
  assert.equal(both.status, 1);
  assert.match(both.out, /Same as line 2\./);
});

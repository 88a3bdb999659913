/** What an import says of persons who were erased, and of values that no option overwrites. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COOPERATIVES, member, members, nid, preparedPlace } from '../support/importing.ts';

const WHY = ['--reason', 'test'];
const HEADER = 'cooperative_code,identity_card,member_code,reference,delivered_at,kg\n';
const HINT = /add --overwrite-corrections/;

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', COOPERATIVES);
  await place.load('members', members(member(1), member(2)));
});

test('a ledger row of an erased person has one fault, and others have their own', async (context) => {
  const place = await start(context);
  await place.command('persons', 'erase', '--yes', nid(1), ...WHY);
  const rows = [
    `A-1,${nid(1)},M-1,P-1,2025-06-01,10`,
    `A-1,${nid(1)},,P-2,2025-06-01,10`,
    `A-1,${nid(5)},,P-3,2025-06-01,10`,
    'A-1,,M-7,P-4,2025-06-01,10',
  ];
  const { out } = await place.load('production', `${HEADER}${rows.join('\n')}\n`, '--json');
  const messages = JSON.parse(out).files[0].errors.map((each: { line: number; message: string }) => [
    each.line,
    each.message,
  ]);
  const ERASED = 'This person was erased.';
  assert.deepEqual(messages, [
    [2, ERASED],
    [3, ERASED],
    [4, 'There is no member with this national ID in the cooperative. Import its members first.'],
    [5, 'There is no member with the code "M-7" in the cooperative. Import its members first.'],
  ]);
});

test('only where --overwrite-corrections would import a kept value, the import names it', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  for (const options of [[], ['--overwrite-corrections']]) {
    const { status, err } = await place.load('members', members(member(1), member(2)), ...options);
    assert.equal(status, 0);
    assert.match(err, /column identity_card: kept/);
    assert.doesNotMatch(err, HINT);
  }
  await place.command('persons', 'deceased', '--yes', nid(2), '--on', '2025-06-01', ...WHY);
  const list =
    'cooperative_code,identity_card,member_code,full_name,status\n' +
    `A-1,${nid(1)},M-1,Person 1,active\nA-1,${nid(2)},M-2,Person 2,active\n`;
  const kept = await place.load('members', list);
  assert.match(kept.err, /line 3, column status: kept/);
  assert.match(kept.err, HINT);
});

test('counts of one are singular', async (context) => {
  const place = await start(context);
  const checked = await place.load('members', members(member(1)), '--dry-run');
  assert.match(checked.out, /members\.csv: 1 row checked: /);
  await place.load('production', `${HEADER}A-1,,M-1,P-1,2025-06-01,10\n`);
  const erased = await place.command('persons', 'erase', '--yes', nid(1), ...WHY);
  assert.match(erased.out, /person: 1 delivery, 0 loans, 0 savings transactions\./);
});

test('the release of a number says what it has done', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  const released = await place.command('nid', 'release', '--yes', nid(1), ...WHY);
  assert.match(
    released.out,
    / {2}No row changes\.\n {2}Note: This number finds no person now, and can be given to another person\.\n/,
  );
});

/** `persons deceased`: a death, recorded in every membership. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nid, preparedPlace, SAVINGS_HEADER } from '../support/importing.ts';

const WHY = ['--reason', 'Reported by the sector office'];
const BORN = 'cooperative_code,identity_card,member_code,full_name,status,date_of_birth';

/** Person 1 in both cooperatives, active and withdrawn; person 2 in the first. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const rows = [`A-1,${nid(1)},M-1,Keza Aline,active,1985-01-02`, `B-2,${nid(1)},M-1,Keza,withdrawn,`];
  await place.load('members', `${[BORN, ...rows, `A-1,${nid(2)},M-2,Mugabo Jean,active,`].join('\n')}\n`);
});

const deliveries = (...rows: string[]): string =>
  `cooperative_code,member_code,reference,delivered_at,kg\n${rows.join('\n')}\n`;
const STATES = 'SELECT id, status, date_of_death AS died FROM members ORDER BY id';

test('persons deceased gives every membership the status and the day, and is undone like an import', async (context) => {
  const place = await start(context);
  const before = place.query('SELECT * FROM members ORDER BY id');
  const done = await place.command('persons', 'deceased', '--yes', nid(1), '--on', '2025-05-20', ...WHY);
  assert.equal(done.status, 0, done.err);
  assert.match(done.out, /^Correction 3 is done .*\n(?: {2}member .*\n){2} {2}2 members changed\n/);
  assert.deepEqual(place.query(STATES), [
    { id: 1, status: 'deceased', died: '2025-05-20' },
    { id: 2, status: 'deceased', died: '2025-05-20' },
    { id: 3, status: 'active', died: null },
  ]);
  assert.doesNotMatch(done.out, /[0-9]{16}/);
  assert.equal((await place.command('check')).status, 0);
  assert.equal((await place.command('imports', 'undo', '--yes', '3')).status, 0);
  assert.deepEqual(place.query('SELECT * FROM members ORDER BY id'), before);
  assert.equal((await place.command('check')).status, 0);
});

test('a dry run of persons deceased changes nothing and counts what is dated after the death', async (context) => {
  const place = await start(context);
  await place.load(
    'production',
    deliveries('A-1,M-1,P-1,2025-05-25,10', 'A-1,M-1,P-2,2025-05-21T11:00:00Z,10'),
  );
  await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,100,2025-06-01\n`);
  const before = place.query('SELECT * FROM members ORDER BY id');
  const dry = await place.command(
    'persons',
    'deceased',
    '--yes',
    nid(1),
    '--on',
    '2025-05-20',
    ...WHY,
    '--dry-run',
  );
  assert.equal(dry.status, 0, dry.err);
  assert.equal(
    dry.out,
    'Nothing was changed. Without --dry-run:\n' +
      '  member 1: A-1 M-1, Keza Aline\n  member 2: B-2 M-1, Keza\n  2 members changed\n' +
      '  Note: Dated after the death: 1 delivery and 1 savings transaction.\n',
  );
  assert.deepEqual(place.query('SELECT * FROM members ORDER BY id'), before);
});

test('a death is refused for nobody, before the birth, twice, in the future, and for a malformed date', async (context) => {
  const place = await start(context);
  const refusal = async (card: string, on: string) => {
    const { status, out, err } = await place.command(
      'persons',
      'deceased',
      '--yes',
      card,
      '--on',
      on,
      ...WHY,
    );
    assert.doesNotMatch(out + err, /[0-9]{16}/);
    return [status, err.split('\n')[0]];
  };
  assert.deepEqual(await refusal(nid(9), '2025-05-20'), [
    ...[1, 'No person has this national ID. Nothing was changed.'],
  ]);
  assert.deepEqual(await refusal(nid(1), '1985-01-01'), [
    ...[1, "The date is before the person's date of birth. Nothing was changed."],
  ]);
  assert.deepEqual(await refusal(nid(1), '2025-06-16'), [2, '--on: This date is in the future.']);
  assert.equal((await refusal(nid(1), '20/05/2025'))[0], 2);
  assert.equal((await refusal(`${nid(1)}0`, '2025-05-20'))[0], 2);
  await place.command('persons', 'deceased', '--yes', nid(1), '--on', '2025-06-15', ...WHY);
  assert.deepEqual(await refusal(nid(1), '2025-06-15'), [
    ...[1, 'This is recorded already. Nothing was changed.'],
  ]);
  // Another day is a correction of the day.
  assert.equal((await refusal(nid(1), '2025-06-14'))[0], 0);
});

test('an import warns of entries after a death and is not stopped; without a death it does not', async (context) => {
  const place = await start(context);
  const file = deliveries(
    'A-1,M-1,P-1,2025-05-21',
    'A-1,M-1,P-2,2025-05-22',
    'A-1,M-2,P-3,2025-06-01',
  ).replaceAll(/(P-.*)/g, '$1,10');
  const savings = `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,100,2025-06-01\n`;
  const warningsOf = async (kind: string, content: string) =>
    JSON.parse((await place.load(kind, content, '--dry-run', '--json')).out).files[0].warnings;
  assert.deepEqual(await warningsOf('production', file), []);
  await place.command('persons', 'deceased', '--yes', nid(1), '--on', '2025-05-20', ...WHY);
  assert.deepEqual(await warningsOf('production', file), [
    {
      ...{ kind: 'after_death', stops: false, lines: [3] },
      message: '1 delivery is dated after the death of the member.',
    },
  ]);
  assert.deepEqual(
    (await warningsOf('savings', savings)).map(({ message }: { message: string }) => message),
    ['1 transaction is dated after the death of the member.'],
  );
  const imported = await place.load('production', file);
  assert.equal(imported.status, 0, imported.err);
  assert.match(imported.err, /1 delivery is dated after the death of the member\. \(line 3\)/);
});

test('an import does not make a deceased person active again: the status is kept, or the file is stopped', async (context) => {
  const place = await start(context);
  await place.command('persons', 'deceased', '--yes', nid(1), '--on', '2025-05-20', ...WHY);
  const file = `${BORN}\nA-1,${nid(1)},M-1,Keza Aline,active,1985-01-02\n`;
  const kept = await place.load('members', file);
  assert.equal(kept.status, 0, kept.err);
  assert.equal(place.value('SELECT status FROM members WHERE id = 1'), 'deceased');
  const { status, err } = await place.load('members', file, '--overwrite-corrections');
  assert.equal(status, 1);
  assert.match(err, /withdrawn or deceased would get another status/);
});

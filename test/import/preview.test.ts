/** Changed values in a dry run, and `--changes` (docs/import-reference.md#preview-of-an-import). */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { command } from '../support/command.ts';
import { LOANS_HEADER, MEMBERS_HEADER, member, members, nid, startedPlace } from '../support/importing.ts';

const HEADER = 'line,row,column,old,new\n';

test('a dry run shows for each column how many values change, with the first ones', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', members(...[4, 5].map((n) => member(n))));
  const rows = [1, 2, 3, 4].map((n) => `A-1,${nid(n)},M-${n},Renamed ${n},${n === 2 ? '0781234567' : ''}`);
  const content = `${MEMBERS_HEADER},mobile\n${rows.join('\n')}\n${member(5)},\n${member(6)},\n`;
  const { status, out } = await place.load('members', content, '--dry-run');
  assert.equal(status, 0);
  assert.deepEqual(out.split('\n').slice(1, 4), [
    'members.csv: 6 rows checked: 1 new, 4 changed, 1 unchanged; nothing was written',
    'members.csv: full_name changes in 4 rows: M-1 Person 1 → Renamed 1; M-2 Person 2 → Renamed 2; ' +
      'M-3 Person 3 → Renamed 3; …',
    'members.csv: mobile changes in 1 row: M-2 (empty) → +250781234567',
  ]);
  const [file] = JSON.parse((await place.load('members', content, '--dry-run', '--json')).out).files;
  assert.deepEqual(file.columns, { full_name: { changed: 4 }, mobile: { changed: 1 } });
  assert.doesNotMatch(JSON.stringify(file), /Renamed|0781234567/);
  const imported = await place.load('members', content);
  assert.doesNotMatch(imported.out + imported.err, /Renamed/);
  const [again] = JSON.parse((await place.load('members', content, '--json')).out).files;
  assert.deepEqual([again.columns, again.unchanged], [{}, 6]);
});

test('--ask shows what would change, and imports when somebody agrees', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', members(`A-1,${nid(1)},M-1,Renamed`));
  const ask = async (answer: string) => {
    const env = { REGISTRY_DB: place.databaseFile };
    return command(['import', 'members', path, '--ask'], env, undefined, { ask: async () => answer });
  };
  const refused = await ask('n');
  assert.equal(refused.status, 0);
  assert.match(
    refused.out,
    /nothing was written\nmembers\.csv: full_name changes in 1 row: M-1 Person 1 → Renamed/,
  );
  assert.equal(refused.out.match(/1 row checked/g)?.length, 1);
  assert.equal(place.value("SELECT count(*) FROM members WHERE full_name = 'Renamed'"), 0);
  assert.match((await ask('y')).out, /members\.csv: 0 new, 1 changed/);
  assert.equal(place.value("SELECT count(*) FROM members WHERE full_name = 'Renamed'"), 1);
});

test('--ask does not list a file as imported that was declined', async (context) => {
  const place = await startedPlace(context);
  const folder = join(place.folder, 'incoming');
  mkdirSync(folder);
  writeFileSync(join(folder, 'members-1.csv'), members(`A-1,${nid(1)},M-1,Renamed`));
  writeFileSync(join(folder, 'members-2.csv'), members('A-1,123,M-2,Nobody'));
  const env = { REGISTRY_DB: place.databaseFile };
  const { status, err } = await command(['import', folder, '--ask'], env, undefined, {
    ask: async () => 'n',
  });
  assert.equal(status, 1);
  assert.match(err, /\nImported: no file\.\n/);
});

test('--ask is refused where nobody can answer', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', members(`A-1,${nid(1)},M-1,Renamed`));
  const without = await place.run('members', path, '--ask');
  const env = { REGISTRY_DB: place.databaseFile };
  const ask = async () => 'y';
  const asJson = await command(['import', 'members', path, '--ask', '--json'], env, undefined, { ask });
  for (const { status, out, err } of [without, asJson]) {
    assert.deepEqual([status, out], [2, '']);
    assert.match(err, /^--ask needs a terminal/);
  }
  assert.equal(place.value("SELECT count(*) FROM members WHERE full_name = 'Renamed'"), 0);
});

test('--changes lists every changed value, for its owner only, in a dry run and in an import', async (context) => {
  const place = await startedPlace(context);
  const loan = (amount: string, end: string) =>
    `${LOANS_HEADER}\nA-1,M-1,L-1,${amount},5,approved,,,${end},\n`;
  await place.load('loans', loan('100', ''));
  const changes = join(place.folder, 'changes.csv');
  const content = loan('1250.5', '2025-01-31');
  const expected = `${HEADER}2,L-1,amount,100.00,1250.50\n2,L-1,loan_end_date,,2025-01-31T00:00:00+02:00\n`;
  for (const more of [['--dry-run'], []]) {
    assert.equal((await place.load('loans', content, '--changes', changes, ...more)).status, 0);
    assert.equal(readFileSync(changes, 'utf8'), expected);
    assert.equal(statSync(changes).mode & 0o777, 0o600);
  }
  // Nothing changes any more: the earlier list is gone, and there is no new one.
  assert.equal((await place.load('loans', content, '--changes', changes)).status, 0);
  assert.ok(!existsSync(changes));
});

test('--changes replaces only an earlier list of changes, and nothing of the registry', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', members(`A-1,${nid(1)},M-1,"Re,named"`));
  const changes = place.write('changes.csv', 'line,row,column,old\n');
  for (const [file, reason] of [
    [changes, 'already exists and is not a list of changes'],
    [place.databaseFile, 'is a file of the registry'],
    [path, 'is to be imported'],
  ] as const) {
    const { status, out, err } = await place.run('members', path, '--changes', file);
    assert.deepEqual([status, out, err], [2, '', `${file} ${reason}. Choose another file for --changes.\n`]);
  }
  assert.equal(readFileSync(changes, 'utf8'), 'line,row,column,old\n');
  place.write('changes.csv', `${HEADER}9,M-9,full_name,Old,New\n`);
  assert.equal((await place.run('members', path, '--changes', changes)).status, 0);
  assert.equal(readFileSync(changes, 'utf8'), `${HEADER}2,M-1,full_name,Person 1,"Re,named"\n`);
  const both = ['--changes', join(place.folder, 'x.csv'), '--rejects', join(place.folder, '.', 'x.csv')];
  assert.equal((await place.run('members', path, ...both)).status, 2);
});

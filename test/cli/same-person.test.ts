/** Two people become one only when somebody says that they are, and one person two by `--member`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubtIdentityCard } from '../../src/people/corrections/nid-replace.ts';
import { command } from '../support/command.ts';
import { COOPERATIVES, type ImportPlace, MEMBERS_HEADER, nid, preparedPlace } from '../support/importing.ts';
import { allEntries, ledgerPlaceIn } from '../support/sqlite-ledger.ts';

const WHY = ['--reason', 'Seen with the card'];

/** Person 1 in both cooperatives, and somebody else, withdrawn, in B-2. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', COOPERATIVES);
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,F,1980-01-02,+250781234567,active`,
    `B-2,${nid(1)},M-1,Keza Aline,F,1980-01-02,,active`,
    `B-2,${nid(2)},M-2,Mugabo Jean,M,1964-01-01,+250781234568,withdrawn`,
  ];
  const header = `${MEMBERS_HEADER},gender,date_of_birth,mobile,status`;
  await place.load('members', `${header}\n${rows.join('\n')}\n`, '--yes');
});

const numbers = (place: ImportPlace) =>
  place
    .query<{ card: string }>('SELECT identity_card AS card FROM members ORDER BY id')
    .map(({ card }) => card);
const CONTRADICTING =
  'different dates of birth, different genders, names without a common word, different phones';
const SHOWN = `This person has the number that is replaced:
  A-1/M-1: Keza Aline, born 1980-01-02, gender FEMALE, telephone +250781234567, active
  B-2/M-1: Keza Aline, born 1980-01-02, gender FEMALE, telephone –, active
This person has, or had, the new number:
  B-2/M-2: Mugabo Jean, born 1964-01-01, gender MALE, telephone +250781234568, withdrawn
Conflicting data: ${CONTRADICTING}
`;

test('nid replace to the number of somebody else shows both and is refused, with --yes or not', async (context) => {
  const place = await start(context);
  const before = numbers(place);
  for (const more of [['--yes'], [], ['--dry-run']]) {
    const refused = await place.command('nid', 'replace', nid(1), nid(2), ...more, ...WHY);
    assert.deepEqual([refused.status, refused.out], [1, ''], more.join());
    assert.equal(
      refused.err,
      `${SHOWN}The new national ID is that of another person. Use --same-person if both are one person; ` +
        'if not, check the number. Nothing was changed.\n',
    );
  }
  const { out } = await place.command('nid', 'replace', nid(1), nid(2), '--yes', '--json', ...WHY);
  const { outcome, compared } = JSON.parse(out);
  const contradictions = CONTRADICTING.split(', ');
  assert.deepEqual([outcome, compared], ['refused', { replaced: [1, 2], holding: [3], contradictions }]);
  assert.deepEqual(numbers(place), before);
  const entry = allEntries(ledgerPlaceIn(place.folder)).at(-1);
  assert.deepEqual(
    [entry?.members, entry?.fields],
    [
      [1, 2, 3],
      ['identity', 'contact'],
    ],
  );
});

test('with --same-person both become one, what contradicts it is kept, and the undo makes them two', async (context) => {
  const place = await start(context);
  const before = numbers(place);
  const same = ['nid', 'replace', nid(1), nid(2), '--same-person', ...WHY];
  const dry = await place.command(...same, '--dry-run');
  assert.ok(dry.out.startsWith(`${SHOWN}Nothing was changed. Without --dry-run:\n`), dry.out);
  assert.match(dry.out, new RegExp(`  Note: One person, in spite of ${CONTRADICTING}\\.\n`));
  assert.deepEqual(numbers(place), before);
  assert.equal((await place.command(...same, '--yes')).status, 0);
  assert.deepEqual(numbers(place), [nid(2), nid(2)]);
  const recorded = JSON.parse((await place.command('imports', 'show', '3', '--json')).out);
  assert.deepEqual(recorded.options, { release: false, same_person: true });
  assert.equal((await place.command('imports', 'undo', '3', '--yes')).status, 0);
  assert.deepEqual(numbers(place), before);
});

test('it is asked for also where nothing contradicts it, and not where nobody has the new number', async (context) => {
  const place = await start(context);
  await place.load('members', `${MEMBERS_HEADER}\nA-1,${nid(5)},M-5,Keza\n`, '--yes');
  const refused = await place.command('nid', 'replace', nid(5), nid(1), '--yes', ...WHY);
  assert.equal(refused.status, 1);
  assert.match(refused.err, /\nThey have no conflicting data\.\n/);
  assert.equal((await place.command('nid', 'replace', nid(5), nid(9), '--yes', ...WHY)).status, 0);
  // Back to a former number of the same person.
  assert.equal((await place.command('nid', 'replace', nid(9), nid(5), '--yes', ...WHY)).status, 0);
});

test('at a terminal it is asked whether they are the same person, and then whether to do it', async (context) => {
  const place = await start(context);
  const before = numbers(place);
  const answering = async (...answers: string[]) => {
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return answers.shift() ?? '';
    };
    const env = { REGISTRY_DB: place.databaseFile };
    const args = ['nid', 'replace', nid(1), nid(2), ...WHY];
    const { status, err } = await command(args, env, place.clock, { ask });
    assert.ok(err.startsWith(SHOWN), err);
    return [status, ...questions];
  };
  const [same, make] = ['Are they the same person? Both become one. [y/N] ', 'Do it? [y/N] '];
  assert.deepEqual(await answering('n', 'y'), [1, same]);
  assert.deepEqual(await answering('y', 'n'), [1, same, make]);
  assert.deepEqual(numbers(place), before);
  assert.deepEqual(await answering('y', 'y'), [0, same, make]);
  assert.deepEqual(numbers(place), [nid(2), nid(2)]);
});

test('a former number of somebody else needs --same-person, or --release where they are two', async (context) => {
  const place = await start(context);
  assert.equal((await place.command('nid', 'replace', nid(2), nid(8), '--yes', ...WHY)).status, 0);
  const before = numbers(place);
  const replace = (...more: string[]) =>
    place.command('nid', 'replace', nid(1), nid(2), '--yes', ...more, ...WHY);
  const refused = await replace();
  assert.equal(refused.status, 1);
  assert.ok(refused.err.startsWith(`${SHOWN}The new national ID is a former one of another person.`));
  assert.deepEqual(numbers(place), before);
  assert.equal((await replace('--same-person')).status, 0);
  assert.deepEqual(numbers(place), [nid(8), nid(8)]);
  const found = await place.command('history', 'member', nid(2), '--json');
  assert.equal(found.status, 0, found.err);
  assert.equal((await place.command('imports', 'undo', '4', '--yes')).status, 0);
  assert.equal((await replace('--release')).status, 0);
  assert.deepEqual(numbers(place), [nid(2), nid(2), nid(8)]);
  assert.equal((await place.command('check')).status, 0);
});

test('what changes of the other person after it was shown is shown again', async (context) => {
  const place = await start(context);
  const answers = ['y', 'y'];
  const ask = async () => {
    const header = `${MEMBERS_HEADER},mobile`;
    if (answers.length === 1)
      await place.load('members', `${header}\nB-2,${nid(2)},M-2,Mugabo Jean,+250781234599\n`, '--yes');
    return answers.shift() ?? '';
  };
  const env = { REGISTRY_DB: place.databaseFile };
  const args = ['nid', 'replace', 'A-1/M-1', nid(2), '--member', 'A-1/M-1', ...WHY];
  const { status, err } = await command(args, env, place.clock, { ask });
  assert.equal(status, 1);
  assert.match(err, /the registry has changed meanwhile/);
});

test('--member gives one membership another number: the old one stays that of the others', async (context) => {
  const place = await start(context);
  const split = (...more: string[]) =>
    place.command('nid', 'replace', nid(1), nid(9), '--member', 'B-2/M-1', ...more, ...WHY);
  assert.equal((await split('--yes')).status, 0);
  assert.deepEqual(numbers(place), [nid(1), nid(9), nid(2)]);
  assert.equal(place.value('SELECT count(*) FROM replaced_identity_cards'), 0);
  const recorded = JSON.parse((await place.command('imports', 'show', '3', '--json')).out);
  assert.deepEqual(recorded.options, { release: false, member: 2 });
  assert.match((await split('--yes')).err, /^Member 2 does not have the national ID to be replaced\./);
  assert.equal((await place.command('imports', 'undo', '3', '--yes')).status, 0);
  assert.deepEqual(numbers(place), [nid(1), nid(1), nid(2)]);
});

test('two who became one by mistake are two again, by the former number of the one', async (context) => {
  const place = await start(context);
  const replace = (...args: string[]) => place.command('nid', 'replace', ...args, '--yes', ...WHY);
  assert.equal((await replace(nid(1), nid(9), '--member', '2')).status, 0);
  assert.equal((await replace(nid(9), nid(1), '--same-person')).status, 0);
  const split = await replace(nid(1), nid(9), '--member', '2');
  assert.equal(split.status, 0, split.err);
  assert.deepEqual(numbers(place), [nid(1), nid(9), nid(2)]);
  assert.equal(place.value('SELECT count(*) FROM former_identity_cards'), 0);
  assert.equal((await place.command('check')).status, 0);
  for (const id of ['5', '4', '3'])
    assert.equal((await place.command('imports', 'undo', id, '--yes')).status, 0, id);
  assert.deepEqual(numbers(place), [nid(1), nid(1), nid(2)]);
});

test('the only membership of a person gets another number as without --member', async (context) => {
  const place = await start(context);
  const one = await place.command('nid', 'replace', nid(2), nid(9), '--member', '3', '--yes', ...WHY);
  assert.equal(one.status, 0, one.err);
  assert.equal(place.value('SELECT old FROM replaced_identity_cards'), nid(2));
});

test('the undo of --member is refused once somebody else has got the old number', async (context) => {
  const place = await start(context);
  const done = (...args: string[]) => place.command(...args, '--yes', ...WHY);
  assert.equal((await done('nid', 'replace', nid(1), nid(9), '--member', '2')).status, 0);
  assert.equal((await done('nid', 'replace', nid(1), nid(8), '--release')).status, 0);
  assert.equal(
    (await place.load('members', `${MEMBERS_HEADER}\nA-1,${nid(1)},M-7,Ineza Rose\n`, '--yes')).status,
    0,
  );
  const refused = await place.command('imports', 'undo', '3', '--yes');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /member M-7, from import 5, has a member code or national ID/);
});

test('a number that its digits make doubtful is noted, and given', async (context) => {
  const place = await start(context);
  for (const [number, note] of [
    ['1198079000000042', undefined],
    ['1197970000000042', /born in a year other than registered/],
    ['1198089000000042', /a gender other than registered/],
    ['9198079000000042', /No national ID begins with the first digit/],
    ['1203079000000042', /is not born yet/],
    ['1189979000000042', /born before 1900/],
    ['1198059000000042', /is neither 7 nor 8/],
  ] as const) {
    const { status, out } = await place.command('nid', 'replace', nid(1), number, '--dry-run', ...WHY);
    assert.equal(status, 0);
    assert.equal(out.match(/Note: /g)?.length ?? 0, note === undefined ? 0 : 1, out);
    if (note !== undefined) assert.match(out, note);
  }
  const unknown = [{ gender: 'OTHER', dateOfBirth: null }];
  assert.deepEqual(doubtIdentityCard('2198079000000042', unknown, 2025), []);
});

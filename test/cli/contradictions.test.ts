/** Persons whose memberships contradict each other: `duplicates --contradictions`, and what settles each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COOPERATIVES, type ImportPlace, MEMBERS_HEADER, nid, preparedPlace } from '../support/importing.ts';

const WHY = ['--reason', 'Seen with the card'];
const HEADER = `${MEMBERS_HEADER},gender,date_of_birth`;

/** Persons 1 to 3 contradict themselves, 4 and 5 do not. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', `${COOPERATIVES}C-3,Cyizere\n`);
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,F,1980-01-02`,
    `B-2,${nid(1)},M-1,Mugabo Jean,M,1964-01-01`,
    `A-1,${nid(2)},M-2,Uwase Rose,F,1990-05-06`,
    `B-2,${nid(2)},M-2,UWASE R.,M,1990-01-01`,
    `A-1,${nid(3)},M-3,Gasore Eric,,`,
    `C-3,${nid(3)},M-3,Ineza Diane,,1970-01-01`,
    `A-1,${nid(4)},M-4,Kalisa Paul,M,1970-01-01`,
    `B-2,${nid(4)},M-4,Paul K.,,1970-05-05`,
    `A-1,${nid(5)},M-5,Umutoni,,`,
  ];
  const { status, err } = await place.load('members', `${HEADER}\n${rows.join('\n')}\n`, '--yes');
  assert.equal(status, 0, err);
});

async function found(place: ImportPlace, ...args: string[]) {
  const { status, out, err } = await place.command('duplicates', '--contradictions', '--json', ...args);
  assert.deepEqual([status, err], [0, '']);
  return JSON.parse(out) as {
    persons: {
      contradictions: string[];
      members: { id: number; member: string }[];
      commands: { another_number: string[]; same_person: string };
    }[];
    accepted: number;
  };
}
const firsts = async (place: ImportPlace, ...args: string[]) =>
  (await found(place, ...args)).persons.map(({ members }) => members[0]?.member);

test('persons whose memberships differ in year of birth, gender or every word of the name are listed', async (context) => {
  const place = await start(context);
  const { persons } = await found(place);
  assert.deepEqual(
    persons.map(({ contradictions, members }) => [members.map(({ member }) => member), contradictions]),
    [
      [
        ['A-1/M-1', 'B-2/M-1'],
        ['different years of birth', 'different genders', 'names without a common word'],
      ],
      [['A-1/M-2', 'B-2/M-2'], ['different genders']],
      [['A-1/M-3', 'C-3/M-3'], ['names without a common word']],
    ],
  );
  const { out } = await place.command('duplicates', '--contradictions');
  assert.ok(
    out.startsWith(`A-1/M-1 Keza Aline, born 1980-01-02, gender FEMALE
B-2/M-1 Mugabo Jean, born 1964-01-01, gender MALE
     different years of birth, different genders, names without a common word
     npm run -s registry -- nid replace B-2/M-1 NEW --member B-2/M-1 --reason "Two people"
     npm run -s registry -- nid replace A-1/M-1 NEW --member A-1/M-1 --reason "Two people"
     npm run -s registry -- duplicates same-person A-1/M-1 --reason "One person, checked"
`),
    out,
  );
  assert.doesNotMatch(out, /[0-9]{16}/);
  assert.deepEqual(await firsts(place, '--cooperative', 'C-3'), ['A-1/M-3']);
  assert.deepEqual((await place.command('duplicates', '--contradictions', '--cooperative', 'X')).status, 1);
});

test('the commands that are printed settle it', async (context) => {
  const place = await start(context);
  const { persons } = await found(place);
  const wordsOf = (text = '') => (/ -- (.*) --reason/.exec(text)?.[1] ?? '').split(' ');
  const [first, second, third] = persons.map(({ commands }) => commands);
  const split = wordsOf(first?.another_number[0]).map((word) => (word === 'NEW' ? nid(60) : word));
  assert.equal((await place.command(...split, '--yes', ...WHY)).status, 0);
  for (const commands of [second, third])
    assert.equal((await place.command(...wordsOf(commands?.same_person), ...WHY)).status, 0);
  const left = await found(place);
  assert.deepEqual([left.persons, left.accepted], [[], 2]);
  assert.equal(
    (await place.command('duplicates', '--contradictions')).out,
    'No conflicting records were found.\n2 persons were checked before.\n',
  );
  assert.equal((await place.command('check')).status, 0);
});

test('a person who was checked is listed again once something of them changes, or it is undone', async (context) => {
  const place = await start(context);
  const check = (person: string) => place.command('duplicates', 'same-person', person, '--json', ...WHY);
  const first = await check('B-2/M-2');
  assert.equal(first.status, 0, first.err);
  const { correction_id: id, members } = JSON.parse(first.out);
  assert.deepEqual(
    members.map((member: { id: number }) => member.id),
    [3, 4],
  );
  assert.equal(JSON.parse((await check(nid(2))).out).correction_id, id);
  assert.deepEqual(await firsts(place), ['A-1/M-1', 'A-1/M-3']);
  // A delivery is nothing of the person.
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-2,P-1,2025-06-01,1\n',
  );
  assert.deepEqual(await firsts(place), ['A-1/M-1', 'A-1/M-3']);
  await place.load('members', `${HEADER}\nA-1,${nid(2)},M-2,Uwase Rosine,F,1990-05-06\n`, '--yes');
  const all = ['A-1/M-1', 'A-1/M-2', 'A-1/M-3'];
  assert.deepEqual(await firsts(place), all);
  const again = JSON.parse((await check('A-1/M-2')).out).correction_id;
  assert.deepEqual(await firsts(place), ['A-1/M-1', 'A-1/M-3']);
  // A membership that nobody has seen.
  await place.load('members', `${HEADER}\nC-3,${nid(2)},M-9,Uwase Rose,F,1990-05-06\n`, '--yes');
  assert.deepEqual(await firsts(place), all);
  await check('A-1/M-2');
  assert.equal((await place.command('imports', 'undo', String(again + 2), '--yes')).status, 0);
  assert.deepEqual(await firsts(place), all);
});

test('there is nothing to check of a person who does not contradict themselves, or of nobody', async (context) => {
  const place = await start(context);
  const check = (person: string) => place.command('duplicates', 'same-person', person, ...WHY);
  assert.deepEqual(
    [(await check('A-1/M-4')).err, (await check(nid(70))).err],
    [
      'This person has no conflicting records. Nothing was changed.\n',
      'No person has this national ID. Nothing was changed.\n',
    ],
  );
});

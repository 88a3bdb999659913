/** Members who may be one person, registered twice: finding them and setting them aside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  COOPERATIVES,
  type ImportPlace,
  importPlace,
  MEMBERS_HEADER,
  nid,
  preparedPlace,
} from '../support/importing.ts';

const WHY = ['--reason', 'Two cards were seen'];
const PHONE = '+250781234567';
/** The number of person 1 with one digit mistyped. */
const MISTYPED = nid(1).replace(/^1/, '2');

/** Person 1 is registered twice in A-1, and again in B-2; person 3 in both. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', COOPERATIVES);
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,${PHONE},1985-01-02`,
    `A-1,${MISTYPED},M-2,KEZA Aliné,,`,
    `B-2,${nid(700)},M-3,Aline Keza,${PHONE},`,
    `A-1,${nid(30)},M-4,Mugabo Jean,,`,
    `B-2,${nid(3)},M-5,Mugabo Jean Bosco,,`,
    // A twin of person 1 with the same phone, and the same person in another cooperative.
    `A-1,${nid(2)},M-6,Keza Diane,${PHONE},1985-01-02`,
    `B-2,${nid(1)},M-7,Keza A.,${PHONE},1985-01-02`,
  ];
  await place.load('members', `${MEMBERS_HEADER},mobile,date_of_birth\n${rows.join('\n')}\n`, '--yes');
});

async function found(place: ImportPlace, ...args: string[]) {
  const { status, out, err } = await place.command('duplicates', '--json', ...args);
  assert.deepEqual([status, err], [0, '']);
  const { pairs } = JSON.parse(out) as {
    pairs: { score: number; reasons: string[]; members: { id: number; member: string }[]; command: string }[];
  };
  return pairs.map(({ members, command }) => [members.map(({ member }) => member).join(' '), command]);
}

test('duplicates lists pairs with the command that would settle each, the likeliest first', async (context) => {
  const place = await start(context);
  const merge = 'npm run -s registry -- members merge A-1/M-2 A-1/M-1 --reason "Registered twice"';
  const replace = 'npm run -s registry -- nid replace B-2/M-3 A-1/M-1 --reason "Registered twice"';
  const swapped = 'npm run -s registry -- nid replace B-2/M-5 A-1/M-4 --reason "Registered twice"';
  assert.deepEqual(await found(place), [
    ['A-1/M-2 A-1/M-1', merge],
    ['B-2/M-5 A-1/M-4', swapped],
    ['B-2/M-3 A-1/M-1', replace],
  ]);
  const { status, out } = await place.command('duplicates');
  assert.equal(status, 0);
  assert.match(
    out,
    /^ 75 {2}A-1\/M-2 KEZA Aliné · A-1\/M-1 Keza Aline\n {5}national IDs that differ in one digit,/,
  );
  assert.doesNotMatch(out, /[0-9]{16}/);
  // Copied, a command acts on the registry that the pair was found in.
  const elsewhere = await place.command('duplicates', '--db', place.databaseFile);
  const printed = elsewhere.out.split('\n').filter((line) => line.endsWith(`" --db ${place.databaseFile}`));
  assert.equal(printed.length, 3);
});

test('the commands that are printed settle the pairs', async (context) => {
  const place = await start(context);
  for (const [, command = ''] of await found(place)) {
    const [, words = ''] = / -- (.*) --reason/.exec(command) ?? [];
    // That two people become one, somebody has to say.
    const agreement = words.startsWith('nid replace') ? ['--same-person'] : [];
    const { status, err } = await place.command(...words.split(' '), ...agreement, '--yes', ...WHY);
    // Once the one pair is settled, the other one is, too, where both are of one person.
    assert.equal(status, 0, `${command}: ${err}`);
  }
  assert.deepEqual(await found(place), []);
});

test('a pair that was dismissed stays so for both people, until that is undone', async (context) => {
  const place = await start(context);
  const first = await place.command('duplicates', 'dismiss', 'A-1/M-2', 'A-1/M-1', ...WHY);
  assert.equal(first.status, 0, first.err);
  const dismissed = async () => JSON.parse((await place.command('duplicates', '--json')).out).dismissed;
  const pairs = async () => (await found(place)).map(([members]) => members);
  assert.deepEqual([await dismissed(), await pairs()], [1, ['B-2/M-5 A-1/M-4', 'B-2/M-3 A-1/M-1']]);
  // By any membership of the two, in any order, and again: it is the same correction.
  const again = await place.command('duplicates', 'dismiss', 'B-2/M-7', 'A-1/M-2', ...WHY, '--json');
  assert.deepEqual([again.status, JSON.parse(again.out).correction_id], [0, 3]);
  const said = await place.command('duplicates', 'dismiss', 'A-1/M-1', 'A-1/M-2', ...WHY);
  assert.match(
    said.out,
    /^Nothing was changed:\n[\s\S]* Note: The pair was set aside before, by correction 3\.\n/,
  );
  const listed = JSON.parse((await place.command('imports', 'show', '3', '--json')).out);
  assert.equal(listed.reason, WHY[1]);
  await place.command('nid', 'replace', 'A-1/M-2', nid(1).replace(/^1/, '3'), '--yes', ...WHY);
  assert.equal(await dismissed(), 1);
  await place.command('imports', 'undo', '3', '--yes');
  assert.equal(await dismissed(), 0);
  assert.equal((await pairs())[0], 'A-1/M-2 A-1/M-1');
});

test('a dismissed pair follows a member who is merged, and comes back with the undo', async (context) => {
  const place = await start(context);
  const rows = `A-1,${nid(13)},M-8,Mugabo Jean\n`;
  await place.load('members', `${MEMBERS_HEADER}\n${rows}`, '--yes');
  const pairs = async () =>
    (await found(place)).map(([members]) => members).filter((m) => m?.includes('M-5'));
  const [before, after] = [['A-1/M-8 B-2/M-5', 'B-2/M-5 A-1/M-4'], ['A-1/M-8 B-2/M-5']];
  assert.deepEqual((await pairs()).sort(), before);
  await place.command('duplicates', 'dismiss', '4', '5', ...WHY);
  assert.deepEqual(await pairs(), after);
  const merged = await place.command('members', 'merge', '4', '8', '--yes', ...WHY, '--json');
  assert.deepEqual(await pairs(), []);
  await place.command('imports', 'undo', String(JSON.parse(merged.out).correction_id), '--yes');
  assert.deepEqual(await pairs(), after);
});

test('nobody who was erased is in a pair, and a pair with one cannot be dismissed', async (context) => {
  const place = await start(context);
  await place.command('duplicates', 'dismiss', 'A-1/M-2', 'A-1/M-1', ...WHY);
  await place.command('persons', 'erase', nid(1), '--yes', ...WHY);
  const { pairs, dismissed } = JSON.parse((await place.command('duplicates', '--json')).out);
  assert.deepEqual(
    [dismissed, pairs.map(({ members }: { members: { id: number }[] }) => members.map(({ id }) => id))],
    [0, [[5, 4]]],
  );
  const { status, err } = await place.command('duplicates', 'dismiss', '1', '2', ...WHY);
  assert.deepEqual([status, err], [1, 'Member 1 was erased. Nothing was changed.\n']);
});

test('with --cooperative only pairs with a member of it are listed', async (context) => {
  const place = await start(context);
  const pairs = async (code: string) =>
    (await found(place, '--cooperative', code)).map(([members]) => members);
  assert.deepEqual(await pairs('A-1'), ['A-1/M-2 A-1/M-1', 'B-2/M-5 A-1/M-4', 'B-2/M-3 A-1/M-1']);
  // Of person 1, the membership in B-2.
  assert.deepEqual(await pairs('B-2'), ['B-2/M-5 A-1/M-4', 'B-2/M-7 A-1/M-2', 'B-2/M-3 A-1/M-1']);
  const { status, err } = await place.command('duplicates', '--cooperative', 'C-3');
  assert.deepEqual([status, err], [1, 'There is no cooperative C-3.\n']);
});

test('codes that a shell or a reader could misread are quoted, or left out', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  const rows = [`A-1,${nid(1)},${nid(1)},Keza Aline`, `A-1,${MISTYPED},M 2; 'x',Keza Aline`];
  await place.load('members', `${MEMBERS_HEADER}\n${rows.join('\n')}\n`, '--yes');
  const quoted = `'A-1/M 2; '\\''x'\\'''`;
  assert.deepEqual(await found(place), [
    [
      "A-1/M 2; 'x' A-1/(hidden)",
      `npm run -s registry -- members merge ${quoted} 1 --reason "Registered twice"`,
    ],
  ]);
});

test('a phone or a name that more than 20 people share is not compared, and is counted', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  // Multiples of 11 never differ in one digit.
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => `A-1,${nid(11 * i)},M-${i},Keza Aline,${PHONE},1985-01-02`);
  const load = (count: number) =>
    place.load('members', `${MEMBERS_HEADER},mobile,date_of_birth\n${rows(count).join('\n')}\n`, '--yes');
  await load(20);
  assert.equal((await found(place)).length, 190);
  await load(21);
  const { out } = await place.command('duplicates');
  assert.equal(
    out,
    'No likely duplicates were found.\nNot compared, as too many share them: 21 members with 1 phone.\n' +
      'Not compared, as too many share them: 21 members with 1 name with one date of birth.\n',
  );
});

/** Whom a command is about: how members are named, and signs that two of them are two people. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { command } from '../support/command.ts';
import {
  type ImportPlace,
  importPlace,
  MEMBERS_HEADER,
  members,
  nid,
  preparedPlace,
} from '../support/importing.ts';

const WHY = ['--reason', 'Both lists were joined'];
const DRY = [...WHY, '--dry-run'];

/** Two people in A-1, the first of them in B-2 too, where a national ID serves as member code. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\nC-3,Cyizere\n');
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,F,1985-01-02`,
    `A-1,${nid(2)},M-2,Mugabo Jean,M,1979-03-04`,
    `B-2,${nid(1)},${nid(1)},Keza Aline,,`,
  ];
  await place.load('members', `${MEMBERS_HEADER},gender,date_of_birth\n${rows.join('\n')}\n`);
});

test('members merge names both members, and asks whether two strangers are one person', async (context) => {
  const place = await start(context);
  const phones = [`A-1,${nid(1)},M-1,Keza Aline,0788123456`, `A-1,${nid(2)},M-2,Mugabo Jean,0788123457`];
  await place.load('members', `${MEMBERS_HEADER},mobile\n${phones.join('\n')}\n`);
  const shown =
    '  member 1: A-1 M-1, Keza Aline (goes)\n  member 2: A-1 M-2, Mugabo Jean (stays)\n' +
    '  1 member removed\n' +
    '  Note: Members 1 and 2 have different dates of birth. Same person?\n' +
    '  Note: Members 1 and 2 have different genders. Same person?\n' +
    '  Note: Members 1 and 2 have names without a common word. Same person?\n' +
    '  Note: Members 1 and 2 have different phones. Same person?\n';
  const dry = await place.command('members', 'merge', '--yes', '1', '2', ...DRY);
  assert.ok(dry.out.startsWith(`Nothing was changed. Without --dry-run:\n${shown}`), dry.out);
  const done = await place.command('members', 'merge', '--yes', '1', '2', ...WHY);
  assert.ok(done.out.includes(shown), done.out);
  assert.doesNotMatch(dry.out + done.out, /[0-9]{16}/);
});

test('members merge has no doubts where values are alike, or are known of one of the two only', async (context) => {
  const place = await start(context);
  const alike = `A-1,${nid(2)},M-2,ALINE Uwase,F,\n`;
  await place.load('members', `${MEMBERS_HEADER},gender,date_of_birth\n${alike}`, '--yes');
  const dry = await place.command('members', 'merge', '--yes', '1', '2', ...DRY, '--json');
  const { members, notes } = JSON.parse(dry.out);
  assert.deepEqual(
    notes.filter((note: string) => note.includes('Same person')),
    [],
  );
  assert.deepEqual(members, [
    { id: 1, cooperative_code: 'A-1', member_code: 'M-1', fate: 'goes' },
    { id: 2, cooperative_code: 'A-1', member_code: 'M-2', fate: 'stays' },
  ]);
});

test('a dry run names each member that changes, without national IDs', async (context) => {
  const place = await start(context);
  const inB = '  member 3: B-2 (hidden), Keza Aline\n';
  const both = `  member 1: A-1 M-1, Keza Aline\n${inB}  2 members changed\n`;
  const expected = [
    [['nid', 'replace', '--yes', nid(1), nid(9)], both],
    [['members', 'move', '--yes', '3', '--to', 'C-3'], `${inB}  1 member changed\n`],
    [['persons', 'deceased', '--yes', nid(1), '--on', '2025-05-20'], both],
    [['persons', 'erase', '--yes', nid(1)], both.replace('changed', 'erased')],
  ] as const;
  for (const [args, shown] of expected) {
    const text = await place.command(...args, ...DRY);
    assert.ok(text.out.startsWith(`Nothing was changed. Without --dry-run:\n${shown}`), text.out + text.err);
    const json = await place.command(...args, ...DRY, '--json');
    assert.doesNotMatch(text.out + json.out, /[0-9]{16}/);
    assert.doesNotMatch(json.out, /Keza/);
  }
});

test('nid replace notes what contradicts that two are one person', async (context) => {
  const place = await start(context);
  const dry = await place.command('nid', 'replace', '--same-person', nid(1), nid(2), ...DRY);
  assert.match(dry.out, /member 1: .* \(goes\)\n.*member 2: .* \(stays\)\n.*member 3: .*Keza Aline\n/);
  const contradicting = 'different dates of birth, different genders, names without a common word';
  assert.ok(dry.out.includes(`  Note: One person, in spite of ${contradicting}.\n`), dry.out);
});

test('nobody is named after an erasure', async (context) => {
  const place = await start(context);
  const erased = await place.command('persons', 'erase', '--yes', nid(1), ...WHY);
  assert.match(erased.out, /is done .*\n {2}2 members erased\n/);
  assert.doesNotMatch(erased.out, /Keza|M-1/);
});

test('history of a member finds the person by a former national ID, too', async (context) => {
  const place = await start(context);
  await place.command('nid', 'replace', '--yes', nid(1), nid(8), ...WHY);
  await place.command('nid', 'replace', '--yes', nid(8), nid(9), ...WHY);
  const current = await place.command('history', 'member', nid(9));
  assert.match(current.out, /A-1 M-1/);
  for (const former of [nid(1), nid(8)]) {
    const found = await place.command('history', 'member', former);
    assert.deepEqual([found.status, found.out], [0, current.out]);
  }
});

/** Members 1 and 2 of A-1 with the codes 3 and 2, and 3 and 4 of B-2 with the codes 1 and 7/8. */
async function startWithNumbers(context: TestContext): Promise<ImportPlace> {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const rows = [
    `A-1,${nid(1)},3,Keza`,
    `A-1,${nid(2)},2,Mugabo`,
    `B-2,${nid(1)},1,Keza`,
    `B-2,${nid(4)},7/8,Ineza`,
  ];
  await place.load('members', members(...rows));
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\n' +
      'A-1,3,P-1,2025-06-01,10\nB-2,1,P-2,2025-06-01,20\n',
  );
  return place;
}

test('every command that takes a member takes each of its names', async (context) => {
  const place = await startWithNumbers(context);
  const commands = [
    [['members', 'show'], [], (name: string) => new RegExp(`^named by .*${name}`, 's')],
    [['history', 'member'], [], () => /^A-1 2 \(id 2\)/],
    [['entries', 'list', 'production', '--member'], [], () => /^There is no such entry\./],
    [['members', 'move'], ['--to', 'B-2', ...DRY], () => /member 2: A-1 2, Mugabo/],
    [['members', 'merge', 'A-1/3'], DRY, () => /member 2: A-1 2, Mugabo \(stays\)/],
  ] as const;
  // Its id is no member code of anybody else.
  for (const name of ['2', 'A-1/2', 'a-1/2', `A-1/${nid(2)}`, nid(2)])
    for (const [before, after, expected] of commands) {
      const { status, out, err } = await place.command(...before, name, ...after);
      assert.equal(status, 0, `${[...before, name].join(' ')}: ${err}`);
      assert.match(out, expected(name.toUpperCase()));
    }
  const withSlash = await place.command('members', 'show', 'B-2/7/8');
  assert.match(withSlash.out, /^full_name +Ineza$/m);
});

test('members show prints what names the member and nobody else, its fields and counts', async (context) => {
  const place = await startWithNumbers(context);
  const { out } = await place.command('members', 'show', 'A-1/3', '--json');
  const { names, id, cooperative, status, counts } = JSON.parse(out);
  // Not 1, which is the code of another member, nor the national ID, which has two memberships.
  assert.deepEqual(names, ['A-1/3', `A-1/${nid(1)}`]);
  assert.deepEqual([id, cooperative, status, counts.deliveries, counts.loans], ['1', 'A-1', 'active', 1, 0]);
  const text = await place.command('members', 'show', '2');
  assert.match(text.out, new RegExp(`^named by +2\n +A-1/2\n +A-1/${nid(2)}\n +${nid(2)}\nid `));
  assert.match(text.out, /^registration_date +20\d\d-.*\ncreated_at/m);
  for (const name of names) assert.equal((await place.command('members', 'show', name, '--json')).out, out);
});

test('a number that is an id and a member code, and a national ID of several memberships, are asked about', async (context) => {
  const place = await startWithNumbers(context);
  const shown = '  1. A-1/3, Keza (id 1)\n  2. B-2/1, Keza (id 3)\n';
  const move = (name: string) => ['members', 'move', name, '--to', 'B-2', '--yes', ...WHY];
  for (const name of ['1', '3', nid(1)]) {
    const refused = await place.command(...move(name));
    assert.deepEqual(
      [refused.status, refused.err],
      [1, `Several members may be meant:\n${shown}No member was chosen. Name one, for example A-1/3.\n`],
    );
  }
  const nobodys = await place.command(...move('7'));
  assert.equal(nobodys.status, 1);
  assert.match(nobodys.err, /There is no member 7\./);
  assert.equal(place.value('SELECT count(*) FROM operations'), 3);
  const answered = async (answer: string) => {
    const ask = async (question: string) => {
      assert.equal(question, 'Which one? [1-2] ');
      return answer;
    };
    const env = { REGISTRY_DB: place.databaseFile };
    const { status, out } = await command(['members', 'show', '1'], env, place.clock, { ask });
    return [status, /^id +(\d)/m.exec(out)?.[1]];
  };
  assert.deepEqual(await answered('1'), [0, '1']);
  assert.deepEqual(await answered(' 2 '), [0, '3']);
  for (const answer of ['', '0', '3', 'x', 'y']) assert.deepEqual(await answered(answer), [1, undefined]);
});

test('a number that is no id names the members that have it as their code, and nobody is taken for another', async (context) => {
  const place = await startWithNumbers(context);
  await place.load('members', members(`A-1,${nid(9)},77,Gasore`), '--yes');
  const refused = await place.command('entries', 'remove', 'production', '--member', '77', '--yes', ...WHY);
  assert.equal(refused.status, 1);
  assert.match(refused.err, /^No member has this id\. [^\n]+, such as A-1\/77:\n {2}1\. A-1\/77, Gasore/);
});

test('what names nobody is refused without repeating it', async (context) => {
  const place = await startWithNumbers(context);
  for (const [name, status, message] of [
    ['x', 2, /Expected a member: an id, CODE\/MEMBERCODE/],
    ['A-1/', 2, /Expected a member/],
    [`${nid(2)}0`, 2, /Expected a member/],
    [nid(5), 1, /^No person has this national ID\.$/m],
    [`B-2/${nid(2)}`, 1, /^There is no member with this code or national ID in B-2\.$/m],
    ['Z-9/1', 1, /^There is no member with this code or national ID in Z-9\.$/m],
    ['99', 1, /^There is no member with this id\.$/m],
  ] as const) {
    const shown = await place.command('members', 'show', name);
    assert.deepEqual([shown.status, shown.out], [status, ''], name);
    assert.match(shown.err, message);
    assert.doesNotMatch(shown.err, /[0-9]{16}/);
  }
  await place.command('persons', 'erase', nid(2), '--yes', ...WHY);
  const erased = await place.command('members', 'show', '2');
  assert.deepEqual([erased.status, erased.out], [1, '']);
});

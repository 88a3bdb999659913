/** Whom a correction is about: members that are named, and signs that two of them are two people. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ImportPlace, importPlace, MEMBERS_HEADER, nid } from '../support/importing.ts';

const WHY = ['--reason', 'Both lists were joined'];
const DRY = [...WHY, '--dry-run'];

/** Two people in A-1, the first of them in B-2 too, where a national ID serves as member code. */
async function start(context: TestContext): Promise<ImportPlace> {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\nC-3,Cyizere\n');
  const rows = [
    `A-1,${nid(1)},M-1,Keza Aline,F,1985-01-02`,
    `A-1,${nid(2)},M-2,Mugabo Jean,M,1979-03-04`,
    `B-2,${nid(1)},${nid(1)},Keza Aline,,`,
  ];
  await place.load('members', `${MEMBERS_HEADER},gender,date_of_birth\n${rows.join('\n')}\n`);
  return place;
}

test('members merge names both members, and asks whether two strangers are one person', async (context) => {
  const place = await start(context);
  const shown =
    '  member 1: A-1 M-1, Keza Aline (goes)\n  member 2: A-1 M-2, Mugabo Jean (stays)\n' +
    '  1 member removed\n' +
    '  Note: Members 1 and 2 have names without a common word. Same person?\n' +
    '  Note: Members 1 and 2 have different dates of birth. Same person?\n' +
    '  Note: Members 1 and 2 have different genders. Same person?\n';
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
    [['persons', 'erase', '--yes', nid(1)], both],
  ] as const;
  for (const [args, shown] of expected) {
    const text = await place.command(...args, ...DRY);
    assert.ok(text.out.startsWith(`Nothing was changed. Without --dry-run:\n${shown}`), text.out + text.err);
    const json = await place.command(...args, ...DRY, '--json');
    assert.doesNotMatch(text.out + json.out, /[0-9]{16}/);
    assert.doesNotMatch(json.out, /Keza/);
  }
});

test('nid replace asks whether two who are merged were born on one day', async (context) => {
  const place = await start(context);
  const dry = await place.command('nid', 'replace', '--yes', nid(1), nid(2), ...DRY);
  assert.match(dry.out, /member 1: .* \(goes\)\n.*member 2: .* \(stays\)\n.*member 3: .*Keza Aline\n/);
  assert.match(dry.out, /Note: Members 1 and 2 have different dates of birth\. Same person\?\n/);
});

test('nobody is named after an erasure', async (context) => {
  const place = await start(context);
  const erased = await place.command('persons', 'erase', '--yes', nid(1), ...WHY);
  assert.match(erased.out, /is done .*\n {2}2 members changed\n/);
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

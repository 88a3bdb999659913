/** What `imports undo` says where erasures and taken references stand against it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  COOPERATIVES,
  LOANS_HEADER,
  member,
  members,
  nid,
  preparedPlace,
  SAVINGS_HEADER,
} from '../support/importing.ts';

const WHY = ['--reason', 'test'];
const FILES = [
  ['cooperatives', COOPERATIVES],
  ['members', members(member(1), member(2))],
  [
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\n' +
      'A-1,M-2,P-2,2025-06-01,7\nA-1,M-1,P-1,2025-06-01,10\n',
  ],
  ['loans', `${LOANS_HEADER}\nA-1,M-1,L-1,1000,12,approved,0,2025-01-01,,2025-01-01\n`],
  ['savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,123,2025-06-01\n`],
  [
    'payments',
    'cooperative_code,loan_reference,reference,amount,method,paid_at\nA-1,L-1,Q-1,10,cash,2025-06-03\n',
  ],
] as const;
const ENTRIES = [
  [3, 'production', 'delivery P-1'],
  [4, 'loans', 'loan L-1'],
  [5, 'savings', 'savings transaction T-1'],
  [6, 'payments', 'payment Q-1'],
] as const;

const start = preparedPlace(async (place) => {
  for (const [kind, content] of FILES) {
    const { status, out, err } = await place.load(kind, content);
    assert.equal(status, 0, out + err);
  }
});

test('an import that holds entries of an erased person is not undone, and nothing else is advised', async (context) => {
  const place = await start(context);
  // Corrects a value of the person's delivery, which an undo would put back.
  const corrected = FILES[2][1].replace('10\n', '11\n');
  assert.equal((await place.load('production', corrected)).status, 0);
  assert.equal((await place.command('persons', 'erase', '--yes', nid(1), ...WHY)).status, 0);
  const sums = () => place.query('SELECT sum(grams) AS grams, count(*) AS count FROM production_entries');
  const before = sums();
  for (const [id, , row] of [...ENTRIES, [7, 'production', 'delivery P-1'] as const]) {
    const refused = await place.command('imports', 'undo', '--yes', String(id));
    assert.equal(refused.status, 1);
    assert.ok(
      refused.err.includes(`  ${row} belongs to a person who was erased since, by correction 8\n`),
      refused.err,
    );
    assert.ok(
      refused.err.endsWith(`An erasure cannot be undone, and so import ${id} cannot be undone either.\n`),
      refused.err,
    );
    const { out } = await place.command('imports', 'undo', '--yes', String(id), '--json');
    assert.deepEqual(JSON.parse(out).blockers[0].reason, 'erased');
  }
  const list = await place.command('imports', 'undo', '--yes', '2');
  assert.match(list.err, /a member was erased since, by correction 8\n/);
  assert.doesNotMatch(list.err, /Undo (?:import|correction)/);
  assert.deepEqual(sums(), before);
  assert.equal((await place.command('check')).status, 0);
});

test('a removed entry of a person who was erased since is not put back', async (context) => {
  const place = await start(context);
  for (const args of [
    ['production', '--member', '1'],
    ['savings', '--member', '1'],
  ])
    assert.equal((await place.command('entries', 'remove', '--yes', ...args, ...WHY)).status, 0);
  assert.equal((await place.command('persons', 'erase', '--yes', nid(1), ...WHY)).status, 0);
  for (const id of ['7', '8']) {
    const refused = await place.command('imports', 'undo', '--yes', id);
    assert.equal(refused.status, 1, id);
    assert.match(refused.err, new RegExp(`and so correction ${id} cannot be undone either\\.\n$`));
  }
});

test('a removed entry is not put back once its member is in another cooperative, or was merged', async (context) => {
  for (const [entry, ...args] of [
    ['production', 'members', 'move', '--yes', '1', '--to', 'B-2'],
    ['savings', 'members', 'move', '--yes', '1', '--to', 'B-2'],
    ['loans', 'members', 'merge', '--yes', '1', '2'],
  ] as const) {
    const place = await start(context);
    assert.equal((await place.command('imports', 'undo', '--yes', '6')).status, 0);
    assert.equal(
      (await place.command('entries', 'remove', '--yes', entry, '--member', '1', ...WHY)).status,
      0,
    );
    const { status, err } = await place.command(...args, ...WHY);
    assert.equal(status, 0, err);
    const refused = await place.command('imports', 'undo', '--yes', '7');
    assert.match(refused.err, /\b(?:member|account) \S+ was changed since, by correction 8\n/, refused.out);
    assert.equal((await place.command('check')).status, 0);
    assert.equal((await place.command('imports', 'undo', '--yes', '8')).status, 0);
    assert.equal((await place.command('imports', 'undo', '--yes', '7')).status, 0);
  }
});

test('an undo that would put back a reference which was given again says so', async (context) => {
  const place = await start(context);
  await place.command('entries', 'remove', '--yes', 'production', '--member', '1', ...WHY);
  assert.equal((await place.load('production', FILES[2][1], '--yes')).status, 0);
  const refused = await place.command('imports', 'undo', '--yes', '7');
  assert.match(refused.err, /delivery P-1, from import 8, has a reference that would be put back\n/);
});

test('an undo does not put back a national ID that leads to somebody else since', async (context) => {
  const place = await start(context);
  const renumbered = member(1).replace(nid(1), nid(5));
  assert.equal((await place.load('members', members(renumbered), '--yes')).status, 0);
  assert.equal((await place.load('members', members(`B-2,${nid(1)},M-9,Person 9`))).status, 0);
  assert.equal((await place.command('nid', 'replace', '--yes', nid(1), nid(6), ...WHY)).status, 0);
  const refused = await place.command('imports', 'undo', '--yes', '7');
  assert.match(
    refused.err,
    /member M-9, from correction 9, has a member code or national ID that would be put/,
  );
  assert.equal((await place.command('check')).status, 0);
});

test('an undo does not put back a national ID that somebody has in another cooperative since', async (context) => {
  const place = await start(context);
  assert.equal(
    (await place.command('nid', 'replace', '--yes', '--release', nid(1), nid(5), ...WHY)).status,
    0,
  );
  assert.equal((await place.load('members', members(`B-2,${nid(1)},M-9,Person 9`))).status, 0);
  const refused = await place.command('imports', 'undo', '--yes', '7');
  assert.match(refused.err, /member M-9, from import 8, has a member code or national ID that would be put/);
  assert.equal((await place.command('check')).status, 0);
});

test("a merge is not undone once the number that would come back was given up, and is a stranger's", async (context) => {
  const place = await start(context);
  // Person 3 keeps the number in B-2 first.
  const added = members(member(3), member(4), member(3, 'B-2'));
  assert.equal((await place.load('cooperatives', 'code,name\nC-3,Coderva\n')).status, 0);
  assert.equal((await place.load('members', added)).status, 0);
  const correct = async (...args: string[]) =>
    assert.equal((await place.command(...args, '--yes', ...WHY)).status, 0);
  await correct('members', 'merge', '3', '4');
  await correct('nid', 'replace', '--release', nid(3), nid(6));
  assert.equal((await place.load('members', members(`C-3,${nid(3)},M-9,Person 9`))).status, 0);
  const refused = await place.command('imports', 'undo', '--yes', '9');
  assert.match(refused.err, /member M-9, from import 11, has a member code or national ID that would be put/);
  assert.equal((await place.command('check')).status, 0);
});

test('a merge is not undone while a later one lets its member lead elsewhere', async (context) => {
  const place = await start(context);
  // Person 3 keeps the number in B-2, and nobody has entries: each merge only takes a member away.
  const added = members(member(3), member(4), member(5), member(3, 'B-2'));
  assert.equal((await place.load('members', added)).status, 0);
  for (const [from, into] of [
    ['3', '4'],
    ['4', '5'],
  ] as const)
    assert.equal((await place.command('members', 'merge', '--yes', from, into, ...WHY)).status, 0);
  const refused = await place.command('imports', 'undo', '--yes', '8');
  assert.match(refused.err, /member M-3 was changed since, by correction 9\nFirst undo correction 9\.\n$/);
  for (const id of ['9', '8']) assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
  assert.equal((await place.command('check')).status, 0);
});

test('the undo of a merge counts the member who came back', async (context) => {
  const place = await start(context);
  await place.command('members', 'merge', '--yes', '1', '2', ...WHY);
  const undone = await place.command('imports', 'undo', '--yes', '7');
  assert.match(undone.out, /^Correction 7 is undone: 4 changed or removed rows put back \(locked/);
});

test('a refused undo names what builds on the import in turn, and the newest comes first', async (context) => {
  const place = await start(context);
  const corrected = (kg: string) => FILES[2][1].replace('10\n', `${kg}\n`);
  for (const kg of ['11', '12', '13'])
    assert.equal((await place.load('production', corrected(kg))).status, 0);
  // The members import has rows of imports 3 to 5 only; on those build 6 and 7 to 9.
  const { err } = await place.command('imports', 'undo', '--yes', '2');
  const [, listed = ''] = /\nFirst undo, in this order: import (.*)\.\n$/.exec(err) ?? [];
  assert.deepEqual(listed.split(', import '), ['9', '8', '7', '6', '5', '4', '3'], err);
  for (const id of [...listed.split(', import '), '2'])
    assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0, id);
});

test('a number that a replaced one leads to is not taken back before that', async (context) => {
  const place = await start(context);
  const renumbered = members(member(1)).replace(nid(1), nid(4));
  const loaded = await place.load('members', renumbered, '--yes');
  assert.equal(loaded.status, 0, loaded.err);
  const replaced = await place.command('nid', 'replace', '--yes', '--same-person', nid(2), nid(4), ...WHY);
  assert.equal(replaced.status, 0, replaced.err);
  const refused = await place.command('imports', 'undo', '--yes', '7');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /by correction 8\n/);
  for (const id of ['8', '7']) {
    const undone = await place.command('imports', 'undo', '--yes', id);
    assert.equal(undone.status, 0, undone.err);
  }
  assert.equal((await place.command('check')).status, 0);
});

test('what took a number from the other membership goes first, and the import not before itself', async (context) => {
  const place = await start(context);
  const command = async (...args: string[]) => {
    const result = await place.command(...args);
    assert.equal(result.status, 0, args.join(' ') + result.err);
  };
  await command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  assert.equal((await place.load('cooperatives', 'code,name\nB-2,B\n', '--yes')).status, 0);
  const both =
    'cooperative_code,identity_card,member_code,full_name\n' +
    `B-2,${nid(9)},M-1,Person 1\nA-1,${nid(2)},M-2,Person Two\n`;
  assert.equal((await place.load('members', both, '--yes')).status, 0);
  await command('nid', 'replace', '--yes', '--member', 'A-1/M-1', nid(9), nid(8), ...WHY);
  const { status, out } = await place.command('imports', 'undo', '9', '--yes', '--json');
  assert.equal(status, 1);
  assert.deepEqual(JSON.parse(out).undo_first, [10]);
  await command('imports', 'undo', '--yes', '10');
  await command('imports', 'undo', '--yes', '9');
  await command('check');
});

test('what took a number from the other membership goes first, also when it was before the import', async (context) => {
  const place = await start(context);
  const command = async (...args: string[]) => {
    const result = await place.command(...args);
    assert.equal(result.status, 0, args.join(' ') + result.err);
  };
  const load = async (kind: 'cooperatives' | 'members', text: string) => {
    const { status, err } = await place.load(kind, text, '--yes');
    assert.equal(status, 0, err);
  };
  const list = (code: string) =>
    `cooperative_code,identity_card,member_code,full_name\n${code},${nid(9)},M-1,Person 1\n`;
  await command('nid', 'replace', '--yes', nid(1), nid(9), ...WHY);
  await load('cooperatives', 'code,name\nB-2,B\nC-3,C\n');
  await load('members', list('B-2'));
  await command('nid', 'replace', '--yes', '--member', 'A-1/M-1', nid(9), nid(8), ...WHY);
  await load('members', list('C-3'));
  await command('imports', 'undo', '--yes', '9');
  const { status, out } = await place.command('imports', 'undo', '11', '--yes', '--json');
  assert.equal(status, 1);
  assert.deepEqual(JSON.parse(out).undo_first, [10]);
  await command('imports', 'undo', '--yes', '10');
  await command('imports', 'undo', '--yes', '11');
  await command('check');
});

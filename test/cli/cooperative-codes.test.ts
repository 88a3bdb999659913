/** A cooperative is named by its code, in any letter case, wherever a command takes one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { members, nid, preparedPlace } from '../support/importing.ts';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(`A-1,${nid(1)},M-1,Keza`, `A-1,${nid(2)},M-2,Keza`));
  const delivery = 'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-1,P-1,2025-05-25,10\n';
  await place.load('production', delivery);
});

const WHY = ['--reason', 'Asked for', '--dry-run'];

/** Each with the code where `A-1` is; one for every argument and option that takes a code. */
const COMMANDS: readonly (readonly string[])[] = [
  ['statistics', 'A-1'],
  ['history', 'cooperative', 'A-1'],
  ['history', 'member', 'A-1/M-1'],
  ['entries', 'list', 'production', '--cooperative', 'A-1', '--reference', 'P-1'],
  ['entries', 'remove', 'production', '--cooperative', 'A-1', '--reference', 'P-1', ...WHY],
  ['duplicates', '--cooperative', 'A-1'],
  ['export', 'members', '--cooperative', 'A-1'],
  ['members', 'show', 'A-1/M-1'],
  ['members', 'merge', 'A-1/M-1', 'A-1/M-2', ...WHY],
  ['members', 'move', '1', '--to', 'B-2', ...WHY],
  ['members', 'transfer', '1', '--to', 'B-2', '--code', 'X-1', '--on', '2025-06-15', ...WHY],
  ['cooperatives', 'merge', 'A-1', 'B-2', ...WHY],
];

for (const args of COMMANDS) {
  test(`${args.slice(0, 2).join(' ')} takes a code in lower case, too`, async (context) => {
    const place = await start(context);
    const lower = args.map((each) => each.replace(/A-1|B-2/g, (code) => code.toLowerCase()));
    const [expected, outcome] = [await place.command(...args), await place.command(...lower)];
    assert.deepEqual([expected.status, outcome.status], [0, 0], outcome.err);
    const plain = (text: string) => text.replace(/\d+\.\d{3} s/g, '');
    assert.equal(plain(outcome.out), plain(expected.out));
  });
}

test('files and keys name a cooperative in lower case, too', async (context) => {
  const place = await start(context);
  assert.equal((await place.load('members', members(`a-1,${nid(3)},M-3,Keza Aline`))).status, 0);
  const file = `identity_card,member_code,full_name\n${nid(4)},M-4,Keza Jeanne\n`;
  assert.equal((await place.load('members', file, '--cooperative', 'b-2')).status, 0);
  assert.deepEqual(place.query('SELECT id, cooperative_id AS cooperative FROM members WHERE id > 2'), [
    { id: 3, cooperative: 1 },
    { id: 4, cooperative: 2 },
  ]);
  const created = ['keys', 'create', '--name', 'bank', '--scope', 'members:read', '--cooperative', 'a-1'];
  assert.equal((await place.command(...created)).status, 0);
  assert.match((await place.command('keys', 'list')).out, /A-1/);
});

test('what cannot be a code is refused without being repeated: it may be a mistyped national ID', async (context) => {
  const place = await start(context);
  const mistyped = '1 1985 8 9000123 0 42';
  for (const args of COMMANDS) {
    const wrong = args.map((each) => (/^(A-1|B-2)$/.test(each) ? mistyped : each));
    if (!wrong.includes(mistyped)) continue;
    const { status, out, err } = await place.command(...wrong);
    assert.deepEqual([status, out], [2, ''], args.join(' '));
    assert.match(err, /^Expected the code of a cooperative\. Use only the characters A-Z, 0-9 and "-"\.$/m);
    assert.ok(!err.includes('9000123'), err);
  }
});

/** Files that still name members by codes and cooperatives of before a merge or a move. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COOPERATIVES, type ImportPlace, member, members, nid, preparedPlace } from '../support/importing.ts';

const WHY = ['--reason', 'test'];
const HEADER = 'cooperative_code,identity_card,member_code,delivered_at,kg\n';
const OTHER_NUMBER = 'The member with this member code has another national ID.';

/** Person 1 is in both cooperatives too, so that the number of member 1 keeps finding that membership. */
const start = preparedPlace(async (place) => {
  await place.load('cooperatives', COOPERATIVES);
  await place.load('members', members(member(1), member(2), member(3), `B-2,${nid(1)},N-1,Person 1`));
});

async function correct(place: ImportPlace, ...args: string[]): Promise<void> {
  const { status, err } = await place.command(...args, ...WHY);
  assert.equal(status, 0, err);
}

async function report(place: ImportPlace, kind: string, content: string, ...more: string[]) {
  const { status, out } = await place.load(kind, content, '--json', ...more);
  return { status, file: JSON.parse(out).files[0] };
}

test('entries that name a merged member by code or number belong to the one who stays', async (context) => {
  const place = await start(context);
  const rows = ['M-1,', `M-1,${nid(1)}`, `,${nid(1)}`].map((who, i) => {
    const [code, number] = who.split(',');
    return `A-1,${number},${code},2025-06-0${i + 1},10\n`;
  });
  const ledger = HEADER + rows.join('');
  assert.equal((await report(place, 'production', ledger)).file.created, 3);
  await correct(place, 'members', 'merge', '--yes', '1', '2');
  const { status, file } = await report(place, 'production', ledger);
  assert.deepEqual([status, file.created, file.unchanged], [0, 0, 3]);
  const next = await report(place, 'production', ledger.replaceAll('2025-06', '2025-05'));
  assert.deepEqual([next.status, next.file.created], [0, 3]);
  assert.deepEqual(place.query('SELECT DISTINCT member_id FROM production_entries'), [{ member_id: 2 }]);
});

test('a former member code leads nowhere with the number of somebody else, or when somebody else has it', async (context) => {
  const place = await start(context);
  await correct(place, 'members', 'merge', '--yes', '1', '2');
  const other = await report(place, 'production', `${HEADER}A-1,${nid(3)},M-1,2025-06-01,10\n`);
  assert.equal(other.status, 1);
  assert.equal(other.file.errors[0].message, OTHER_NUMBER);
  assert.equal((await place.load('members', members(`A-1,${nid(8)},M-1,Person 8`))).status, 0);
  const taken = await report(place, 'production', `${HEADER}A-1,,M-1,2025-06-01,10\n`);
  assert.equal(taken.status, 0);
  assert.deepEqual(
    place.query(
      'SELECT m.identity_card AS card FROM production_entries e JOIN members m ON m.id = e.member_id',
    ),
    [{ card: nid(8) }],
  );
});

test('a former member code of two members leads to neither of those who stay', async (context) => {
  const place = await start(context);
  await place.load('cooperatives', 'code,name\nC-3,Dukore\n');
  const more = [`B-2,${nid(2)},N-2,Person 2`, `C-3,${nid(2)},X-2,Person 2`, `C-3,${nid(1)},X-1,Person 1`];
  assert.equal((await place.load('members', members(...more, `B-2,${nid(3)},M-1,Person 3`))).status, 0);
  await place.load('members', members(`C-3,${nid(3)},X-3,Person 3`));
  await correct(place, 'cooperatives', 'merge', '--yes', 'A-1', 'C-3');
  await correct(place, 'cooperatives', 'merge', '--yes', 'B-2', 'C-3');
  const sure = await report(place, 'production', `${HEADER}C-3,,M-2,2025-06-01,10\n`);
  assert.equal(sure.status, 0);
  const unsure = await report(place, 'production', `${HEADER}C-3,,M-1,2025-06-01,10\n`);
  assert.equal(unsure.status, 1);
});

test('a list does not register a merged member again whose number belongs to another membership', async (context) => {
  const place = await start(context);
  await correct(place, 'members', 'merge', '--yes', '1', '2');
  const before = place.query('SELECT id, identity_card, member_code FROM members ORDER BY id');
  const { status, file } = await report(place, 'members', members(`A-1,${nid(1)},M-1,Person 2`), '--yes');
  assert.deepEqual([status, file.created, file.changed, file.unchanged, file.kept], [0, 0, 0, 1, 2]);
  assert.deepEqual(place.query('SELECT id, identity_card, member_code FROM members ORDER BY id'), before);
  // With a code that nobody had, the person joins.
  const joins = await report(place, 'members', members(`A-1,${nid(1)},M-9,Person 1`), '--yes');
  assert.deepEqual([joins.status, joins.file.created], [0, 1]);
});

test('a list that registers a member again whom a correction moved stops until somebody looked', async (context) => {
  const place = await start(context);
  const move = ['members', 'move', '--yes', '2', '--to', 'B-2'];
  await correct(place, ...move);
  assert.equal((await place.command('imports', 'undo', '--yes', '3')).status, 0);
  await correct(place, ...move);
  await correct(place, 'members', 'merge', '--yes', '1', '4');
  const list = members(member(1), member(2), member(3));
  const stopped = await place.load('members', list);
  assert.equal(stopped.status, 1);
  assert.match(stopped.err, /warning: 1 member of this list was moved to B-2 by correction 4\. \(line 3\)/);
  assert.match(stopped.err, /warning: 1 member of this list was moved to B-2 by correction 5\. \(line 2\)/);
  assert.doesNotMatch(stopped.err, /by correction 3/);
  assert.equal((await place.load('members', list, '--yes')).status, 0);
  // They are members of both by now.
  const again = await place.load('members', list);
  assert.equal(again.status, 0);
  assert.doesNotMatch(again.err, /moved to/);
});

/** `members find`, and what an erasure leaves of names in their index. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { COOPERATIVES, type ImportPlace, importPlace, members, nid } from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';

async function start(context: TestContext, ...names: string[]): Promise<ImportPlace> {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  const rows = names.map((name, i) => `${i % 2 === 0 ? 'A-1' : 'B-2'},${nid(i)},M-${i},${name}`);
  const { status, err } = await place.load('members', members(...rows));
  assert.equal(status, 0, err);
  return place;
}

test('members find names cooperative, code, status and name of everybody with such a name', async (context) => {
  const place = await start(context, 'Uwimana Béatrice', "Béatrice N'Diaye", nid(5), 'Mukamana Béa');
  place.query("UPDATE members SET status = 'withdrawn' WHERE id = 2 RETURNING 1");
  const found = await place.command('members', 'find', 'beatr');
  assert.deepEqual([found.status, found.err], [0, '']);
  assert.equal(
    found.out,
    'COOPERATIVE  CODE  STATUS     NAME\n' +
      'A-1          M-0   active     Uwimana Béatrice\n' +
      "B-2          M-1   withdrawn  Béatrice N'Diaye\n",
  );
  const { out } = await place.command('members', 'find', 'ndia', 'béa', '--json');
  assert.deepEqual(JSON.parse(out), {
    found: 1,
    members: [{ cooperative: 'B-2', member_code: 'M-1', status: 'withdrawn', full_name: "Béatrice N'Diaye" }],
  });
  for (const [args, status, printed] of [
    [['habimana'], 0, 'No members were found.\n'],
    [['be'], 2, 'The name: Ensure each word has at least 3 characters.\n'],
  ] as const) {
    const done = await place.command('members', 'find', ...args);
    assert.deepEqual([done.status, done.out + done.err], [status, printed]);
  }
  assert.ok(!(await place.command('members', 'find', nid(5))).out.includes(nid(5)));
});

test('after an erasure no index has the name of the person, or a former one', async (context) => {
  const place = await start(context, 'QVJKIMANA Jean', 'Uwimana Jean', 'Uwase');
  place.query("UPDATE members SET full_name = 'XWKHABITA Jean' WHERE id = 1 RETURNING 1");
  // As the index has them, and no row does.
  const words = ['qvjkimana', 'xwkhabita', 'qvjkim', 'xwkhab'];
  for (const word of words) assert.deepEqual(filesWith(place.folder, [word]), [`registry.db: ${word}`], word);
  const done = await place.command('persons', 'erase', '--yes', nid(0), '--reason', 'Request');
  assert.equal(done.status, 0, done.err);
  assert.deepEqual(filesWith(place.folder, words), []);
  assert.match((await place.command('members', 'find', 'jean')).out, /^.*\nB-2 .* Uwimana Jean\n$/);
  assert.equal((await place.command('members', 'find', 'erased')).out, 'No members were found.\n');
  assert.equal((await place.command('check')).status, 0);
});

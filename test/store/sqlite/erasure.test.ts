/** What an erasure covers, and what becomes of it when the file cannot be rewritten. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCorrections } from '../../../src/people/corrections/correction-store.ts';
import { clearFreeSpace, ERASED_VALUES, isUncleared } from '../../../src/people/corrections/persons-erase.ts';
import { importPlace, member, members, nid } from '../../support/importing.ts';
import { filesWith } from '../../support/registry-files.ts';
import { openFile, SqliteError } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

/** What sums need, and what says nothing about anybody. */
const STAYING = [
  ...['id', 'cooperative_id', 'registration_date', 'created_at', 'updated_at'],
  ...['production', 'loans', 'savings'],
];

test('every column of a member is either erased or named among those that stay', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\n');
  const columns = place.query<{ name: string }>("SELECT name FROM pragma_table_info('members')");
  assert.deepEqual(
    columns.map(({ name }) => name).sort(),
    [...Object.keys(ERASED_VALUES), ...STAYING].sort(),
  );
});

test('a file that cannot be rewritten stays marked as uncleared, and says why', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\n');
  await place.load('members', members(member(1)));
  await place.command('persons', 'erase', '--yes', nid(1), '--reason', 'Request');
  const db = openFile(place.databaseFile);
  context.after(() => db.close());
  assert.equal(isUncleared(db), false);
  db.exec('UPDATE erased_persons SET cleared_at = NULL');
  assert.equal(isUncleared(db), true);
  const clear = () => clearFreeSpace(db, 1, 0);
  const working = db.exec.bind(db);
  for (const [code, uncleared] of [
    ['SQLITE_FULL', 'disk'],
    ['SQLITE_BUSY', 'writers'],
  ] as const) {
    db.exec = () => {
      throw new SqliteError('not now', code);
    };
    assert.equal(clear(), uncleared);
    assert.equal(isUncleared(db), true);
  }
  db.exec = working;
  assert.equal(clear(), undefined);
  assert.equal(isUncleared(db), false);
});

test('a reader that keeps the log from being emptied is named, and the command is repeated after it', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\n');
  await place.load('members', members(`A-1,${nid(1)},ZX-1,Zimulinda Aline`));
  // Who was erased, cleared and registered again is not clear after the next erasure.
  await place.command('persons', 'erase', '--yes', nid(1), '--reason', 'Request');
  const back = members(`A-1,${nid(1)},ZX-1,Zimulinda Aline`);
  assert.equal((await place.load('members', back, '--despite-erasure')).status, 0);
  const corrections = openCorrections(storageAt(place.databaseFile), 20);
  const erase = async (): Promise<string> => {
    const options = { reason: 'Request', systemUser: 'operator', nowSeconds: 1 };
    const result = await corrections.run('erasePerson', { nid: nid(1) }, options);
    return result.outcome === 'refused' ? String(result.message) : result.notes.join();
  };
  const reader = openFile(place.databaseFile);
  reader.exec('BEGIN');
  reader.raw.prepare('SELECT count(*) FROM members').get();
  assert.match(await erase(), /Another process reads the registry, so the log or free space/);
  assert.ok(filesWith(place.folder, ['Zimulinda']).length > 0);
  assert.match(await erase(), /^This person was erased\. Another process reads the registry/);
  reader.exec('COMMIT');
  reader.close();
  assert.match(await erase(), /no longer hold values of erased persons/);
  await corrections.close();
  assert.deepEqual(filesWith(place.folder, ['Zimulinda', nid(1)]), []);
});

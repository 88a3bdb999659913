/** Persons stay erased when an older backup is restored (docs/backup.md#erased-persons). */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { command } from '../support/command.ts';
import { type ImportPlace, members, nid, placeWithoutRegistry, preparedPlace } from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';
import { openFile } from '../support/sqlite.ts';

const WHY = ['--reason', 'Request of 12 June', '--yes'];
const ZIMULINDA = `A-1,${nid(1)},ZX-1,Zimulinda Aline`;
const PERSONAL = [nid(1), 'Zimulinda', 'ZX-1'];

const run = async (place: ImportPlace, ...args: string[]): Promise<{ out: string; err: string }> => {
  const { status, out, err } = await place.command(...args);
  assert.equal(status, 0, `${args.join(' ')}: ${err}${out}`);
  return { out, err };
};
const load = async (place: ImportPlace, content: string, ...more: string[]): Promise<void> => {
  const { status, err } = await place.load('members', content, ...more);
  assert.equal(status, 0, err);
};
const erase = (place: ImportPlace, n: number) => run(place, 'persons', 'erase', nid(n), ...WHY);
const restore = (place: ImportPlace, backup: string, ...more: string[]) =>
  run(place, 'restore', join(place.folder, backup), '--replace', ...more);
const backUp = (place: ImportPlace, name: string) => run(place, 'backup', join(place.folder, name));
const erasuresFile = (place: ImportPlace): string => join(place.folder, 'registry.erasures.db');

/** Persons 1, 2 and 3, a backup of them, and then person 1 is erased. */
const start = preparedPlace(async (place) => {
  // Without keys, so that a restore finds nothing once the registry is removed.
  rmSync(place.databaseFile.replace('.db', '.keys.db'));
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await load(place, members(ZIMULINDA, `A-1,${nid(2)},M-2,Mugabo Jean`, `B-2,${nid(3)},M-3,Uwera Solange`));
  await backUp(place, 'before');
  rmSync(join(place.folder, 'members.csv'));
  await erase(place, 1);
});

/** The files of the registry, without the folders of replaced files. */
function filesOf(place: ImportPlace): string[] {
  for (const name of readdirSync(place.folder))
    if (name.includes('.replaced-')) rmSync(join(place.folder, name), { recursive: true });
  return filesWith(place.folder, PERSONAL);
}
const numbers = (place: ImportPlace): unknown[] =>
  place.query("SELECT identity_card FROM members WHERE status <> 'erased' ORDER BY 1").flatMap(Object.values);

test('a person who was erased after the backup is erased again by a restore, which says so', async (context) => {
  const place = await start(context);
  assert.equal(statSync(erasuresFile(place)).mode & 0o777, 0o600);
  const { out, err } = await restore(place, 'before');
  assert.match(out, /^Erased again, as they were erased after the backup: members 1\.$/m);
  assert.match(out, /^The last erasure that is known is of \d{4}-\S+Z\.$/m);
  assert.doesNotMatch(err, /unknown/);
  assert.deepEqual(filesOf(place), []);
  assert.deepEqual(numbers(place), [nid(2), nid(3)]);
  await run(place, 'check');
  const again = await place.load('members', members(ZIMULINDA));
  assert.match(again.err, /This person was erased\. --despite-erasure imports the row\./);
  const refused = await place.command('persons', 'erase', nid(1), ...WHY);
  assert.equal(refused.err, 'This person was erased. Nothing was changed.\n');
  // A second restore erases again; a backup made after a restore has nobody to be erased.
  assert.match((await restore(place, 'before')).out, /members 1\.$/m);
  await backUp(place, 'after');
  assert.doesNotMatch((await restore(place, 'after')).out, /Erased again/);
  assert.deepEqual(
    JSON.parse((await restore(place, 'before', '--json')).out).erasures.members_erased_again,
    [1],
  );
});

test('it is erased again also when the registry itself is lost or damaged', async (context) => {
  const place = await start(context);
  rmSync(place.databaseFile);
  const lost = await restore(place, 'before');
  assert.match(lost.out, /members 1\.$/m);
  assert.doesNotMatch(lost.err, /unknown/);
  writeFileSync(place.databaseFile, 'not a database');
  assert.match((await restore(place, 'before')).out, /members 1\.$/m);
  assert.deepEqual(filesOf(place), []);
  await run(place, 'check');
});

test('on a new machine --erasures gives the newer file; without it the report says what is unknown', async (context) => {
  const place = await start(context);
  const elsewhere = placeWithoutRegistry(context);
  cpSync(join(place.folder, 'before'), join(elsewhere.folder, 'before'), { recursive: true });
  const without = await restore(elsewhere, 'before');
  assert.match(
    without.err,
    /^Erasures since \S+Z are unknown: persons erased since are back\. Restore again with --erasures/,
  );
  assert.equal(numbers(elsewhere).length, 3);
  const { out, err } = await restore(elsewhere, 'before', '--erasures', erasuresFile(place));
  assert.match(out, /members 1\.$/m);
  assert.doesNotMatch(err, /unknown/);
  assert.deepEqual(filesOf(elsewhere), []);
  // The location keeps the erasures; the file of a newer backup has them too.
  assert.match((await restore(elsewhere, 'before')).out, /members 1\.$/m);
  await backUp(place, 'newer');
  const third = placeWithoutRegistry(context);
  cpSync(join(place.folder, 'before'), join(third.folder, 'before'), { recursive: true });
  const newer = join(place.folder, 'newer', 'registry.erasures.db');
  assert.match((await restore(third, 'before', '--erasures', newer)).out, /members 1\.$/m);
  for (const each of [elsewhere, third]) await run(each, 'check');
});

test('a spare machine says each time since when erasures are unknown, until it gets the newer file', async (context) => {
  const place = await start(context);
  const spare = placeWithoutRegistry(context);
  const restoreThere = (...more: string[]) =>
    run(spare, 'restore', join(place.folder, 'before'), '--replace', ...more);
  for (const _ of [1, 2, 3]) {
    const { err } = await restoreThere();
    assert.match(err, /^Erasures since \S+Z are unknown: persons erased since are back\./);
    assert.equal(numbers(spare).length, 3);
  }
  // A backup made after the erasure lacks the person; erasures after that backup are unknown.
  await backUp(place, 'after');
  const { err } = await run(spare, 'restore', join(place.folder, 'after'), '--replace');
  assert.match(err, /^Erasures since \S+Z are unknown/);
  assert.deepEqual(numbers(spare), [nid(2), nid(3)]);
  await erase(place, 2);
  const given = await restoreThere('--erasures', erasuresFile(place));
  assert.match(given.out, /members 1, 2\.$/m);
  assert.doesNotMatch(given.err, /unknown/);
  assert.deepEqual(numbers(spare), [nid(3)]);
});

test('where the registry that was backed up has gone on, no erasure is unknown', async (context) => {
  const place = await start(context);
  await backUp(place, 'after');
  const first = await restore(place, 'after');
  assert.doesNotMatch(first.err, /unknown/);
});

test('a file that has no erasures is refused, and nothing is restored', async (context) => {
  const place = await start(context);
  await run(place, 'keys', 'create', '--name', 'Reader', '--scope', 'members:read');
  const unreadable = 'is not a file of erasures that can be read. It';
  const wrong = {
    'none.db': 'There is no file F.',
    before: 'F is not a file.',
    'before/manifest.json': `F ${unreadable} cannot be used as a database: file is not a database.`,
    'before/registry.db': `F ${unreadable} holds a registry. Name registry.erasures.db instead.`,
    'registry.keys.db': `F ${unreadable} holds the keys of a registry. Name registry.erasures.db instead.`,
  };
  for (const [name, message] of Object.entries(wrong)) {
    const file = join(place.folder, name);
    const refused = await place.command(
      ...['restore', join(place.folder, 'before'), '--replace', '--erasures', file],
    );
    assert.equal(refused.status, 2, refused.out);
    assert.equal(refused.err, `${message.replace('F', file)}\n`);
    assert.ok(!existsSync(`${place.databaseFile}.restoring`));
  }
  assert.deepEqual(numbers(place), [nid(2), nid(3)]);
});

test('who was registered again is not erased by a newer backup; an older one has only what was erased', async (context) => {
  const place = await start(context);
  await load(place, members(`A-1,${nid(1)},ZX-9,Zimulinda Again`), '--despite-erasure');
  await backUp(place, 'newer');
  assert.doesNotMatch((await restore(place, 'newer')).out, /Erased again/);
  assert.deepEqual(numbers(place), [nid(1), nid(2), nid(3)]);
  assert.match((await restore(place, 'before')).out, /members 1\.$/m);
  assert.deepEqual(numbers(place), [nid(2), nid(3)]);
  // The restore of the older backup did not count as another erasure.
  assert.doesNotMatch((await restore(place, 'newer')).out, /Erased again/);
  assert.deepEqual(numbers(place), [nid(1), nid(2), nid(3)]);
  // A second erasure counts, even within the same second.
  await erase(place, 1);
  assert.match((await restore(place, 'newer')).out, /members 4\.$/m);
  assert.deepEqual(numbers(place), [nid(2), nid(3)]);
  assert.deepEqual(filesOf(place), []);
  await run(place, 'check');
});

test('over HTTP a person can be registered again after a restore', async (context) => {
  const place = await start(context);
  await restore(place, 'before');
  const app = await startApp(context, { folder: place.folder });
  const body = {
    cooperative_id: '1',
    identity_card: nid(1),
    member_code: 'ZX-9',
    full_name: 'Zimulinda Again',
  };
  assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  await backUp(place, 'newer');
  const elsewhere = placeWithoutRegistry(context);
  const backup = join(place.folder, 'newer');
  const { out } = await run(elsewhere, 'restore', backup, '--erasures', erasuresFile(place));
  assert.doesNotMatch(out, /Erased again/);
  assert.deepEqual(numbers(elsewhere), [nid(1), nid(2), nid(3)]);
});

test('of two members whose numbers were interchanged in the backup, the one who was erased is erased again', async (context) => {
  const place = placeWithoutRegistry(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\n');
  await load(place, members(`A-1,${nid(2)},ZX-1,Zimulinda Aline`, `A-1,${nid(1)},M-2,Mugabo Jean`));
  await backUp(place, 'before');
  for (const [old, current] of [[2, 5] as const, [1, 2] as const, [5, 1] as const])
    await run(place, 'nid', 'replace', nid(old), nid(current), '--release', ...WHY);
  rmSync(join(place.folder, 'members.csv'));
  const rows = "SELECT id, full_name, identity_card FROM members WHERE status <> 'erased'";
  assert.deepEqual(place.query(`${rows} AND id = 1`), [
    { id: 1, full_name: 'Zimulinda Aline', identity_card: nid(1) },
  ]);
  await erase(place, 1);
  assert.match((await restore(place, 'before')).out, /members 1\.$/m);
  assert.deepEqual(place.query(rows), [{ id: 2, full_name: 'Mugabo Jean', identity_card: nid(1) }]);
  filesOf(place);
  assert.deepEqual(filesWith(place.folder, ['Zimulinda', 'ZX-1']), []);
  await run(place, 'check');
});

test('erasures of another registry that was at the location are moved aside, and refused when they are named', async (context) => {
  const place = await start(context);
  const folder = join(place.folder, 'other');
  const other = join(folder, 'registry.db');
  mkdirSync(folder);
  const at = (...args: string[]) => command([...args, '--db', other], {}, place.clock);
  writeFileSync(join(folder, 'c.csv'), 'code,name\nA-1,Trial\n');
  writeFileSync(join(folder, 'm.csv'), members(`A-1,${nid(3)},M-9,Somebody Else`));
  assert.equal((await at('import', 'cooperatives', join(folder, 'c.csv'), '--create')).status, 0);
  assert.equal((await at('import', 'members', join(folder, 'm.csv'))).status, 0);
  assert.equal((await at('persons', 'erase', nid(3), '--yes', '--reason', 'Trial')).status, 0);
  const named = await place.command(
    ...['restore', join(place.folder, 'before'), '--replace'],
    ...['--erasures', join(folder, 'registry.erasures.db')],
  );
  assert.equal(named.status, 2);
  assert.match(named.err, /registry\.erasures\.db is a file of erasures of another registry\./);
  // The real registry replaces the trial, and has the person whom the trial erased.
  const restored = await at('restore', join(place.folder, 'before'), '--replace', '--json');
  assert.equal(restored.status, 0, restored.err);
  const { replaced, erasures } = JSON.parse(restored.out);
  assert.deepEqual(erasures.members_erased_again, []);
  assert.ok(readdirSync(replaced).includes('registry.erasures.db'));
  assert.match((await at('persons', 'show', nid(3))).out, /M-3/);
});

test('check compares the registry with the file of erasures, and a backup completes the file', async (context) => {
  const place = await start(context);
  assert.match((await run(place, 'check')).out, /^hashes of erased persons +ok, 1$/m);
  rmSync(erasuresFile(place));
  const without = await place.command('check');
  assert.equal(without.status, 1);
  assert.match(without.out, /^hashes of erased persons +wrong: 1 are only in the registry$/m);
  await backUp(place, 'after');
  await run(place, 'check');
  // The registry of an older backup, put in place by hand.
  cpSync(join(place.folder, 'before', 'registry.db'), place.databaseFile);
  const put = await place.command('check');
  assert.match(put.out, /^hashes of erased persons +wrong: 1 are only in the file of erasures$/m);
  await backUp(place, 'by-hand');
  assert.match((await restore(place, 'by-hand')).out, /members 1\.$/m);
  await run(place, 'check');
});

test('an erasure that was killed before it was in the file is not forgotten by a restore', async (context) => {
  const place = await start(context);
  rmSync(erasuresFile(place));
  assert.match((await restore(place, 'before')).out, /members 1\.$/m);
  await run(place, 'check');
  rmSync(erasuresFile(place));
  await place.command('persons', 'erase', nid(1), ...WHY);
  await run(place, 'check');
});

test('a file of erasures that is damaged stops a restore before anything has changed', async (context) => {
  const place = await start(context);
  rmSync(erasuresFile(place));
  writeFileSync(erasuresFile(place), 'not a database, and longer than the header of one '.repeat(20));
  const refused = await place.command('restore', join(place.folder, 'before'), '--replace');
  assert.equal(refused.status, 2);
  assert.match(refused.err, /registry\.erasures\.db cannot be used as a database: .*\.\n$/);
  assert.ok(!existsSync(`${place.databaseFile}.restoring`));
  assert.deepEqual(numbers(place), [nid(2), nid(3)]);
});

test('a file with more erasures than a function takes arguments is restored too', async (context) => {
  const place = await start(context);
  const erasures = openFile(erasuresFile(place));
  erasures.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
    INSERT INTO erased_persons (identity_hash, erased_at) SELECT randomblob(32), i FROM n`);
  erasures.close();
  assert.match((await restore(place, 'before')).out, /^The last erasure that is known is of \d{4}-\S+Z\.$/m);
});

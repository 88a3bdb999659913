/** What root's commands create belongs to the owner of the folder, so that the service can open it. */
import assert from 'node:assert/strict';
import fs, { chownSync, readdirSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openRegistry } from '../../src/open-registry.ts';
import { type ImportPlace, member, members, nid, placeWithoutRegistry } from '../support/importing.ts';
import { storageAt } from '../support/storage.ts';

const IS_ROOT = process.getuid?.() === 0;
/** Of the folder: nobody's, where the test may give it away. */
const OWNER = IS_ROOT ? 65_534 : (process.getuid?.() ?? 0);

/**
 * A place in a folder of that owner, in a process that is root or is taken for it.
 * @returns it, and the owners that new files and folders were given
 */
function start(context: TestContext): { readonly place: ImportPlace; readonly given: number[] } {
  const place = placeWithoutRegistry(context);
  if (IS_ROOT) chownSync(place.folder, OWNER, OWNER);
  const given: number[] = [];
  const { fchownSync, lchownSync } = fs;
  context.mock.method(process as { getuid: () => number }, 'getuid', () => 0);
  context.mock.method(fs, 'fchownSync', (handle: number, uid: number, gid: number) => {
    given.push(uid);
    fchownSync(handle, uid, gid);
  });
  context.mock.method(fs, 'lchownSync', (path: string, uid: number, gid: number) => {
    given.push(uid);
    lchownSync(path, uid, gid);
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return { place, given };
}

/** The names in a folder, those in folders too, that belong to somebody else. */
const othersIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true }).filter(
    (name) => statSync(join(folder, `${name}`)).uid !== OWNER,
  ) as string[];

const KEY = ['keys', 'create', '--create', '--name', 'Bank', '--scope', 'members:read'];

test('the first key, the registry, erasures, a backup and a restore belong to the owner of the folder', async (context) => {
  const { place, given } = start(context);
  assert.equal((await place.command(...KEY)).status, 0);
  assert.deepEqual([...new Set(given)], [OWNER]);
  const load = async (kind: string, text: string) => {
    const file = join(place.folder, `${kind}.csv`);
    fs.writeFileSync(file, text);
    if (IS_ROOT) chownSync(file, OWNER, OWNER);
    assert.equal((await place.run(kind, file)).status, 0);
  };
  await load('cooperatives', 'code,name\nA-1,Abahuje\n');
  await load('members', members(member(1), member(2)));
  assert.equal((await place.command('persons', 'erase', nid(1), '--yes', '--reason', 'Request')).status, 0);
  const backup = join(place.folder, 'backups', 'one');
  assert.equal((await place.command('backup', backup, '--yes')).status, 0);
  assert.equal((await place.command('restore', backup, '--replace')).status, 0);
  assert.deepEqual(othersIn(place.folder), []);
  assert.ok(readdirSync(place.folder).some((name) => name === 'registry.erasures.db'));
  assert.deepEqual([...new Set(given)], [OWNER]);
  // Three databases, two staging files, and what a backup and a restore create.
  assert.ok(given.length >= 10, `${given.length}`);
});

test('missing folders belong to whom the one above them belongs', async (context) => {
  const { place, given } = start(context);
  const file = join(place.folder, 'data', 'deep', 'registry.db');
  assert.equal((await place.command(...KEY, '--db', file)).status, 0);
  assert.deepEqual([...new Set(given)], [OWNER]);
  assert.deepEqual(othersIn(place.folder), []);
});

test('while a registry is open, the files of SQLite belong to its owner, too', async (context) => {
  const { place } = start(context);
  const registry = openRegistry(storageAt(place.databaseFile));
  context.after(() => registry.close());
  assert.deepEqual(readdirSync(place.folder).sort(), ['registry.db', 'registry.db-shm', 'registry.db-wal']);
  assert.deepEqual(othersIn(place.folder), []);
});

test('what cannot be given away is created nevertheless', async (context) => {
  const { place } = start(context);
  context.mock.method(fs, 'fchownSync', () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  });
  syncBuiltinESMExports();
  assert.equal((await place.command(...KEY)).status, 0);
});

/** No registry by accident: what is left of one is never taken for an empty location. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openRegistry } from '../../src/index.ts';
import { temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { serveProcess } from '../support/serving.ts';
import { ledgerPlaceIn, reading } from '../support/sqlite-ledger.ts';

async function start(context: TestContext) {
  const folder = temporaryFolder(context);
  const db = await copyRegistry(folder);
  return {
    db,
    keys: db.replace('.db', '.keys.db'),
    on: (...args: string[]) => command([...args, '--db', db]),
  };
}

const LEFT =
  / (is missing|is empty), and other files of a registry are there: .* Restore a backup \(npm .* restore DIR/;

const CREATING = [
  ['serve', '--create', '--port', '0'],
  ['seed'],
  ['import', 'cooperatives', 'data/samples/cooperatives.csv', '--create'],
  ['keys', 'create', '--create', '--name', 'a', '--scope', 'members:read'],
];

for (const [what, leave] of [
  ['missing', (db: string) => rmSync(db)],
  ['empty', (db: string) => truncateSync(db)],
] as const)
  test(`a registry that is ${what} beside its keys is refused by every command, and created by none`, async (context) => {
    const { db, keys, on } = await start(context);
    leave(db);
    for (const args of [
      ...CREATING,
      ['serve', '--port', '0'],
      ['members', 'find', 'Uwase'],
      ['status'],
      ['check'],
    ]) {
      const { status, err } = await on(...args);
      assert.equal(status, 2, args.join(' '));
      assert.match(err, LEFT, args.join(' '));
    }
    assert.equal(existsSync(db) ? statSync(db).size : 0, 0);
    assert.ok(statSync(keys).size > 0);
    assert.throws(() => openRegistry({ db }), LEFT);
  });

test('a file in the place of the ledger ends no command with an error of the system', async (context) => {
  const folder = temporaryFolder(context);
  const db = join(folder, 'registry.db');
  writeFileSync(join(folder, 'registry.ledger'), 'in the way');
  const { err } = await command(['status', '--db', db]);
  assert.doesNotMatch(err, /ENOTDIR/);
});

for (const name of ['registry.db-wal', 'registry.erasures.db', 'registry.webhooks.db', 'registry.ledger.db'])
  test(`what is left of ${name} is not touched`, async (context) => {
    const folder = temporaryFolder(context);
    const db = join(folder, 'registry.db');
    writeFileSync(join(folder, name), 'writes that were acknowledged');
    for (const args of CREATING)
      assert.match((await command([...args, '--db', db])).err, LEFT, args.join(' '));
    assert.equal(readFileSync(join(folder, name), 'utf8'), 'writes that were acknowledged');
  });

test('a folder of the access ledger that is left is not begun again', async (context) => {
  const folder = temporaryFolder(context);
  const db = join(folder, 'registry.db');
  await ledgerPlaceIn(folder).openLedger().record([reading()]);
  createEmptyRegistry(db);
  const { status } = await command(['members', 'find', 'Uwase', '--db', db]);
  assert.equal(status, 0);
  for (const name of ['registry.db', 'registry.keys.db']) rmSync(join(folder, name));
  assert.match((await command(['serve', '--create', '--port', '0', '--db', db])).err, LEFT);
});

test('serve begins a registry at an empty location only with --create', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  const { status, err } = await command(['serve', '--port', '0', '--db', db]);
  assert.deepEqual([status, existsSync(db)], [2, false]);
  assert.match(err, /^There is no registry at .*add --create to begin an empty one\.$/m);
});

test('a service whose database is moved away stops writing, is not ready, and says so', async (context) => {
  const folder = temporaryFolder(context);
  const db = join(folder, 'registry.db');
  createEmptyRegistry(db);
  const { server, port } = await serveProcess(context, db);
  const url = `http://127.0.0.1:${port}`;
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  renameSync(db, join(folder, 'moved.db'));
  assert.equal((await fetch(`${url}/readyz`)).status, 503);
  assert.notEqual(await server.ended, 0);
  assert.match(
    server.output(),
    /registry\.db was moved or replaced while it was served: nothing is written any more/,
  );
});

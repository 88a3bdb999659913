/** `check`: whether a database is sound. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startApp, temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { startedPlace } from '../support/importing.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { openFile } from '../support/sqlite.ts';

test('check exits 2 without a database and for a file that is not one', async (context) => {
  const folder = temporaryFolder(context);
  assert.equal((await command(['check', '--db', join(folder, 'none.db')])).status, 2);
  writeFileSync(
    join(folder, 'text.db'),
    'this is not a database, only a text that is long enough to be looked at\n'.repeat(40),
  );
  const outcome = await command(['check', '--db', join(folder, 'text.db')]);
  assert.equal(outcome.status, 2);
  assert.match(outcome.err, /cannot be used as a database/);
});

test('check exits 1 for a damaged file, also where it cannot be opened, and says to restore a backup', async (context) => {
  const place = await startedPlace(context);
  place.query('PRAGMA wal_checkpoint(TRUNCATE)');
  const whole = readFileSync(place.databaseFile);
  for (const damaged of [
    whole.subarray(0, whole.length / 2),
    Buffer.concat([whole.subarray(0, 8_192), Buffer.alloc(whole.length - 8_192, 7)]),
  ]) {
    const file = join(place.folder, 'damaged.db');
    writeFileSync(file, damaged);
    const { status, out, err } = await command(['check', '--db', file]);
    assert.equal(status, 1, err);
    assert.match(out, /registry: integrity .*malformed/s);
    assert.match(err, /Restore the last backup/);
  }
});

for (const [what, damage] of [
  ['a counter that is wrong', "INSERT INTO member_counts VALUES (1, 'active', 0, 1)"],
  ['a block that is wrong', "INSERT INTO member_small_blocks VALUES (0, 'active', 1)"],
  [
    'a row that refers to nothing',
    'PRAGMA foreign_keys = OFF; UPDATE members SET cooperative_id = 99 WHERE id = 1',
  ],
] as const) {
  test(`check exits 1 for ${what}`, async (context) => {
    const app = await startApp(context);
    const cooperative = await app.send('/cooperatives', { method: 'POST', body: { code: 'A', name: 'A' } });
    const body = {
      cooperative_id: cooperative.json.id,
      identity_card: '1198589000123042',
      member_code: '1',
      full_name: 'Uwase',
    };
    assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
    const env = { REGISTRY_DB: app.config.storage };
    assert.equal((await command(['check'], env)).status, 0);
    const db = openFile(app.config.storage, { waitMs: 1_000 });
    db.exec(damage.replace('WHERE rowid_alias', ''));
    db.close();
    const outcome = await command(['check'], env);
    assert.equal(outcome.status, 1, outcome.out);
    assert.match(outcome.out, /NOT sound/);
  });
}

test('every command has a help text, and no command is wrong usage', async () => {
  for (const name of ['serve', 'seed', 'import', 'keys', 'check']) {
    const outcome = await command([name, '--help']);
    assert.equal(outcome.status, 0);
    assert.match(outcome.out, /Usage: /);
  }
  assert.equal((await command([])).status, 2);
  assert.equal((await command(['fly'])).status, 2);
});

test('check reports damage of registry and keys, and other commands do so in one line', async (context) => {
  const db = await copyRegistry(temporaryFolder(context));
  const damage = (file: string) => {
    const handle = openSync(file, 'r+');
    // The second page, over its header.
    writeSync(handle, Buffer.alloc(4_096, 0xee), 0, 4_096, 4_096);
    closeSync(handle);
  };
  damage(db);
  const registry = await command(['check', '--db', db]);
  assert.equal(registry.status, 1);
  assert.match(registry.out, /registry: integrity +\S/);
  assert.doesNotMatch(registry.out, /registry: integrity +ok/);
  damage(join(dirname(db), 'registry.keys.db'));
  assert.match((await command(['check', '--db', db])).out, /NOT sound/);
  const keys = await command(['keys', 'list', '--db', db]);
  assert.equal(keys.status, 1);
  assert.match(keys.err, /^The database file is damaged: .*\. Restore a copy\.\n$/);
});

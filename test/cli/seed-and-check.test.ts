/** `seed` and `check`: the demo data, dated up to today, in a sound database. */
import assert from 'node:assert/strict';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { startedPlace } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

/** Runs commands on a database. */
const commandOn =
  (databaseFile: string) =>
  (...args: string[]) =>
    command(args, { REGISTRY_DB: databaseFile });

// 2028-02-29: the demo data must also move over a leap day.
const LEAP_NOON = Date.UTC(2028, 1, 29, 10);

test('seed makes a registry that can be served, with nothing in the future', async (context) => {
  const folder = temporaryFolder(context);
  const env = { REGISTRY_DB: join(folder, 'registry.db') };
  const seeded = await command(['seed'], env, testClock(LEAP_NOON));
  assert.equal(seeded.status, 0, seeded.err);
  const { keys } = JSON.parse(readFileSync(join(folder, 'demo-keys.json'), 'utf8'));
  assert.equal(statSync(join(folder, 'demo-keys.json')).mode & 0o777, 0o600);
  const curls = [
    ...seeded.out.matchAll(/curl -H 'Authorization: Bearer (\S+)' '?http:\/\/[^/]+\/api\/v1(\/[^\s']+)'?/g),
  ];
  assert.equal(curls.length, 2);
  const app = await startApp(context, { folder, startMs: LEAP_NOON });
  for (const [, key = '', path = ''] of curls) {
    assert.equal(key, keys[0].key);
    assert.equal((await app.send(path, { key })).status, 200);
  }
  const person = (await app.send(curls[0]?.[2] ?? '', { key: keys[0].key })).json;
  assert.ok(person.memberships.length >= 2);
  assert.ok(person.name_variants.length >= 2);
  for (const membership of person.memberships) assert.ok(membership.production_summary.entries_count > 0);
  const db = openFile(env.REGISTRY_DB);
  const latest = db.raw
    .prepare(
      `SELECT max((SELECT max(delivered_at) FROM production_entries),
                  (SELECT max(transacted_at) FROM savings_transactions))`,
    )
    .pluck()
    .get() as number;
  db.close();
  assert.ok(latest * 1000 <= LEAP_NOON);
  assert.ok(latest * 1000 > LEAP_NOON - 3 * 86_400_000);
});

test('seed refuses a database that holds data, and with --if-empty leaves it as it is', async (context) => {
  const folder = temporaryFolder(context);
  const env = { REGISTRY_DB: join(folder, 'registry.db') };
  const first = await command(['seed', '--json'], env);
  assert.equal(first.status, 0, first.err);
  assert.equal(JSON.parse(first.out).keys.length, 5);
  const again = await command(['seed'], env);
  assert.equal(again.status, 1);
  assert.match(again.err, /already holds data/);
  const left = await command(['seed', '--if-empty', '--json'], env);
  assert.equal(left.status, 0);
  assert.equal(left.out, first.out);
});

test('seed --csv only writes the demo files, which import as any folder does', async (context) => {
  const folder = temporaryFolder(context);
  const files = join(folder, 'csv');
  assert.equal((await command(['seed', '--csv', files])).status, 0);
  assert.deepEqual(readdirSync(files).sort(), [
    'cooperatives.csv',
    'loans.csv',
    'members.csv',
    'production.csv',
    'savings.csv',
  ]);
  const env = { REGISTRY_DB: join(folder, 'registry.db') };
  const imported = await command(['import', files, '--json'], env);
  assert.equal(imported.status, 0, imported.out.slice(0, 500));
  const counts = JSON.parse(imported.out).files.map(
    (file: { kind: string; created: number }) => file.created,
  );
  assert.deepEqual(counts, [40, 2250, 24492, 300, 9609]);
  const checked = await command(['check', '--json'], env);
  assert.equal(checked.status, 0, checked.out);
  assert.equal(JSON.parse(checked.out).sound, true);
});

test('seed --csv replaces no file but may be repeated', async (context) => {
  const folder = temporaryFolder(context);
  const seed = () => command(['seed', '--csv', folder], {}, testClock(LEAP_NOON));
  writeFileSync(join(folder, 'members.csv'), 'mine\n');
  const refused = await seed();
  assert.deepEqual(
    [refused.status, refused.out, refused.err],
    [2, '', `${folder} already has members.csv. Choose an empty folder.\n`],
  );
  assert.deepEqual(readdirSync(folder), ['members.csv']);
  assert.equal(readFileSync(join(folder, 'members.csv'), 'utf8'), 'mine\n');
  rmSync(join(folder, 'members.csv'));
  assert.equal((await seed()).status, 0);
  rmSync(join(folder, 'loans.csv'));
  assert.equal((await seed()).status, 0);
  assert.equal(readdirSync(folder).length, 5);
});

test('seed --csv refuses the options that are about a database', async (context) => {
  const folder = temporaryFolder(context);
  for (const more of [['--db', join(folder, 'registry.db')], ['--if-empty']]) {
    const { status, err } = await command(['seed', '--csv', join(folder, 'csv'), ...more]);
    assert.equal(status, 2);
    assert.match(err, /cannot be used with option/);
  }
  const { err } = await command(['seed', '--db', '']);
  assert.doesNotMatch(err, /--csv/);
  assert.deepEqual(readdirSync(folder), []);
});

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
  ['a counter that is wrong', 'UPDATE member_counts SET members = members + 1 WHERE rowid_alias'],
  ['a block that is wrong', "UPDATE member_blocks SET members = members + 1 WHERE status = 'any'"],
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
  const folder = temporaryFolder(context);
  const databaseFile = join(folder, 'registry.db');
  const run = commandOn(databaseFile);
  assert.equal((await run('seed')).status, 0);
  const damage = (file: string) => {
    const handle = openSync(file, 'r+');
    // The second page, over its header.
    writeSync(handle, Buffer.alloc(4_096, 0xee), 0, 4_096, 4_096);
    closeSync(handle);
  };
  damage(databaseFile);
  const registry = await run('check');
  assert.equal(registry.status, 1);
  assert.match(registry.out, /registry: integrity +\S/);
  assert.doesNotMatch(registry.out, /registry: integrity +ok/);
  damage(join(folder, 'registry.keys.db'));
  assert.match((await run('check')).out, /NOT sound/);
  const keys = await run('keys', 'list');
  assert.equal(keys.status, 1);
  assert.match(keys.err, /^The database file is damaged: .*\. Restore a copy\.\n$/);
});

test('a database folder that cannot be created is reported in one line', async (context) => {
  const folder = temporaryFolder(context);
  for (const impossible of ['/proc/x/y.db', join(folder, 'file', 'x.db')]) {
    writeFileSync(join(folder, 'file'), '');
    const { status, err } = await commandOn(impossible)('seed');
    assert.equal(status, 2);
    assert.match(err, /^\S+ cannot be created: .*\n$/);
  }
});

test('seed --csv says why a folder cannot be created or written to', { timeout: 30_000 }, async (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const impossible of ['/proc/x/y', join(file, 'below'), '/proc/self/fd/x']) {
    const { status, err } = await command(['seed', '--csv', impossible]);
    assert.equal(status, 2);
    assert.match(err, /^\S+ cannot be created: .*\n$/);
  }
  for (const unwritable of [file, '/proc/self']) {
    const { status, err } = await command(['seed', '--csv', unwritable]);
    assert.equal(status, 2);
    assert.match(err, /^\S+ cannot be written to: .*\n$/);
  }
});

test('each database has demo keys of its own', async (context) => {
  const folder = temporaryFolder(context);
  for (const name of ['one', 'two'])
    assert.equal((await commandOn(join(folder, `${name}.db`))('seed')).status, 0);
  const [one, two] = ['one', 'two'].map((name) =>
    readFileSync(join(folder, `${name}.demo-keys.json`), 'utf8'),
  );
  assert.notEqual(one, two);
});

/** `seed`: the demo data, dated up to today. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { issueDemoKeys } from '../../src/demo/seed-command.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { startApp, temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { openFile } from '../support/sqlite.ts';

// 2028-02-29: the demo data must also move over a leap day.
const LEAP_NOON = Date.UTC(2028, 1, 29, 10);
const CLOCK = testClock(LEAP_NOON);

/** Seeded once for all tests here. */
const folder = mkdtempSync(join(tmpdir(), 'registry-seed-test-'));
const env = { REGISTRY_DB: join(folder, 'registry.db') };
const seed = (...args: string[]) => command(['seed', ...args], env, CLOCK);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let seeding: ReturnType<typeof seed> | undefined;

/** @returns what it printed */
async function seededOnce(): Promise<string> {
  seeding ??= seed('--json');
  const { status, out, err } = await seeding;
  assert.equal(status, 0, err);
  return out;
}

test('seed makes a registry that can be served, with nothing in the future', async (context) => {
  await seededOnce();
  const { keys } = JSON.parse(readFileSync(join(folder, 'demo-keys.json'), 'utf8'));
  assert.equal(statSync(join(folder, 'demo-keys.json')).mode & 0o777, 0o600);
  const shown = await seed('--if-empty');
  const curls = [
    ...shown.out.matchAll(/curl -H 'Authorization: Bearer (\S+)' '?http:\/\/[^/]+\/api\/v1(\/[^\s']+)'?/g),
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

test('seed refuses a database that holds data, and with --if-empty leaves it as it is', async () => {
  const seeded = await seededOnce();
  assert.equal(JSON.parse(seeded).keys.length, 5);
  const again = await seed();
  assert.equal(again.status, 1);
  assert.match(again.err, /already holds data/);
  const left = await seed('--if-empty', '--json');
  assert.deepEqual([left.status, left.out], [0, seeded]);
});

test('each database has demo keys of its own', async (context) => {
  const other = temporaryFolder(context);
  const console = { env: {}, clock: CLOCK, out() {}, err() {}, terminal: undefined };
  const [one, two] = await Promise.all(
    ['one', 'two'].map(async (name) => {
      await issueDemoKeys(console, readConfig({ REGISTRY_DB: join(other, `${name}.db`) }));
      return JSON.parse(readFileSync(join(other, `${name}.demo-keys.json`), 'utf8'));
    }),
  );
  assert.equal(one.keys.length, 5);
  assert.notDeepEqual(one, two);
});

test('seed --csv writes the demo files, and replaces no file', async (context) => {
  const files = temporaryFolder(context);
  const write = () => command(['seed', '--csv', files], {}, CLOCK);
  writeFileSync(join(files, 'members.csv'), 'mine\n');
  const refused = await write();
  assert.deepEqual(
    [refused.status, refused.out, refused.err],
    [2, '', `${files} already has members.csv. Choose an empty folder.\n`],
  );
  assert.deepEqual(readdirSync(files), ['members.csv']);
  assert.equal(readFileSync(join(files, 'members.csv'), 'utf8'), 'mine\n');
  rmSync(join(files, 'members.csv'));
  assert.equal((await write()).status, 0);
  rmSync(join(files, 'loans.csv'));
  assert.equal((await write()).status, 0);
  const names = ['cooperatives', 'loans', 'members', 'production', 'savings'];
  assert.deepEqual(
    readdirSync(files).sort(),
    names.map((name) => `${name}.csv`),
  );
});

test('no demo entry is in the future where the day begins earlier than in Rwanda', async (context) => {
  const files = temporaryFolder(context);
  // Half past midnight in the zone.
  const clock = testClock(Date.UTC(2027, 4, 9, 10, 30));
  const { status, err } = await command(['seed', '--csv', files], { TIME_ZONE_OFFSET: '+14:00' }, clock);
  assert.equal(status, 0, err);
  for (const name of ['production.csv', 'savings.csv']) {
    const instants = readFileSync(join(files, name), 'utf8').match(/20[0-9-]+T[0-9:]+\+02:00/g) ?? [];
    const newest = Math.max(...instants.map((instant) => Date.parse(instant)));
    assert.ok(newest <= clock.now() && newest > clock.now() - 3 * 86_400_000, name);
  }
});

test('seed --csv refuses the options that are about a database', async (context) => {
  const place = temporaryFolder(context);
  for (const more of [['--db', join(place, 'registry.db')], ['--if-empty']]) {
    const { status, err } = await command(['seed', '--csv', join(place, 'csv'), ...more]);
    assert.equal(status, 2);
    assert.match(err, /cannot be used with option/);
  }
  const { err } = await command(['seed', '--db', '']);
  assert.doesNotMatch(err, /--csv/);
  assert.deepEqual(readdirSync(place), []);
});

test('a folder that cannot be created or written to is reported in one line', {
  timeout: 30_000,
}, async (context) => {
  const file = join(temporaryFolder(context), 'file');
  writeFileSync(file, '');
  for (const [args, what] of [
    [['--db', '/proc/x/y.db'], 'created'],
    [['--db', join(file, 'x.db')], 'created'],
    [['--csv', '/proc/x/y'], 'created'],
    [['--csv', join(file, 'below')], 'created'],
    [['--csv', '/proc/self/fd/x'], 'created'],
    [['--csv', file], 'written to'],
    [['--csv', '/proc/self'], 'written to'],
  ] as const) {
    const { status, err } = await command(['seed', ...args]);
    assert.equal(status, 2);
    assert.match(err, new RegExp(`^\\S+ cannot be ${what}: .*\\n$`));
  }
});

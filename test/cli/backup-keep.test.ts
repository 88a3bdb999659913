/** `backup DIR --keep`: a folder for each backup, and which of them stay. */
import assert from 'node:assert/strict';
import fs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { openFile } from '../support/sqlite.ts';

async function prepare(context: TestContext) {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const all = join(root, 'all');
  mkdirSync(all);
  return {
    root,
    db,
    all,
    /** At an instant such as `2026-01-01T00:00:00Z`. */
    backUpAt: (instant: string, ...args: readonly string[]) => {
      const now = () => Date.parse(instant);
      return command(['backup', all, '--db', db, ...args], {}, { now, monotonicMs: () => 0 });
    },
    async backUpAs(name: string): Promise<void> {
      assert.equal((await command(['backup', join(all, name), '--db', db])).status, 0);
    },
  };
}

test('the newest backups stay, and nothing is removed that is not a complete backup', async (context) => {
  const { db, all, backUpAs, backUpAt } = await prepare(context);
  await backUpAs('2020-01-01T00-00-00Z');
  await backUpAs('2020-01-02T00-00-00Z');
  // Backups with another kind of name, with an additional file and without a file, and an empty folder.
  const strangers = [
    'before-upgrade',
    '2020-01-03T00-00-00Z',
    '2020-01-04T00-00-00Z',
    '2020-01-05T00-00-00Z',
  ];
  for (const name of strangers.slice(0, 3)) await backUpAs(name);
  writeFileSync(join(all, '2020-01-03T00-00-00Z', 'notes.txt'), '');
  rmSync(join(all, '2020-01-04T00-00-00Z', 'registry.keys.db'));
  mkdirSync(join(all, '2020-01-05T00-00-00Z'));
  writeFileSync(join(all, '2020-01-06T00-00-00Z'), 'a file');
  // No process has this id.
  const left = join(all, '2020-01-07T00-00-00Z.incomplete-4194305');
  mkdirSync(left);
  const removed: string[][] = [];
  for (const day of ['01', '02', '03']) {
    const { status, out, err } = await backUpAt(`2026-01-${day}T06:00:00Z`, '--keep', '2', '--json');
    assert.equal(status, 0, err);
    const document = JSON.parse(out);
    assert.deepEqual(
      [document.database, document.folder, document.kept],
      [db, join(all, `00000${Number(day)}-2026-01-${day}T06-00-00Z`), 2],
    );
    removed.push(document.removed);
  }
  assert.deepEqual(removed, [
    ['2020-01-01T00-00-00Z'],
    ['2020-01-02T00-00-00Z'],
    ['000001-2026-01-01T06-00-00Z'],
  ]);
  const made = ['000002-2026-01-02T06-00-00Z', '000003-2026-01-03T06-00-00Z'];
  assert.deepEqual(readdirSync(all).sort(), [...strangers, '2020-01-06T00-00-00Z', ...made].sort());
  assert.ok(!existsSync(left));
  for (const name of made) assert.equal((await command(['backup', 'verify', join(all, name)])).status, 0);
  const { out } = await backUpAt('2026-01-04T06:00:00Z', '--keep', '2');
  assert.match(out, /^Backups there: 2\. Older ones that were removed: 1\.$/m);
});

test('after one run with a clock years ahead the backups that were made last stay, by number', async (context) => {
  const { db, all, backUpAt } = await prepare(context);
  const clocks = [
    '2099-01-01T00:00:00Z',
    '2026-01-02T00:00:00Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z',
  ];
  for (const instant of clocks) {
    const { status, err, out } = await backUpAt(instant, '--keep', '2', '--json');
    assert.equal(status, 0, err);
    assert.ok(existsSync(JSON.parse(out).folder));
  }
  assert.deepEqual(readdirSync(all).sort(), ['000003-2026-01-01T00-00-00Z', '000004-2026-01-01T00-00-00Z']);
  const { out } = await command(['backup', 'list', all, '--db', db]);
  assert.match(out, /^000004-2026-01-01T00-00-00Z .*\n000003-2026-01-01T00-00-00Z .*\n$/);
});

test('a backup of the restored registry is newer than all before, whatever its clock and events', async (context) => {
  const { db, all, backUpAt } = await prepare(context);
  assert.equal((await backUpAt('2026-01-01T00:00:00Z', '--keep', '9')).status, 0);
  const codes = ['N-1', 'N-2'].map((code) => `${code},${code}`);
  writeFileSync(join(all, 'cooperatives.csv'), `${['code,name', ...codes].join('\n')}\n`);
  assert.equal(
    (await command(['import', 'cooperatives', join(all, 'cooperatives.csv'), '--db', db])).status,
    0,
  );
  assert.equal((await backUpAt('2026-01-02T00:00:00Z', '--keep', '9')).status, 0);
  const first = join(all, '000001-2026-01-01T00-00-00Z');
  assert.equal((await command(['restore', first, '--replace', '--db', db])).status, 0);
  assert.equal((await backUpAt('2025-01-01T00:00:00Z', '--keep', '9')).status, 0);
  const pruned = await command(['backup', 'prune', all, '--keep', '1', '--db', db]);
  assert.equal(pruned.out, 'Backups there: 1. Older ones that were removed: 2.\n');
  assert.deepEqual(readdirSync(all).sort(), ['000003-2025-01-01T00-00-00Z', 'cooperatives.csv']);
});

test('a backup that fails removes no older one', async (context) => {
  const { root, db, all, backUpAs, backUpAt } = await prepare(context);
  for (const day of [1, 2, 3]) await backUpAs(`2020-01-0${day}T00-00-00Z`);
  const away = join(root, 'away.db');
  renameSync(db, away);
  const failed = await backUpAt('2026-01-01T06:00:00Z', '--keep', '1');
  assert.deepEqual(failed, { status: 2, out: '', err: failed.err });
  assert.match(
    failed.err,
    /registry\.db is missing, and other files of a registry are there: .*registry\.keys\.db/,
  );
  assert.equal(readdirSync(all).length, 3);
  renameSync(away, db);
  assert.equal((await backUpAt('2026-01-01T06:00:00Z', '--keep', '1')).status, 0);
  assert.deepEqual(readdirSync(all), ['000001-2026-01-01T06-00-00Z']);
});

test('with --verify a backup that the disk has damaged is a failure, and removes no older one', async (context) => {
  const { all, backUpAs, backUpAt } = await prepare(context);
  await backUpAs('2020-01-01T00-00-00Z');
  const made = '000001-2026-01-01T06-00-00Z';
  const { renameSync: rename } = fs;
  fs.renameSync = (from, to) => {
    rename(from, to);
    if (to === join(all, made)) appendFileSync(join(all, made, 'registry.db'), 'a');
  };
  syncBuiltinESMExports();
  const options = ['--keep', '1', '--verify'];
  const damaged = await backUpAt('2026-01-01T06:00:00Z', ...options).finally(() => {
    fs.renameSync = rename;
    syncBuiltinESMExports();
  });
  assert.deepEqual([damaged.status, damaged.out], [1, '']);
  assert.match(
    damaged.err,
    /06-00-00Z is NOT sound: registry\.db: it has [0-9]+ bytes instead of [0-9]+\. No/,
  );
  assert.deepEqual(readdirSync(all).sort(), [made, '2020-01-01T00-00-00Z']);
  const sound = await backUpAt('2026-01-02T06:00:00Z', ...options);
  assert.equal(sound.status, 0, sound.err);
  assert.deepEqual(readdirSync(all), ['000002-2026-01-02T06-00-00Z']);
});

test('--keep is refused when it makes no sense', async (context) => {
  const { all, backUpAt } = await prepare(context);
  for (const keep of ['0', '-1', '1.5', 'all', '10000']) {
    const refused = await backUpAt('2026-01-01T06:00:00Z', '--keep', keep);
    assert.equal(refused.status, 2);
    assert.match(refused.err, /Expected a number from 1 to 9999\./);
  }
  assert.deepEqual(readdirSync(all), []);
});

test('a folder of all backups that is missing is created only when somebody wants it', async (context) => {
  const { db, all, backUpAt } = await prepare(context);
  rmSync(all, { recursive: true });
  const instant = '2026-01-01T06:00:00Z';
  const refused = await backUpAt(instant, '--keep', '2');
  assert.deepEqual(refused, {
    ...{ status: 2, out: '' },
    err: `There is no folder ${all}. Mount its disk, or create it first; --yes creates it.\n`,
  });
  const questions: string[] = [];
  const answering = (answer: string, ...more: readonly string[]) =>
    command(['backup', all, '--keep', '2', '--db', db, ...more], {}, undefined, {
      ask: async (question) => {
        questions.push(question);
        return answer;
      },
    });
  assert.deepEqual(await answering('n'), refused);
  assert.match(
    questions[0] ?? '',
    /^There is no folder .*\/all\. Is its disk mounted\? Create the folder\? \[y\/N\] $/,
  );
  assert.ok(!existsSync(all));
  assert.equal((await answering('y')).status, 0);
  assert.equal(readdirSync(all).length, 1);
  rmSync(all, { recursive: true });
  assert.equal((await answering('n', '--yes')).status, 0);
  assert.equal(questions.length, 2);
  assert.equal(readdirSync(all).length, 1);
});

test('backups of another registry are neither counted nor removed', async (context) => {
  const { all, backUpAt, root } = await prepare(context);
  const other = join(root, 'other', 'registry.db');
  mkdirSync(join(root, 'other'));
  assert.equal(
    (await command(['keys', 'create', '--create', '--name', 'one', '--scope', 'members:read', '--db', other]))
      .status,
    0,
  );
  assert.equal((await command(['backup', all, '--keep', '1', '--db', other])).status, 0);
  for (const day of [1, 2, 3])
    assert.match(
      (await backUpAt(`2026-01-0${day}T06:00:00Z`, '--keep', '2')).out,
      day === 1 ? /^Backups there: 1\./m : /^Backups there: 2\./m,
    );
  assert.deepEqual(
    readdirSync(all).map((name) => name.slice(0, 6)),
    ['000001', '000003', '000004'],
  );
});

test('a registry that has lost half of its members removes no backup without --yes', async (context) => {
  const { db, all, backUpAt } = await prepare(context);
  for (const day of [1, 2])
    assert.equal((await backUpAt(`2026-01-0${day}T06:00:00Z`, '--keep', '2')).status, 0);
  const file = openFile(db);
  file.exec('PRAGMA foreign_keys = OFF; DELETE FROM payments; DELETE FROM loans; DELETE FROM members');
  file.close();
  const stopped = await backUpAt('2026-01-03T06:00:00Z', '--keep', '2');
  assert.equal(stopped.status, 1);
  assert.match(
    stopped.err,
    /000003-.* has 0 members, and 000002-.* before it has [0-9]+: no backup was removed\./,
  );
  assert.equal(readdirSync(all).length, 3);
  assert.equal((await command(['backup', 'prune', all, '--keep', '2', '--db', db])).status, 1);
  assert.equal((await command(['backup', 'prune', all, '--keep', '2', '--yes', '--db', db])).status, 0);
  assert.deepEqual(
    readdirSync(all).map((name) => name.slice(0, 6)),
    ['000002', '000003'],
  );
});

test('restore --newest says what to do where the backups are of another registry, or there are none', async (context) => {
  const { root, all, backUpAt } = await prepare(context);
  const spare = join(root, 'spare', 'registry.db');
  mkdirSync(join(root, 'spare'));
  const create = ['keys', 'create', '--create', '--name', 'one', '--scope', 'members:read'];
  const there = (...args: string[]) => command([...args, '--db', spare]);
  assert.equal((await there(...create)).status, 0);
  const newest = () => there('restore', '--newest', all, '--replace');
  const none = await newest();
  assert.deepEqual([none.status, none.err], [2, `There is no sound backup in ${all}.\n`]);
  const listed = await there('backup', 'list', all);
  assert.deepEqual([listed.status, listed.err], [0, `There is no complete backup in ${all}.\n`]);
  for (const day of [1, 2]) await backUpAt(`2026-01-0${day}T06:00:00Z`, '--keep', '2');
  const { status, err } = await newest();
  assert.equal(status, 2);
  const [, name = ''] =
    /another registry than .* in its place: npm .* restore (\S+) --replace --db \S+\n$/.exec(err) ?? [];
  assert.equal(name, join(all, '000002-2026-01-02T06-00-00Z'), err);
  assert.equal((await there('restore', name, '--replace')).status, 0);
  assert.equal((await newest()).status, 0);
});

/** `backup DIR --every`: one backup after the other, and which of them stay. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/app.ts';
import { command, spawnPlainly } from '../support/command.ts';
import { openFile } from '../support/sqlite.ts';

const DATED = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z$/;

async function prepare(context: TestContext) {
  const root = temporaryFolder(context);
  const db = join(root, 'live', 'registry.db');
  assert.equal((await command(['seed', '--db', db])).status, 0);
  return { root, db, all: join(root, 'all') };
}

function startTimer(context: TestContext, args: readonly string[]) {
  const timer = spawnPlainly(['node', 'src/main.ts', 'backup', ...args]);
  context.after(async () => {
    timer.child.kill('SIGKILL');
    await timer.ended;
  });
  return {
    ...timer,
    /** Sends SIGTERM. @returns the exit status, and the milliseconds until then */
    async stop() {
      const startedMs = Date.now();
      timer.child.kill('SIGTERM');
      return { status: await timer.ended, ms: Date.now() - startedMs };
    },
  };
}

async function backUpAs(folder: string, db: string): Promise<void> {
  assert.equal((await command(['backup', folder, '--db', db])).status, 0);
}

test('the newest backups stay, and nothing is removed that is not a complete backup', async (context) => {
  const { db, all } = await prepare(context);
  await backUpAs(join(all, '2020-01-01T00-00-00Z'), db);
  await backUpAs(join(all, '2020-01-02T00-00-00Z'), db);
  // A complete backup with a name of its own, one with another file in it, one without a file, and strangers.
  const strangers = [
    'before-upgrade',
    '2020-01-03T00-00-00Z',
    '2020-01-04T00-00-00Z',
    '2020-01-05T00-00-00Z',
  ];
  for (const name of strangers.slice(0, 3)) await backUpAs(join(all, name), db);
  writeFileSync(join(all, '2020-01-03T00-00-00Z', 'notes.txt'), '');
  rmSync(join(all, '2020-01-04T00-00-00Z', 'registry.keys.db'));
  mkdirSync(join(all, '2020-01-05T00-00-00Z'));
  writeFileSync(join(all, '2020-01-06T00-00-00Z'), 'a file');
  mkdirSync(join(all, '2020-01-07T00-00-00Z.incomplete-4194305'));
  const timer = startTimer(context, [all, '--every', '1s', '--keep', '2', '--db', db]);
  const made = () => readdirSync(all).filter((name) => name > '2021' && DATED.test(name));
  // Three have been written when two of the timer's own stay.
  while ((timer.output().match(/kept 2/g) ?? []).length < 3) await sleep(20);
  const { status } = await timer.stop();
  assert.equal(status, 0);
  assert.match(timer.output(), /^\S+Z {2}[0-9.]+ MB {2}[0-9.]+ s {2}kept 2, removed [12]$/m);
  const names = readdirSync(all);
  assert.equal(made().length, 2, names.join());
  assert.deepEqual(
    names.filter((name) => !made().includes(name)).sort(),
    [...strangers, '2020-01-06T00-00-00Z'].sort(),
  );
  for (const name of made()) assert.equal((await command(['backup', 'verify', join(all, name)])).status, 0);
});

test('a backup that fails is reported, and removes no older one', async (context) => {
  const { root, db, all } = await prepare(context);
  for (const day of [1, 2, 3]) await backUpAs(join(all, `2020-01-0${day}T00-00-00Z`), db);
  const away = join(root, 'away.db');
  renameSync(db, away);
  const timer = startTimer(context, [all, '--every', '1s', '--keep', '1', '--db', db]);
  await timer.waitFor('Backup failed: ');
  assert.equal(
    timer.output().split('Next')[0],
    `Backup failed: There is no database at ${db}. No older backup was removed. `,
  );
  assert.equal(readdirSync(all).length, 3);
  // It goes on as soon as there is something to back up.
  renameSync(away, db);
  await timer.waitFor('kept 1, removed 3');
  assert.equal((await timer.stop()).status, 0);
});

test('SIGTERM ends the timer at once with 0, in the middle of a backup too', async (context) => {
  const { db, all } = await prepare(context);
  const timer = startTimer(context, [all, '--every', '1h', '--keep', '2', '--db', db]);
  const isWriting = () => {
    try {
      return readdirSync(all).length > 0;
    } catch {
      return false;
    }
  };
  while (!isWriting()) await sleep(1);
  const { status, ms } = await timer.stop();
  assert.equal(status, 0);
  assert.ok(ms < 2_000, `${ms} ms`);
  assert.deepEqual(
    readdirSync(all).filter((name) => !DATED.test(name)),
    [],
  );
});

test('SIGTERM ends the timer at once, also while SQLite does not return', async (context) => {
  const { db, all } = await prepare(context);
  const lock = openFile(db);
  lock.raw.pragma('locking_mode = EXCLUSIVE');
  lock.exec('BEGIN IMMEDIATE');
  context.after(() => lock.close());
  // The backup waits for the lock, inside SQLite.
  const timer = startTimer(context, [all, '--every', '1h', '--keep', '2', '--db', db]);
  await sleep(2_000);
  const { status, ms } = await timer.stop();
  assert.equal(status, 0);
  assert.ok(ms < 2_000, `${ms} ms`);
  assert.equal(timer.output(), '');
});

test('a timer that is started again goes on where it was', async (context) => {
  const { db, all } = await prepare(context);
  const first = startTimer(context, [all, '--every', '1h', '--keep', '2', '--json', '--db', db]);
  await first.waitFor('"removed":[]');
  assert.equal((await first.stop()).status, 0);
  const document = JSON.parse(first.output());
  assert.equal(document.kept, 1);
  assert.equal(document.rows.cooperatives, 40);
  const second = startTimer(context, [all, '--every', '1h', '--keep', '2', '--db', db]);
  await sleep(1_500);
  assert.equal((await second.stop()).status, 0);
  assert.equal(second.output(), '');
  assert.equal(readdirSync(all).length, 1);
});

test('--every and --keep are refused without each other, and when they make no sense', async (context) => {
  const { db, all } = await prepare(context);
  for (const args of [
    ['--every', '6h'],
    ['--keep', '14'],
  ]) {
    const refused = await command(['backup', all, ...args, '--db', db]);
    assert.equal(refused.status, 2);
    assert.equal(refused.err, '--every and --keep go together, such as --every 6h --keep 14.\n');
  }
  for (const args of [
    ['--every', '0h', '--keep', '14'],
    ['--every', '6', '--keep', '14'],
    ['--every', '6h', '--keep', '0'],
  ])
    assert.equal((await command(['backup', all, ...args, '--db', db])).status, 2);
});

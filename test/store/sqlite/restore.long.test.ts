/** Restores that are killed, and what SQLite has left of another registry. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ownsFile } from '../../../src/sqlite/registry-files.ts';
import { temporaryFolder } from '../../support/app.ts';
import { CHILD_LIMIT, command, plainEnvironment } from '../../support/command.ts';
import { openFile } from '../../support/sqlite.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const KILLED = fileURLToPath(new URL('../../support/sqlite-killed-restore.ts', import.meta.url));

const run = async (...args: string[]) => {
  const outcome = await command(args);
  assert.equal(outcome.status, 0, `${args.join(' ')}: ${outcome.err}${outcome.out}`);
  return outcome;
};

function codesIn(file: string): unknown[] {
  const db = openFile(file);
  try {
    return db.raw.prepare('SELECT code FROM cooperatives NOT INDEXED').pluck().all();
  } finally {
    db.close();
  }
}

const keysIn = async (db: string): Promise<string[]> =>
  (
    JSON.parse((await run('keys', 'list', '--db', db, '--json')).out) as { keys: { name: string }[] }
  ).keys.map(({ name }) => name);

/** A registry with one cooperative and one key, both of this name. */
async function createRegistry(folder: string, name: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const db = join(folder, 'registry.db');
  const file = join(folder, 'cooperatives.csv');
  writeFileSync(file, `code,name\n${name},${name}\n`);
  await run('import', 'cooperatives', file, '--db', db, '--create');
  rmSync(file);
  await run('keys', 'create', '--create', '--db', db, '--name', name, '--scope', 'members:read');
  return db;
}

/** A registry NEW with its backup, and beside it the registry OLD. */
async function prepare(context: TestContext) {
  const root = temporaryFolder(context);
  const backup = join(root, 'backup');
  await run('backup', backup, '--db', await createRegistry(join(root, 'new'), 'NEW'));
  const db = await createRegistry(join(root, 'live'), 'OLD');
  return { root, backup, db, live: dirname(db) };
}

const replacedIn = (live: string): string[] =>
  readdirSync(live)
    .filter((name) => name.includes('.replaced-'))
    .map((name) => join(live, name));

test('a restore killed at any step leaves the old registry, or a place that only a restore opens', async (context) => {
  let isComplete = false;
  const steps: string[] = [];
  for (let number = 1; !isComplete; number++) {
    const { backup, db, live } = await prepare(context);
    const killed = spawnSync('node', [KILLED, db, backup, String(number)], {
      ...CHILD_LIMIT,
      cwd: ROOT,
      env: plainEnvironment,
    });
    isComplete = killed.status === 0;
    const step = isComplete ? 'complete' : (killed.stdout.toString().trim().split('\n').at(-1) as string);
    steps.push(step);
    if (isComplete) assert.deepEqual(codesIn(db), ['NEW']);
    else {
      assert.equal(killed.signal, 'SIGKILL', killed.stderr.toString());
      for (const args of [['check'], ['keys', 'list'], ['summarize'], ['serve', '--port', '0']]) {
        const refused = await command([...args, '--db', db]);
        assert.equal(refused.status, 2, `${step}: ${args[0]}`);
        assert.equal(
          refused.err,
          `A restore into ${db} is running or was interrupted. Wait for it, or run it again: ` +
            `npm run -s registry -- restore DIR --replace --db ${db}\n`,
        );
      }
      await run('restore', backup, '--db', db, '--replace');
    }
    assert.deepEqual(codesIn(db), ['NEW'], step);
    assert.deepEqual(await keysIn(db), ['NEW'], step);
    await run('check', '--db', db);
    const [replaced = '', ...more] = replacedIn(live);
    assert.deepEqual(more, [], step);
    assert.deepEqual(
      readdirSync(live).sort(),
      ['registry.db', 'registry.keys.db', basename(replaced)].sort(),
    );
    assert.deepEqual(codesIn(join(replaced, 'registry.db')), ['OLD'], step);
    assert.deepEqual(await keysIn(join(replaced, 'registry.db')), ['OLD'], step);
  }
  assert.deepEqual(steps, [
    'announced',
    'prepared',
    'copied registry.db',
    'copied registry.keys.db',
    'moved registry.db',
    'moved registry.keys.db',
    'moved',
    'placed registry.db',
    'placed registry.keys.db',
    'placed',
    'complete',
  ]);
});

test('a restore killed at a place without a registry goes on without --replace', async (context) => {
  const { root, backup } = await prepare(context);
  const db = join(root, 'elsewhere', 'registry.db');
  const killed = spawnSync('node', [KILLED, db, backup, '6'], {
    ...CHILD_LIMIT,
    cwd: ROOT,
    env: plainEnvironment,
  });
  assert.match(killed.stdout.toString(), /placed registry\.db\n$/);
  await run('restore', backup, '--db', db);
  assert.deepEqual(codesIn(db), ['NEW']);
  assert.deepEqual(readdirSync(dirname(db)).sort(), ['registry.db', 'registry.keys.db']);
});

/** What SQLite leaves beside a database whose process was killed after it had written. */
async function leaveSideFiles(root: string): Promise<string> {
  const db = await createRegistry(join(root, 'killed'), 'KILLED');
  const writing = openFile(db);
  writing.exec("UPDATE cooperatives SET name = 'left in the log'");
  const copy = join(root, 'left.db');
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(db + suffix, copy + suffix);
  writing.close();
  return copy;
}

for (const hasMain of [true, false]) {
  const what = hasMain ? 'beside the old database' : 'without a database';
  test(`a log left ${what} never reaches the restored registry`, async (context) => {
    const { root, backup, db, live } = await prepare(context);
    const left = await leaveSideFiles(root);
    for (const name of ['registry.db', 'registry.keys.db']) rmSync(join(live, name));
    if (hasMain) copyFileSync(left, db);
    for (const suffix of ['-wal', '-shm']) copyFileSync(left + suffix, db + suffix);
    writeFileSync(`${db}-journal`, 'a journal of something else');
    writeFileSync(join(live, 'registry.keys.db-wal'), 'a log of other keys');
    const refused = await command(['restore', backup, '--db', db]);
    assert.equal(refused.status, 1);
    assert.match(
      refused.err,
      /^There are files of a registry already: .*registry\.(?:keys\.)?db-wal.*--replace\.\n$/,
    );
    await run('restore', backup, '--db', db, '--replace');
    for (const suffix of ['-wal', '-shm', '-journal']) assert.ok(!existsSync(db + suffix), suffix);
    assert.deepEqual(codesIn(db), ['NEW']);
    await run('check', '--db', db);
    const [replaced = ''] = replacedIn(live);
    assert.ok(readdirSync(replaced).includes('registry.keys.db-wal'));
    if (!hasMain) assert.ok(readdirSync(replaced).includes('registry.db-wal'));
    else assert.deepEqual(codesIn(join(replaced, 'registry.db')), ['KILLED']);
  });
}

test('copying over a database beside its log would mix them: what restore prevents', async (context) => {
  const { root, db } = await prepare(context);
  const left = await leaveSideFiles(root);
  for (const suffix of ['-wal', '-shm']) copyFileSync(left + suffix, db + suffix);
  copyFileSync(join(root, 'new', 'registry.db'), db);
  let isMixed: boolean;
  try {
    isMixed = codesIn(db)[0] !== 'NEW';
  } catch {
    isMixed = true;
  }
  assert.ok(isMixed);
});

test('the folders of restores belong to the registry, and an import may not write there', () => {
  for (const path of [
    'registry.db.restoring/.new/registry.db',
    'registry.replaced-20261121T184500Z/registry.db',
  ])
    assert.ok(ownsFile('/data/registry.db', `/data/${path}`), path);
  assert.ok(!ownsFile('/data/registry.db', '/data/registry.replaced'));
});

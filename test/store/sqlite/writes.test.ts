/** Group commit: what fails is undone by itself, what is acknowledged is on disk (docs/api.md#writing). */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { Scheduler } from '../../../src/runtime/scheduler.ts';
import { GroupCommit } from '../../../src/sqlite/group-commit.ts';
import { migrate } from '../../../src/sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../../../src/sqlite/schemas.ts';
import { StorageError } from '../../../src/sqlite/sqlite-errors.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { temporaryFolder } from '../../support/app.ts';
import { openFile, openKeyStore, openStore } from '../../support/sqlite.ts';
import { COOPERATIVE } from '../conformance/sample.ts';

function open(context: TestContext, options: { freeBytes?: () => number } = {}) {
  const file = join(temporaryFolder(context), 'registry.db');
  let nowMs = 0;
  const store = openStore(file, { monotonicMs: () => nowMs, ...options });
  context.after(() => store.close());
  return {
    file,
    store,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** A group commit on a file with tables of the test's own. */
function openGroupCommit(context: TestContext, tables: string) {
  const db = openFile(join(temporaryFolder(context), 'tables.db'), { create: true });
  context.after(() => db.close());
  db.exec(tables);
  const commits = new GroupCommit(db, {
    monotonicMs: () => 0,
    scheduler: new Scheduler(),
    hasRoom: () => true,
  });
  return { db, commits };
}

const isRefusal = (code: RegistryError['code'], detail?: RegExp) => (error: unknown) =>
  error instanceof RegistryError &&
  error.code === code &&
  (detail === undefined || detail.test(error.message));

test('what a write did before its error is undone, and nothing of its neighbours', async (context) => {
  const { db, commits } = openGroupCommit(context, 'CREATE TABLE notes (text)');
  const note = (text: string) => db.raw.prepare('INSERT INTO notes VALUES (?)').run(text);
  const results = await Promise.allSettled([
    commits.write(() => note('before')),
    commits.write(() => {
      note('undone');
      throw new Error('refused');
    }),
    commits.write(() => note('after')),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(db.raw.prepare('SELECT text FROM notes').pluck().all(), ['before', 'after']);
});

test('a failed commit acknowledges none of its writes', async (context) => {
  const { db, commits } = openGroupCommit(
    context,
    `CREATE TABLE parents (id INTEGER PRIMARY KEY);
     CREATE TABLE children (parent_id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`,
  );
  const results = await Promise.allSettled([
    commits.write(() => db.exec('INSERT INTO parents VALUES (1)')),
    // Refused only by COMMIT.
    commits.write(() => db.exec('INSERT INTO children VALUES (2)')),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(db.raw.prepare('SELECT count(*) FROM parents').pluck().get(), 0);
  assert.equal(db.raw.inTransaction, false);
  await commits.write(() => db.exec('INSERT INTO parents VALUES (3)'));
  assert.equal(db.raw.prepare('SELECT max(id) FROM parents').pluck().get(), 3);
});

test('a write is visible to other connections when its promise settles, not before', async (context) => {
  const { file, store } = open(context);
  const other = openFile(file);
  const count = () => other.raw.prepare('SELECT count(*) FROM cooperatives').pluck().get();
  const writing = store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  assert.equal(count(), 0);
  await writing;
  assert.equal(count(), 1);
  other.close();
});

test("a write waits for another process's lock, while reads go on", async (context) => {
  const { file, store } = open(context);
  const other = openFile(file);
  other.exec('BEGIN IMMEDIATE');
  const writing = store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.equal(await store.cooperatives.find(1), undefined);
  other.exec('COMMIT');
  assert.equal((await writing).id, 1);
  other.close();
});

test('a write that waits for two seconds is refused as unavailable', async (context) => {
  const { file, store, advance } = open(context);
  const other = openFile(file);
  other.exec('BEGIN IMMEDIATE');
  const writing = store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  advance(2_001);
  await assert.rejects(writing, isRefusal('unavailable', /busy/));
  other.exec('COMMIT');
  assert.equal((await store.cooperatives.create(COOPERATIVE, 1, 'key:1')).id, 1);
  other.close();
});

test('with the disk nearly full a write is refused and says so, and reads go on', async (context) => {
  let free = Number.MAX_SAFE_INTEGER;
  const { store, advance } = open(context, { freeBytes: () => free });
  await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  free = 1_000;
  advance(1_000);
  await assert.rejects(
    store.cooperatives.create({ ...COOPERATIVE, code: 'B' }, 1, 'key:1'),
    isRefusal('unavailable', /disk/),
  );
  assert.equal((await store.cooperatives.find(1))?.code, 'A-1');
  free = Number.MAX_SAFE_INTEGER;
  advance(1_000);
  assert.equal((await store.cooperatives.create({ ...COOPERATIVE, code: 'B' }, 1, 'key:1')).id, 2);
});

test('every connection has the settings that protect what it writes', (context) => {
  const { file, store } = open(context);
  const keys = openKeyStore(file.replace('.db', '.keys.db'));
  for (const db of [store.connection, keys.connection]) {
    assert.deepEqual(db.wrongSettings(), []);
    assert.equal(db.raw.pragma('synchronous', { simple: true }), 2);
    assert.equal(db.raw.pragma('journal_mode', { simple: true }), 'wal');
    assert.equal(db.raw.pragma('foreign_keys', { simple: true }), 1);
    db.raw.pragma('synchronous = NORMAL');
    assert.deepEqual(db.wrongSettings(), ['synchronous: 1']);
  }
  keys.close();
});

test('database files can be read by their owner only', (context) => {
  const { file, store } = open(context);
  store.connection.exec('CREATE TABLE anything (id)');
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    assert.equal(statSync(name).mode & 0o777, 0o600, name);
});

test('a file of another program, or of a newer release, is refused with what to do', (context) => {
  const folder = temporaryFolder(context);
  const foreign = new Database(join(folder, 'foreign.db'));
  foreign.exec('CREATE TABLE notes (text)');
  foreign.close();
  const refusal = (file: string, text: RegExp) => {
    const isRefused = (error: unknown) => error instanceof StorageError && text.test(error.message);
    assert.throws(() => openStore(file), isRefused);
  };
  refusal(join(folder, 'foreign.db'), /belongs to another application/);
  const newer = openFile(join(folder, 'newer.db'), { create: true });
  migrate(newer, REGISTRY_SCHEMA);
  newer.raw.pragma(`user_version = ${REGISTRY_SCHEMA.migrations.length + 1}`);
  newer.close();
  refusal(join(folder, 'newer.db'), /newer release/);
  assert.throws(() => openFile(join(folder, 'none.db')), /There is no database/);
  const partial = openFile(join(folder, 'broken.db'), { create: true });
  assert.throws(
    () => migrate(partial, { applicationId: 7, migrations: ['CREATE TABLE a (b);', 'NONSENSE'] }),
    /could not be migrated/,
  );
  // Completely or not at all.
  assert.equal(partial.raw.prepare('SELECT count(*) FROM sqlite_schema').pluck().get(), 0);
  partial.close();
});

/** A disk that fails: what is acknowledged is on it, every promise settles, and no write follows. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import type { SqliteRegistry } from '../../../src/open-registry.ts';
import { StorageError } from '../../../src/sqlite/sqlite-errors.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { startApp, temporaryFolder } from '../../support/app.ts';
import { failCommits, failStatement, openFile, openStore, SqliteError } from '../../support/sqlite.ts';
import { COOPERATIVE } from '../conformance/sample.ts';

/** An error of the operating system. */
const diskError = (code: string): Error => new SqliteError('disk I/O error', code);

/** Makes the next run of a statement fail. */
function failOnce(store: SqliteRegistry, sql: string): void {
  const heal = failStatement(store.connection, sql, () => {
    heal();
    throw diskError('SQLITE_IOERR');
  });
}

function open(context: TestContext, more: { freeBytes?: () => number } = {}): SqliteRegistry {
  const store = openStore(join(temporaryFolder(context), 'registry.db'), more);
  context.after(() => store.close());
  return store;
}

const isUnavailable = (detail: RegExp) => (error: unknown) =>
  error instanceof RegistryError && error.code === 'unavailable' && detail.test(error.message);
const settled = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<false>((resolve) => setTimeout(resolve, 20, false))]);

test('after a commit that failed with an I/O error nothing is written, and the store is not ready', async (context) => {
  const store = open(context);
  assert.equal(store.isReady(), true);
  const heal = failCommits(store, diskError('SQLITE_IOERR_FSYNC'));
  const results = await Promise.allSettled([
    store.cooperatives.create(COOPERATIVE, 1, 'key:1'),
    store.cooperatives.create({ ...COOPERATIVE, code: 'B' }, 1, 'key:1'),
  ]);
  for (const result of results) {
    assert.equal(result.status, 'rejected');
    assert.ok(isUnavailable(/takes no writes any more/)(result.reason));
    assert.equal((result.reason as Error & { cause: { code: string } }).cause.code, 'SQLITE_IOERR_FSYNC');
  }
  heal();
  await assert.rejects(
    store.cooperatives.create(COOPERATIVE, 1, 'key:1'),
    isUnavailable(/takes no writes any more/),
  );
  assert.equal(store.isReady(), false);
  const failure = await store.failed;
  assert.ok(failure instanceof StorageError && failure.kind === 'failed');
  assert.match(
    failure.message,
    /disk I\/O error.*before you start again: npm run -s registry -- check --db /,
  );
  // Reads go on until the end.
  assert.equal((await store.cooperatives.list({}, { page: 1, pageSize: 1 })).count, 0);
});

for (const code of ['SQLITE_FULL', 'SQLITE_BUSY', 'SQLITE_CONSTRAINT_FOREIGNKEY']) {
  test(`a commit that failed with ${code} does not stop further writes`, async (context) => {
    const store = open(context);
    const heal = failCommits(store, diskError(code));
    const writing = store.cooperatives.create(COOPERATIVE, 1, 'key:1').catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 15));
    heal();
    await writing;
    assert.equal(store.isReady(), true);
    assert.equal(await settled(store.failed), false);
    assert.equal((await store.cooperatives.create({ ...COOPERATIVE, code: 'B' }, 1, 'key:1')).code, 'B');
  });
}

test('an error of statfs refuses the writes that wait, and the next one asks again', async (context) => {
  let isBroken = true;
  const freeBytes = () => {
    if (isBroken) throw Object.assign(new Error('EIO: i/o error, statfs'), { code: 'EIO' });
    return Number.MAX_SAFE_INTEGER;
  };
  const store = open(context, { freeBytes });
  await assert.rejects(
    store.cooperatives.create(COOPERATIVE, 1, 'key:1'),
    (error: Error & { cause?: { code?: string } }) =>
      isUnavailable(/cannot be examined/)(error) && error.cause?.code === 'EIO',
  );
  isBroken = false;
  assert.equal((await store.cooperatives.create(COOPERATIVE, 1, 'key:1')).id, 1);
});

test('a write that cannot even begin is refused, not left waiting', async (context) => {
  const store = open(context);
  failOnce(store, 'BEGIN IMMEDIATE');
  await assert.rejects(store.cooperatives.create(COOPERATIVE, 1, 'key:1'), /I\/O error/);
  assert.equal((await store.cooperatives.create(COOPERATIVE, 1, 'key:1')).id, 1);
});

test('reads whose end fails end nevertheless, and the next ones begin', async (context) => {
  const store = open(context);
  failOnce(store, 'COMMIT');
  assert.equal(store.cooperatives.find(1), undefined);
  await immediate();
  assert.equal(store.connection.raw.inTransaction, false);
  assert.equal((await store.cooperatives.create(COOPERATIVE, 1, 'key:1')).id, 1);
  assert.equal((await store.cooperatives.find(1))?.id, 1);
});

test('over HTTP a failed commit is 503, and so is readiness from then on', async (context) => {
  const app = await startApp(context);
  failCommits(app.registry.store, diskError('SQLITE_IOERR_FSYNC'));
  const body = { code: 'A', name: 'A' };
  const response = await app.send('/cooperatives', { method: 'POST', body });
  assert.equal(response.status, 503);
  assert.equal(response.headers['retry-after'], '60');
  assert.deepEqual(response.json, {
    detail: 'Writing to the registry has failed. It takes no writes any more.',
  });
  assert.equal((await app.send('//readyz')).status, 503);
  assert.equal((await app.send('/cooperatives')).status, 200);
  assert.equal(await settled(app.registry.failed), true);
});

test('a migration that fails leaves nothing open', (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, 'broken.db');
  const schema = { applicationId: 7, migrations: ['CREATE TABLE a (b);', 'NONSENSE'] };
  assert.throws(() => openFile(file, { create: true, schema }), /could not be migrated/);
  // The last connection that closes takes its write-ahead log along.
  assert.deepEqual(readdirSync(folder), ['broken.db']);
});

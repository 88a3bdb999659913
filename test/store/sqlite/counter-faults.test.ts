/** Errors of SQLite in the triggers that write the counters of a row. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { COUNT_CHECKS } from '../../../src/sqlite/counts.ts';
import { temporaryFolder } from '../../support/app.ts';
import { openFile, openStore, SqliteError } from '../../support/sqlite.ts';
import { COOPERATIVE, memberOf } from '../conformance/sample.ts';

async function open(context: TestContext) {
  const file = join(temporaryFolder(context), 'registry.db');
  const store = openStore(file);
  context.after(() => store.close());
  await store.cooperatives.create(COOPERATIVE, 1, 'key:1');
  const create = (n: number) => store.members.create(memberOf(n), 1, 'key:1', undefined);
  await create(1);
  // Each row is added up by itself.
  store.connection.exec('UPDATE batches SET size = 1');
  let statements = 0;
  let fails: (statement: number) => boolean = () => false;
  const code = { now: '' };
  store.connection.raw.function('fault', () => {
    if (fails(++statements)) throw new SqliteError('planted', code.now);
    return 0;
  });
  store.connection.exec(
    'CREATE TEMP TRIGGER fault BEFORE INSERT ON main.member_small_blocks BEGIN SELECT fault(); END',
  );
  return {
    store,
    create,
    /** Which statements on the counters of blocks fail from now on, the next one being 1. */
    plant(withCode: string, when: typeof fails) {
      [statements, fails, code.now] = [0, when, withCode];
    },
    wrongCounts() {
      const other = openFile(file);
      const found = COUNT_CHECKS.flatMap(({ sql }) => other.raw.prepare(sql).all());
      other.close();
      return found;
    },
  };
}

for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_READ', 'SQLITE_CONSTRAINT_TRIGGER']) {
  test(`${code} in a counter refuses its write, leaves nothing behind and stops no other`, async (context) => {
    const { store, create, plant, wrongCounts } = await open(context);
    plant(code, () => true);
    await assert.rejects(create(2));
    assert.equal(store.isReady(), true);
    plant(code, () => false);
    assert.equal((await store.members.list({}, { page: 1, pageSize: 10 })).count, 1);
    assert.deepEqual(wrongCounts(), []);
    await create(2);
    assert.deepEqual(wrongCounts(), []);
    assert.equal((await store.members.list({}, { page: 1, pageSize: 10 })).count, 2);
  });
}

test('of several writes the one is refused whose counters fail', async (context) => {
  const { create, plant, wrongCounts } = await open(context);
  // The first statement of the run without savepoints, and that of the second write after that.
  plant('SQLITE_FULL', (statement) => statement === 1 || statement === 1 + 2);
  const results = await Promise.allSettled([create(2), create(3), create(4)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(wrongCounts(), []);
});

/** That the indexes of names have exactly the words of all names, whoever writes them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkNames } from '../../../src/check/check.ts';
import { indexNames, leaveUnindexed, rebuildNames } from '../../../src/registry/stores/name-index.ts';
import { findSimilar, openMemberSearch, SEARCH, searchMembers } from '../../../src/search/member-search.ts';
import { addNewRows, COUNT_CHECKS } from '../../../src/sqlite/counts.ts';
import { temporaryFolder } from '../../support/app.ts';
import { type Connection, openFile, openStore } from '../../support/sqlite.ts';
import { faultsOf, insertRow, leaveFrom, openRegistry, type Row } from './named-members.ts';

test('names that an import has left for later are added in order, whatever was written meanwhile', (context) => {
  const db = openRegistry(context);
  const search = openMemberSearch(db);
  const find = (text: string) =>
    search({ filter: { search: [text] }, request: { page: 1, pageSize: 9 }, visible: null }).rows.map(
      ({ id }) => id,
    );
  const rowOf = (id: number, name: string): Row => ({ id, cooperativeId: 1, status: 'active', name });
  insertRow(db, rowOf(1, 'Uwimana'));
  leaveFrom(db, 2);
  for (const id of [2, 3, 4, 5, 6]) insertRow(db, rowOf(id, 'Mukamana'));
  assert.throws(() => find('uwimana'), /are being indexed/);
  db.exec(`UPDATE members SET full_name = 'Habimana' WHERE id IN (1, 3);
    DELETE FROM members WHERE id = 4`);
  leaveFrom(db, 6);
  assert.equal(checkNames(db)[0]?.value, '4');
  const pauses: unknown[] = [];
  indexNames(db, {
    batch: 2,
    pause() {
      pauses.push(db.value('SELECT first_id FROM unindexed_names'));
      if (pauses.length > 1) return;
      db.exec("UPDATE members SET full_name = 'Habimana' WHERE id IN (2, 6)");
      insertRow(db, rowOf(9, 'Uwimana'));
    },
  });
  assert.deepEqual(pauses, [4, 7, 10, undefined]);
  assert.deepEqual([find('habimana'), find('mukamana'), find('uwimana')], [[1, 2, 3, 6], [5], [9]]);
  assert.deepEqual(faultsOf(db), []);
});

test('names that a killed import has left are indexed when the registry is opened, unless somebody writes', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const db = openRegistry(context, file);
  insertRow(db, { id: 1, cooperativeId: 1, status: 'active', name: 'Uwimana' });
  leaveFrom(db, 2);
  insertRow(db, { id: 2, cooperativeId: 1, status: 'active', name: 'Mukamana' });
  const missing = () => db.count('unindexed_names');
  db.exec('BEGIN IMMEDIATE');
  await openStore(file).close();
  db.exec('COMMIT');
  assert.equal(missing(), 1);
  await openStore(file).close();
  assert.equal(missing(), 0);
  assert.deepEqual(faultsOf(db), []);
});

test('names that an import has left are indexed by searches of the service and of a command', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const db = openRegistry(context, file);
  const store = openStore(file, { search: SEARCH });
  context.after(() => store.close());
  const search = () => store.members.list({ search: ['mukamana'] }, { page: 1, pageSize: 9 });
  for (const id of [1, 2]) {
    leaveFrom(db, id);
    insertRow(db, { id, cooperativeId: 1, status: 'active', name: 'Mukamana' });
    if (id === 1) assert.equal((await search()).count, 1);
    else assert.equal(searchMembers(db, ['mukamana']).length, 2);
    assert.equal(db.count('unindexed_names'), 0);
  }
  // An import that is being applied has the lock.
  leaveFrom(db, 3);
  db.exec('BEGIN IMMEDIATE');
  await assert.rejects(async () => search(), /are being indexed/);
  db.exec('COMMIT');
  await search();
  assert.deepEqual(faultsOf(db), []);
});

test('the check finds a name that is missing in an index, one too many, and one of another row', (context) => {
  const db = openRegistry(context);
  for (const [id, name] of [
    [1, 'Uwimana'],
    [2, 'Mukamana'],
  ] as const)
    insertRow(db, { id, cooperativeId: 1, status: 'active', name });
  const wordsOfRow = (id: number) => `SELECT words FROM member_names_source WHERE id = ${id}`;
  const remove = (id: number, of = id) =>
    `INSERT INTO member_names (member_names, rowid, words) VALUES ('delete', ${id}, (${wordsOfRow(of)}))`;
  const add = (id: number, of = id) =>
    `INSERT INTO member_names (rowid, words) VALUES (${id}, (${wordsOfRow(of)}))`;
  for (const [statements, at] of [
    [[remove(2)], 2],
    [[add(3, 1)], 3],
    [[remove(1), remove(2), add(1, 2), add(2, 1)], 1],
    [['DELETE FROM unindexed_names'], undefined],
  ] as const) {
    db.exec('SAVEPOINT fault');
    for (const sql of statements) db.exec(sql);
    assert.deepEqual(
      faultsOf(db).map(({ check }) => check),
      at === undefined ? [] : ['names of members'],
    );
    db.exec('ROLLBACK TO fault; RELEASE fault');
  }
});

const COOPERATIVE = { code: 'A', name: 'A', sector: null, province: null, district: null };
const searchNow = (db: Connection) =>
  openMemberSearch(db)({ filter: { search: ['uwi'] }, request: { page: 1, pageSize: 9 }, visible: null });

/** A registry to which members are added as over HTTP, each with a name of its own. */
async function openService(context: TestContext) {
  const file = join(temporaryFolder(context), 'registry.db');
  const store = openStore(file, { search: SEARCH });
  context.after(() => store.close());
  const values = { ...COOPERATIVE, registrationDate: null, status: 'active' } as const;
  await store.cooperatives.create(values, 1, 'key:1');
  return {
    ...{ file, store },
    create: (memberCode: string, identityCard: string) =>
      store.members.create(
        {
          ...{ cooperativeId: 1, identityCard, memberCode, fullName: `Uwimana ${memberCode}` },
          ...{ firstName: null, lastName: null, gender: null, mobile: null, dateOfBirth: null },
          ...{ role: 'MEMBER', status: 'active', registrationDate: 1, dateOfDeath: null },
        },
        ...([1, 'key:1'] as const),
      ),
    find: async (text: string) => {
      const { rows } = await store.members.list({ search: [text] }, { page: 1, pageSize: 300 });
      return rows.map(({ id }) => id);
    },
  };
}

test('the members that one commit adds are found at once, and one that is refused among them is not', async (context) => {
  const { store, create, find } = await openService(context);
  const codes = ['aaa', 'bbbb', 'ccc', 'ddddd'];
  const done = await Promise.allSettled(
    codes.map((code) => create(code, `119858${9_000_000 + code.length}042`)),
  );
  assert.deepEqual(
    done.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await find('uwimana'), [1, 2, 3]);
  assert.deepEqual(faultsOf(store.connection), []);
});

test('new members are indexed 128 at a time, and found meanwhile, whoever has the lock', async (context) => {
  const { file, store, create, find } = await openService(context);
  const db = store.connection;
  const indexed = () => db.value("SELECT count(*) FROM member_names WHERE member_names MATCH 'uwimana'");
  const add = async (from: number, count: number) => {
    for (const i of Array.from({ length: count }, (_, k) => from + k))
      await create(`c${i}`, `119858${9_000_000 + i}042`);
  };
  await add(1, 100);
  assert.equal(indexed(), 0);
  const other = openFile(file);
  context.after(() => other.close());
  other.exec("BEGIN IMMEDIATE; UPDATE members SET full_name = 'Habimana' WHERE id = 7");
  assert.equal((await find('uwimana')).length, 100);
  other.exec('COMMIT');
  assert.deepEqual([await find('habimana'), (await find('uwimana')).length], [[7], 99]);
  assert.deepEqual(findSimilar(db, ['habinana'], 9), [7]);
  assert.deepEqual(faultsOf(db), []);
  await add(101, 27);
  assert.equal(indexed(), 0);
  await add(128, 1);
  assert.equal(indexed(), 127);
  await add(129, 3);
  assert.deepEqual([indexed(), (await find('uwimana')).length, await find('habimana')], [127, 130, [7]]);
  assert.deepEqual(faultsOf(db), []);
});

test('an import leaves the batch before it to be indexed with its rows, not the one after it', async (context) => {
  const { store, create, find } = await openService(context);
  const db = store.connection;
  const add = (i: number) => create(`c${i}`, `119858${9_000_000 + i}042`);
  await Promise.all([1, 2, 3].map(add));
  leaveUnindexed(db);
  addNewRows(db, 'members');
  await Promise.all([4, 5].map(add));
  assert.throws(() => searchNow(db), /are being indexed/);
  indexNames(db, { pause: () => undefined });
  assert.equal(db.value("SELECT count(*) FROM member_names WHERE member_names MATCH 'uwimana'"), 3);
  assert.deepEqual(await find('uwimana'), [1, 2, 3, 4, 5]);
  assert.deepEqual(faultsOf(db), []);
});

test('names that are written anew are all in the index, those of a batch that is not full too', async (context) => {
  const { store, create, find } = await openService(context);
  const add = (i: number) => create(`c${i}`, `119858${9_000_000 + i}042`);
  await add(1);
  rebuildNames(store.connection);
  await add(2);
  assert.deepEqual(await find('uwimana'), [1, 2]);
  assert.deepEqual(faultsOf(store.connection), []);
  for (const { sql } of COUNT_CHECKS) assert.deepEqual(store.connection.rows(sql), []);
});

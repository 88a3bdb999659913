/**
 * What other processes do between the checks of an import and its apply
 * (docs/import-reference.md#while-the-service-runs).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ImportOptions, importFiles } from '../../src/import/import-files.ts';
import { openImportSession } from '../../src/import/staging/import-session.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { RegistryError } from '../../src/values/errors.ts';
import {
  type ImportPlace,
  importOptions,
  insertMemberSql,
  member,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';
import { type Connection, openFile, SqliteError } from '../support/sqlite.ts';
import { storageAt } from '../support/storage.ts';

/** Imports one file and does something at the moment between its checks and its apply. */
async function importWith(
  place: ImportPlace,
  path: string,
  between: (db: Connection) => void,
  more: Partial<ImportOptions> = {},
) {
  const session = openImportSession(storageAt(place.databaseFile));
  const other = openFile(place.databaseFile);
  try {
    const options = { ...importOptions(place), ...more };
    return await importFiles(session, [{ kind: 'members', path }], options, {
      checked: () => between(other),
      confirm: async () => true,
    });
  } finally {
    other.close();
    await session.close();
  }
}

const insertMember = (identityCard: string, code: string) => (db: Connection) =>
  db.exec(insertMemberSql(identityCard, code));

test('the apply repeats the checks: a code taken meanwhile is refused, and nothing is imported', async (context) => {
  for (const skipInvalid of [false, true]) {
    const place = await startedPlace(context);
    const path = place.write('members.csv', members(member(10), member(11)));
    const [report] = await importWith(place, path, insertMember(nid(500), 'M-10'), { skipInvalid });
    assert.equal(report?.outcome, 'failed');
    assert.ok(report?.failure?.error instanceof RegistryError);
    assert.match(String(report.failure.message), /again/i);
    assert.deepEqual(place.query("SELECT full_name FROM members WHERE member_code = 'M-10'"), [
      { full_name: 'Meanwhile' },
    ]);
  }
});

test('a person added meanwhile is updated, not added twice', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', members(member(10), member(11)));
  const [report] = await importWith(place, path, insertMember(nid(10), 'M-10'));
  assert.deepEqual([report?.changes.created, report?.changes.changed], [1, 1]);
  assert.equal(place.value(`SELECT full_name FROM members WHERE identity_card = '${nid(10)}'`), 'Person 10');
});

test('an import that has asked does what it has shown, or nothing', async (context) => {
  const place = await startedPlace(context);
  const rename = (n: number, name: string) => (db: Connection) =>
    db.exec(`UPDATE members SET full_name = '${name}' WHERE member_code = 'M-${n}'`);
  const path = place.write('members.csv', members(`A-1,${nid(1)},M-1,New`, member(10)));
  for (const between of [insertMember(nid(10), 'M-10'), rename(1, 'Corrected')]) {
    const [report] = await importWith(place, path, between, { asks: true });
    assert.match(String(report?.failure?.message), /no longer agrees/);
  }
  const [report] = await importWith(place, path, rename(2, 'Another row'), { asks: true });
  assert.deepEqual([report?.outcome, report?.changes.changed], ['imported', 2]);
});

test('rows of a cooperative that was deleted meanwhile are refused', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', members(member(10, 'B-2')));
  const rename = (db: Connection) => db.exec("UPDATE cooperatives SET code = 'B-3' WHERE code = 'B-2'");
  const [report] = await importWith(place, path, rename);
  assert.ok(report?.failure?.error instanceof RegistryError);
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
});

test('an empty staging file is removed when its process has ended', async (context) => {
  const place = await startedPlace(context);
  // Above the largest process id of any system.
  place.write('registry.db.importing-99999999-0a0b0c0d', '');
  await place.load('members', members(member(4)));
  assert.deepEqual(place.leftovers(), []);
});

test('the staging of a killed import is removed although a new process has its id', async (context) => {
  const place = await startedPlace(context);
  // As in a container, where the import has the same process id each time.
  place.write(`registry.db.importing-${process.pid}-999`, 'what it had read');
  await place.load('members', members(member(4)));
  assert.deepEqual(place.leftovers(), []);
});

test('a file counts as imported when its read model cannot be refreshed, and lookups compute it', async (context) => {
  const place = await startedPlace(context);
  const path = place.write(
    'loans.csv',
    'cooperative_code,member_code,reference,amount,interest_rate,loan_start_date\n' +
      'A-1,M-1,L1,5,1,2025-01-01\n',
  );
  const zone = {
    ...KIGALI,
    get offsetSeconds(): number {
      throw new SqliteError('database or disk is full', 'SQLITE_FULL');
    },
  };
  const session = openImportSession(storageAt(place.databaseFile, zone));
  try {
    const [report] = await importFiles(session, [{ kind: 'loans', path }], importOptions(place));
    assert.deepEqual([report?.outcome, report?.changes.created], ['imported', 1]);
  } finally {
    await session.close();
  }
  assert.equal(place.value("SELECT count(*) FROM members WHERE loans = ''"), 1);
});

/** Which registry an import names and creates, and its size (docs/import-reference.md#the-command). */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkStorage } from '../../src/check/check.ts';
import { COOPERATIVES, member, members, placeWithoutRegistry, startedPlace } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';
import { storageAt } from '../support/storage.ts';

const EMPTY = { cooperatives: 0, members: 0, deliveries: 0, loans: 0, payments: 0, transactions: 0 };

test('an import with --db into a file that does not exist needs --create, and names the path', async (context) => {
  const place = placeWithoutRegistry(context);
  const path = place.write('cooperatives.csv', COOPERATIVES);
  const mistyped = join(place.folder, 'registery.db');
  for (const more of [[], ['--dry-run']]) {
    assert.deepEqual(await place.run('cooperatives', path, '--db', mistyped, ...more), {
      ...{ status: 2, out: '' },
      err: `There is no registry at ${mistyped}. Add --create to import into a new one.\n`,
    });
  }
  assert.deepEqual(readdirSync(place.folder), ['cooperatives.csv']);
  const created = await place.run('cooperatives', path, '--db', mistyped, '--create');
  assert.deepEqual([created.status, created.err], [0, `Created a new, empty registry at ${mistyped}.\n`]);
  const again = await place.run('cooperatives', path, '--db', mistyped, '--create');
  const same = 'cooperatives.csv: the same file was imported before, as import 1.\n';
  assert.deepEqual([again.status, again.err], [0, same]);
});

test('a dry run creates nothing: without a registry it compares with an empty one', async (context) => {
  const place = placeWithoutRegistry(context);
  const folder = join(place.folder, 'not', 'there');
  const path = place.write('cooperatives.csv', COOPERATIVES);
  const note = (db: string) =>
    `There is no registry at ${db} yet: this dry run compares with an empty one.\n`;
  for (const [db, args] of [
    [place.databaseFile, []],
    [join(folder, 'x.db'), ['--db', join(folder, 'x.db'), '--create']],
  ] as const) {
    const { status, out, err } = await place.run('cooperatives', path, '--dry-run', ...args);
    assert.deepEqual([status, err], [0, note(db)]);
    assert.match(out, /^cooperatives\.csv: 2 rows checked: 2 new, 0 changed, 0 unchanged; nothing/m);
  }
  assert.deepEqual(readdirSync(place.folder), ['cooperatives.csv']);
});

test('every output names the database and the size of the registry before and after', async (context) => {
  const place = await startedPlace(context);
  const content = members(member(1), member(4), member(5));
  const shown = (line: string, count: number) =>
    `Registry ${place.databaseFile}${line}: 2 cooperatives, ${count} members, 0 deliveries, 0 loans, ` +
    '0 payments, 0 savings transactions';
  const dryRun = await place.load('members', content, '--dry-run');
  assert.deepEqual(
    dryRun.out.split('\n').filter((line) => line.startsWith('Registry')),
    [shown('', 3), shown(' is unchanged', 3)],
  );
  const document = JSON.parse((await place.load('members', content, '--json')).out);
  assert.deepEqual(
    [document.database, document.dry_run, document.registry],
    [
      place.databaseFile,
      false,
      {
        before: { ...EMPTY, cooperatives: 2, members: 3 },
        after: { ...EMPTY, cooperatives: 2, members: 5 },
      },
    ],
  );
  const again = await place.load('members', content);
  assert.ok(again.out.startsWith(`${shown('', 5)}\n`));
  assert.ok(again.out.endsWith(`${shown(' now', 5)}\n`));
  const refused = JSON.parse((await place.load('members', members(member(9, 'Z-9')), '--json')).out);
  assert.deepEqual(refused.registry.before, refused.registry.after);
});

test('entries are counted exactly, however they are written', async (context) => {
  const place = await startedPlace(context);
  const header = 'cooperative_code,member_code,reference,delivered_at,kg\n';
  const delivery = (n: number) => `A-1,M-1,R-${n},2025-01-01,5\n`;
  const rows = (from: number, count: number) =>
    header + Array.from({ length: count }, (_, i) => delivery(from + i)).join('');
  const afterOf = async (kind: string, content: string) =>
    JSON.parse((await place.load(kind, content, '--json')).out).registry.after;
  // So many that the triggers are dropped for the time of the insert.
  assert.equal((await afterOf('production', rows(0, 10_001))).deliveries, 10_001);
  assert.equal((await afterOf('production', rows(9_999, 5))).deliveries, 10_004);
  const loan = 'cooperative_code,member_code,reference,amount,interest_rate\nA-1,M-1,L-1,100,5\n';
  assert.equal((await afterOf('loans', loan)).loans, 1);
  const db = openFile(place.databaseFile);
  db.exec('DELETE FROM production_entries WHERE id IN (5, 6); DELETE FROM loans');
  db.close();
  const saving =
    'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at\n' +
    'A-1,M-1,S-1,T-1,contribution,5,2025-01-01\n';
  const size = { deliveries: 10_002, loans: 0, payments: 0, transactions: 1 };
  assert.deepEqual(await afterOf('savings', saving), { cooperatives: 2, members: 3, ...size });
  const faults = (await checkStorage(storageAt(place.databaseFile))).filter(({ fault }) => fault !== null);
  assert.deepEqual(faults, []);
});

test('check finds a number of rows that is wrong', async (context) => {
  const place = await startedPlace(context);
  const db = openFile(place.databaseFile);
  db.exec('INSERT INTO production_counts VALUES (0, 7)');
  db.close();
  const found = (await checkStorage(storageAt(place.databaseFile))).filter(({ fault }) => fault !== null);
  assert.deepEqual(found, [
    { check: 'counters of production_entries in production_counts', fault: 'wrong: {"block":0,"rows":7}' },
  ]);
});

/** What triggers keep is also kept by large imports, which drop the triggers while they insert. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TARGETS } from '../../../src/store/sqlite/schema/targets.ts';
import { groupOf, IS_ON_INSERT, TRIGGER_GROUPS } from '../../../src/store/sqlite/staging/trigger-twins.ts';
import { importPlace, members, nid } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';

const ROWS = 10_000;
const cooperatives = `code,name\n${Array.from({ length: ROWS }, (_, i) => `C-${i},Name\n`).join('')}`;

test('each trigger on new rows of files has one set-based twin, and each twin has triggers', (context) => {
  const db = openFile(importPlace(context).databaseFile);
  context.after(() => db.close());
  const tables = Object.values(TARGETS).map(({ table }) => table);
  const used = tables.flatMap((table) => {
    const select = `SELECT name FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name = ? AND ${IS_ON_INSERT}`;
    const triggers = db.raw.prepare(select).pluck().all(table) as string[];
    for (const trigger of triggers)
      assert.equal(TRIGGER_GROUPS.filter(({ has }) => has(trigger, table)).length, 1, trigger);
    return triggers.map((trigger) => groupOf(trigger, table));
  });
  assert.deepEqual(new Set(used), new Set(TRIGGER_GROUPS));
});

test('a large import is refused where a trigger would be skipped', async (context) => {
  const place = importPlace(context);
  const db = openFile(place.databaseFile);
  context.after(() => db.close());
  db.exec(`CREATE TABLE audited (id INTEGER);
    CREATE TRIGGER audit AFTER INSERT ON cooperatives BEGIN INSERT INTO audited VALUES (NEW.id); END`);
  await assert.rejects(
    place.load('cooperatives', cooperatives),
    /audit on cooperatives has no set-based twin/,
  );
  assert.deepEqual(place.query('SELECT id FROM cooperatives'), []);
});

test('the names of a large import are found, those of members too', async (context) => {
  const place = importPlace(context);
  assert.equal((await place.load('cooperatives', cooperatives)).status, 0);
  const rows = Array.from({ length: ROWS }, (_, i) => `C-1,${nid(i)},M-${i},Somebody`);
  const { status, err } = await place.load('members', members(...rows));
  assert.equal(status, 0, err);
  for (const [index, word] of [
    ['cooperative_names', 'name'],
    ['member_names', 'somebody'],
  ])
    assert.equal(place.value(`SELECT count(*) FROM ${index} WHERE ${index} MATCH '${word}'`), ROWS, index);
});

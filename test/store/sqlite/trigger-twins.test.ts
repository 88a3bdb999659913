/** What triggers keep is also kept by large imports, which drop the triggers while they insert. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupOf, IS_ON_INSERT, TRIGGER_GROUPS } from '../../../src/import/staging/apply-checked-file.ts';
import { TARGETS } from '../../../src/import/staging/staging-tables.ts';
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

test('a file builds the indexes again when it brings at least a quarter of the rows', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nC-1,Name\n');
  const stored = 3 * ROWS;
  const db = openFile(place.databaseFile);
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${stored})
    INSERT INTO members (cooperative_id, identity_card, member_code, full_name, role, status,
      registration_date, created_at, updated_at)
    SELECT 1, 1198580000000000 + i * 10 + 1, 'S-' || i, 'Somebody', 'MEMBER', 'active', 1, 1, 1 FROM n`);
  db.close();
  const version = () => place.value('PRAGMA schema_version') as number;
  /** How many times the schema changes: triggers are dropped and created in any case. */
  const load = async (from: number) => {
    const before = version();
    const rows = Array.from({ length: ROWS }, (_, i) => `C-1,${nid(from + i)},M-${from + i},Somebody`);
    assert.equal((await place.load('members', members(...rows))).status, 0);
    return version() - before;
  };
  const indexes = "sqlite_schema WHERE tbl_name = 'members' AND type = 'index'";
  const [rebuilding, adding] = [await load(0), await load(ROWS)];
  assert.equal(rebuilding - adding, 2 * (place.value(`SELECT count(*) FROM ${indexes}`) as number));
  for (const index of ['members_person', 'members_code', 'members_status'])
    assert.equal(place.value(`SELECT count(*) FROM members INDEXED BY ${index}`), stored + 2 * ROWS, index);
  assert.equal(place.value('PRAGMA integrity_check'), 'ok');
});

test('many deliveries beside more stored ones count in the lookups of their members only', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nC-1,Name\n');
  await place.load('members', members(`C-1,${nid(1)},M-1,Somebody`, `C-1,${nid(2)},M-2,Somebody else`));
  const delivered = new Date(place.clock.now() - 86_400_000).toISOString();
  const stored = 4 * ROWS;
  const db = openFile(place.databaseFile);
  context.after(() => db.close());
  db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${stored})
     INSERT INTO production_entries (cooperative_id, member_id, reference, delivered_at, grams)
     SELECT 1, 1, 'S-' || i, unixepoch(?), 1000 FROM n`,
    [delivered],
  );
  // What a lookup is served from until a trigger, or what stands for it, says that it is out of date.
  db.exec("UPDATE members SET production = 'served'");
  const rows = Array.from({ length: ROWS }, (_, i) => `C-1,M-2,P-${i},${delivered},1`);
  const header = 'cooperative_code,member_code,reference,delivered_at,kg';
  const { status, err } = await place.load('production', `${[header, ...rows].join('\n')}\n`);
  assert.equal(status, 0, err);
  const [one, other] = place.query('SELECT production FROM members ORDER BY id');
  assert.deepEqual(one, { production: 'served' });
  assert.match(JSON.stringify(other), new RegExp(`\\b${ROWS}\\b`));
});

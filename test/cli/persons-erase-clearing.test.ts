/** `persons erase`: what is left in the log and free space, and whether the operator learns it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import {
  type ImportPlace,
  importPlace,
  LOANS_HEADER,
  members,
  nid,
  SAVINGS_HEADER,
} from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';
import { openFile } from '../support/sqlite.ts';

const WHY = ['--reason', 'Request of 12 June'];
const PAYMENTS_HEADER = 'cooperative_code,loan_reference,reference,amount,method,paid_at';
const ERASED = 'This person was erased. Nothing was changed.\n';

async function start(
  context: TestContext,
  ...files: readonly (readonly [string, string])[]
): Promise<ImportPlace> {
  const place = importPlace(context);
  const all = [
    ['cooperatives', 'code,name\nA-1,Abahuje\n'],
    ['members', members(`A-1,${nid(1)},ZX-1,Zimulinda Aline`, `A-1,${nid(2)},M-2,Mugabo Jean`)],
    ...files,
  ] as const;
  for (const [kind, content] of all) {
    const { status, err } = await place.load(kind, content);
    assert.equal(status, 0, err);
  }
  return place;
}

const erase = (place: ImportPlace, ...more: string[]) =>
  place.command('persons', 'erase', '--yes', nid(1), ...WHY, ...more);
const isCleared = (place: ImportPlace) =>
  place.value('SELECT count(*) = 0 FROM erased_persons WHERE cleared_at IS NULL') === 1;

/** As a kill between the commit and the clearing leaves it: a value in free space, and no mark. */
function leaveCopy(place: ImportPlace, text: string): void {
  const db = openFile(place.databaseFile);
  try {
    db.raw.pragma('secure_delete = OFF');
    const insert = db.raw.prepare(
      `INSERT INTO changes (entity, row_id, field, old, at, actor)
       VALUES ('members', 2, 'mobile', ?, 1, 'key:1')`,
    );
    const { lastInsertRowid } = insert.run(text);
    db.raw.prepare('DELETE FROM changes WHERE id = ?').run(lastInsertRowid);
    db.exec('UPDATE erased_persons SET cleared_at = NULL');
    db.raw.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

test('references that contain the number are counted, payments and accounts included', async (context) => {
  const place = await start(
    context,
    ['savings', `${SAVINGS_HEADER}\nA-1,ZX-1,S-${nid(1)},T-1,contribution,123,2025-06-01\n`],
    ['loans', `${LOANS_HEADER}\nA-1,ZX-1,L-1,1000,12,approved,0,2025-01-01,,2025-01-01\n`],
    ['payments', `${PAYMENTS_HEADER}\nA-1,L-1,Y-${nid(1)},10,cash,2025-06-01\n`],
  );
  const { status, out } = await erase(place);
  assert.equal(status, 0);
  assert.match(out, /References and account numbers that contain the national ID, and stay: 2\./);
  assert.doesNotMatch(out, /Another process/);
  assert.ok(isCleared(place));
  // The file is not rewritten for what no repetition can remove.
  const before = readFileSync(place.databaseFile);
  const again = await erase(place);
  assert.deepEqual([again.status, again.err], [1, ERASED]);
  assert.ok(before.equals(readFileSync(place.databaseFile)));
});

test('after a kill before the file was cleared, the repeated command clears it and says so', async (context) => {
  const place = await start(context);
  assert.equal((await erase(place)).status, 0);
  assert.ok(isCleared(place));
  leaveCopy(place, 'Zimulinda');
  assert.deepEqual(filesWith(place.folder, ['Zimulinda']), ['registry.db: Zimulinda']);
  const before = readFileSync(place.databaseFile);
  const dry = await erase(place, '--dry-run');
  assert.match(dry.err, /may still hold values: run the command again without --dry-run\./);
  assert.ok(before.equals(readFileSync(place.databaseFile)));
  const again = await erase(place);
  assert.match(
    again.err,
    /^This person was erased\. The log and free space of the database no longer hold values/,
  );
  assert.equal(again.status, 1);
  assert.deepEqual(filesWith(place.folder, ['Zimulinda']), []);
  assert.equal((await erase(place)).err, ERASED);
});

test('the erasure of another person clears what is left of earlier ones', async (context) => {
  const place = await start(context);
  assert.equal((await erase(place)).status, 0);
  leaveCopy(place, 'Zimulinda');
  assert.equal((await place.command('persons', 'erase', '--yes', nid(2), ...WHY)).status, 0);
  assert.deepEqual(filesWith(place.folder, ['Zimulinda', 'Mugabo']), []);
  assert.ok(isCleared(place));
});

test('copies of any value in free space are cleared, not only of national IDs', async (context) => {
  const place = await start(context);
  const db = openFile(place.databaseFile);
  db.raw.pragma('secure_delete = OFF');
  db.exec(`CREATE TABLE copies AS
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20)
    SELECT 'Zimulinda +250788123456' || printf('%3000d', i) AS text FROM n`);
  db.exec('DROP TABLE copies');
  db.raw.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  assert.notDeepEqual(filesWith(place.folder, ['+250788123456']), []);
  assert.equal((await erase(place)).status, 0);
  assert.deepEqual(filesWith(place.folder, ['+250788123456']), []);
});

test('an undone import leaves no values of the people that it had brought', async (context) => {
  const place = await start(context);
  const file = (phone: string, name: string) =>
    `cooperative_code,identity_card,member_code,full_name,mobile\nA-1,${nid(5)},M-5,${name},${phone}\n`;
  await place.load('members', file('0788111222', 'Uwera Solange'));
  await place.load('members', file('0788333444', 'Uwera Solangette'));
  for (const id of ['4', '3']) assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
  assert.deepEqual(place.query('SELECT old, new FROM changes WHERE old IS NOT NULL OR new IS NOT NULL'), []);
  assert.equal((await place.command('check')).status, 0);
});

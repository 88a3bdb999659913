/** The access ledger in backups and restores: no reading is lost, and damage stops neither. */
import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { openCommandLedger } from '../../../../src/store/sqlite/ledger/command-ledger.ts';
import { temporaryFolder, testClock } from '../../../support/app.ts';
import { command } from '../../../support/command.ts';
import { copyRegistry } from '../../../support/sample-registry.ts';
import { allEntries, findReceipt, ledgerPlaceIn, reading, verifyIn } from '../../../support/sqlite-ledger.ts';

/** A registry whose ledger has two entries, and a third one after the backup. */
async function backedUp(context: TestContext) {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const live = ledgerPlaceIn(join(root, 'live'));
  const read = async (place = live) =>
    (await openCommandLedger(place.databaseFile).record([reading(), reading()])) as [string, string];
  const before = await read();
  const clock = testClock();
  const backUp = async (...options: string[]) => {
    clock.advance(1_000);
    const folder = join(root, 'backups');
    return await command(
      ['backup', folder, '--keep', '2', '--yes', '--json', ...options, '--db', db],
      {},
      clock,
    );
  };
  const outcome = await backUp('--verify');
  assert.equal(outcome.status, 0, outcome.err);
  const { folder } = JSON.parse(outcome.out) as { folder: string };
  const restore = async (place = live, from = folder) => {
    const options = ['--replace', '--json', '--db', place.databaseFile];
    const { status, out, err } = await command(['restore', from, ...options]);
    assert.notEqual(out, '', err);
    return { status, err, ledger: JSON.parse(out).ledger };
  };
  return { root, db, live, read, before, after: await read(), folder, backUp, restore };
}

/** Zeroes a page in the middle of a file. */
function damage(file: string): void {
  const { size } = statSync(file);
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(4096), 0, 4096, Math.floor(size / 2 / 4096) * 4096);
  closeSync(handle);
}

/** So many that their rows fill pages of their own. */
const MANY = Array.from({ length: 40 }, () => reading({ endUser: 'x'.repeat(200) }));

test('a backup has the ledger and verifies it; elsewhere the readings go on in a chain of their own', async (context) => {
  const { root, folder, restore, read, before } = await backedUp(context);
  assert.equal(allEntries(ledgerPlaceIn(folder)).length, 2);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  const { status, ledger } = await restore(other);
  assert.deepEqual([status, ledger], [0, { added: 2, differing: [], faults: [] }]);
  const [receipt] = await read(other);
  assert.match(receipt, /^1-/);
  const origins = new Set(allEntries(other).map(({ origin }) => origin));
  assert.equal(origins.size, 2);
  assert.ok(findReceipt(other, before[1]).entry);
  const checked = await command(['check', '--db', other.databaseFile]);
  assert.match(checked.out, /access ledger +ok, 4 readings/);
});

test('a backup whose ledger was taken away is not sound', async (context) => {
  const { folder } = await backedUp(context);
  rmSync(join(folder, 'registry.ledger.db'));
  const { status, out } = await command(['backup', 'verify', folder]);
  assert.deepEqual([status, /registry\.ledger\.db: it is missing/.test(out)], [1, true]);
});

test('a restore drops no reading, and who was read is found as before', async (context) => {
  const { live, restore, before, after } = await backedUp(context);
  assert.deepEqual((await restore()).ledger, { added: 0, differing: [], faults: [] });
  for (const receipt of [...before, ...after]) assert.ok(findReceipt(live, receipt).entry, receipt);
  assert.deepEqual(verifyIn(live).faults, []);
});

test('back again: the readings of the second machine come home, and their receipts verify', async (context) => {
  const { root, db, live, read, restore, before, after } = await backedUp(context);
  const second = ledgerPlaceIn(join(root, 'second'));
  await restore(second);
  const there = await read(second);
  const back = join(root, 'back');
  assert.equal((await command(['backup', back, '--db', second.databaseFile])).status, 0);
  const { status, ledger } = await restore(live, back);
  assert.deepEqual([status, ledger], [0, { added: 2, differing: [], faults: [] }]);
  for (const receipt of [...before, ...after, ...there]) assert.ok(findReceipt(live, receipt).entry, receipt);
  assert.deepEqual(verifyIn(live).faults, []);
  const [next] = await read();
  assert.match(next, /^5-/, 'the chain of this machine goes on');
  assert.equal((await command(['check', '--db', db])).status, 0);
});

test('two copies that went on apart with one chain are both kept, and this is said', async (context) => {
  const { live, restore, backUp, folder, after } = await backedUp(context);
  const { folder: newer } = JSON.parse((await backUp()).out);
  // With the tools of the system.
  for (const end of ['', '-wal', '-shm']) rmSync(live.ledgerFile + end, { force: true });
  copyFileSync(join(folder, 'registry.ledger.db'), live.ledgerFile);
  const apart = await openCommandLedger(live.databaseFile).record([reading({ status: 404 })]);
  const { status, ledger } = await restore(live, newer);
  assert.deepEqual([status, ledger.added, ledger.differing.length], [0, 4, 1]);
  for (const receipt of [...after, ...apart]) assert.ok(findReceipt(live, receipt).entry, receipt);
  assert.deepEqual(verifyIn(live).faults, []);
});

test('a damaged ledger stops no backup: what can be read is in it, older ones are removed, status 3', async (context) => {
  const { root, db, live, backUp } = await backedUp(context);
  const ledger = openCommandLedger(live.databaseFile);
  for (let i = 0; i < 30; i++) await ledger.record(MANY);
  damage(live.ledgerFile);
  const { status, out, err } = await backUp('--verify');
  assert.equal(status, 3, err);
  assert.match(err, /The access ledger is NOT sound: registry\.ledger\.db: .* can be read/);
  const { folder, kept } = JSON.parse(out);
  assert.equal(kept, 2);
  const shown = JSON.parse((await command(['status', '--json', '--db', db])).out);
  assert.match(shown.last_backup.fault, /registry\.ledger\.db/);
  const taken = allEntries(ledgerPlaceIn(folder)).length;
  assert.ok(taken > 500 && taken < 1204, String(taken));
  assert.equal(readdirSync(join(root, 'backups')).length, 2);
});

test('a batch that was changed stops no backup, and verifying it says so with status 3', async (context) => {
  const { root, live, backUp } = await backedUp(context);
  const file = new Database(live.ledgerFile);
  file.exec(`UPDATE ledger_batches SET entries = replace(entries, '200', '404')`);
  file.close();
  const { status, err } = await backUp('--verify');
  assert.equal(status, 3);
  assert.match(err, /was changed after it was written/);
  assert.equal(readdirSync(join(root, 'backups')).length, 2);
});

test('a restore goes on where the ledger is not even a database, and keeps the file', async (context) => {
  const { live, restore, before } = await backedUp(context);
  writeFileSync(live.ledgerFile, 'in the way');
  const restored = await restore();
  assert.equal(restored.status, 3, restored.err);
  assert.match(restored.err, /registry\.ledger\.damaged-1\.db/);
  assert.ok(existsSync(live.ledgerFile.replace('.db', '.damaged-1.db')));
  assert.ok(findReceipt(live, before[0]).entry);
  assert.equal((await openCommandLedger(live.databaseFile).record([reading()])).length, 1);
});

test('ledger repair adds the readings of a backup', async (context) => {
  const { live, db, folder, before } = await backedUp(context);
  writeFileSync(live.ledgerFile, 'in the way');
  const repaired = await command(['ledger', 'repair', '--backup', folder, '--json', '--db', db]);
  const { readings, added } = JSON.parse(repaired.out);
  assert.deepEqual([readings, added], [0, 2]);
  assert.ok(findReceipt(live, before[1]).entry);
  assert.deepEqual(verifyIn(live).faults, []);
});

test('ledger repair keeps what can be read, and the readings go on in a new chain', async (context) => {
  const { live, db, before } = await backedUp(context);
  const ledger = openCommandLedger(live.databaseFile);
  for (let i = 0; i < 30; i++) await ledger.record(MANY);
  damage(live.ledgerFile);
  const repaired = await command(['ledger', 'repair', '--json', '--db', db], { ACCESS_LEDGER: 'on' });
  assert.equal(repaired.status, 0, repaired.err);
  const { kept, readings } = JSON.parse(repaired.out);
  assert.ok(existsSync(kept));
  assert.ok(readings > 500 && readings < 1204, String(readings));
  assert.ok(findReceipt(live, before[0]).entry);
  assert.equal(new Set(allEntries(live).map(({ origin }) => origin)).size, 2);
  assert.equal((await command(['ledger', 'verify', '--db', db])).status, 1, 'the gap stays visible');
});

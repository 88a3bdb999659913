/** The access ledger in backups and restores: no access is lost, and damage to a file stops neither. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { copyLedger, restoreLedger } from '../../../../src/ledger/ledger-copy.ts';
import { LedgerWriter } from '../../../../src/ledger/ledger-writer.ts';
import { openCommandLedger } from '../../../../src/ledger/open-ledger.ts';
import { NOON, temporaryFolder, testClock } from '../../../support/app.ts';
import { command } from '../../../support/command.ts';
import { copyRegistry } from '../../../support/sample-registry.ts';
import {
  allEntries,
  findReceipt,
  type LedgerPlace,
  ledgerNames,
  ledgerPlaceIn,
  NID,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';
import { writeOldLedger } from '../../../support/sqlite-old-ledger.ts';

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

/** Enough accesses to fill entire pages. */
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

for (const [what, spoil, fault] of [
  ['missing', rmSync, 'it is missing'],
  ['damaged', damage, 'its content has changed'],
] as const)
  test(`a backup that has a file of the ledger ${what} is the newest sound one, with status 3`, async (context) => {
    const { root, live, backUp, before } = await backedUp(context);
    const { folder: newest } = JSON.parse((await backUp()).out);
    spoil(ledgerPlaceIn(newest).ledgerFile);
    const verified = await command(['backup', 'verify', newest]);
    assert.equal(verified.status, 3);
    const named = new RegExp(`NOT sound: registry\\.ledger/${ledgerNames(live)[0]}: ${fault}`);
    assert.match(verified.err, named);
    const { databaseFile } = ledgerPlaceIn(join(root, 'elsewhere'));
    const taken = await command([
      ...['restore', '--newest', join(root, 'backups'), '--db', databaseFile, '--json'],
    ]);
    assert.equal(taken.status, 3);
    assert.equal(JSON.parse(taken.out).folder, newest);
    assert.match(taken.err, new RegExp(`was not restored as it was: registry.*${fault}`));
    assert.doesNotMatch(taken.err + verified.err, /Passed over|\.\./);
    // Opening the first copy, the newest file, may change its bytes: a second copy is then added, once.
    for (const _ of [2, 3, 4]) await command(['restore', newest, '--db', databaseFile, '--replace']);
    assert.ok(ledgerNames({ databaseFile }).length <= 2);
    assert.ok(findReceipt(live, before[0]).entry);
  });

test('the copy of the open file is closed, and as small as its entries', async (context) => {
  const { live, folder } = await backedUp(context);
  const copy = ledgerPlaceIn(folder).ledgerFile;
  const file = new Database(copy, { readonly: true });
  const { last } = file.prepare('SELECT last_sequence AS last FROM ledger_part').get() as { last: number };
  assert.deepEqual([last, file.pragma('journal_mode', { simple: true })], [2, 'delete']);
  file.close();
  assert.ok(statSync(copy).size < 100_000);
  assert.equal(basename(copy), basename(live.ledgerFile));
});

test('a restore drops no reading, and who was read is found as before', async (context) => {
  const { live, restore, before, after } = await backedUp(context);
  assert.deepEqual((await restore()).ledger, { added: 0, differing: [], faults: [] });
  for (const receipt of [...before, ...after]) assert.ok(findReceipt(live, receipt).entry, receipt);
  assert.deepEqual(verifyIn(live).faults, []);
});

test('a restore that cannot bring its ledger is refused before anything changes', async (context) => {
  const { db, live, folder } = await backedUp(context);
  const restore = () => command(['restore', folder, '--replace', '--db', db]);
  for (const put of [
    () => writeFileSync(live.ledgerFolder, 'in the way'),
    () => symlinkSync('/no/such/disk', live.ledgerFolder),
  ]) {
    rmSync(live.ledgerFolder, { recursive: true, force: true });
    put();
    const { status, err } = await restore();
    assert.match(err, /registry\.ledger (is not a folder|cannot be written)/);
    assert.equal(status, 2);
    assert.ok(!existsSync(`${db}.restoring`));
  }
  rmSync(live.ledgerFolder);
  assert.equal((await restore()).status, 0);
});

/** A folder on another disk than that of temporary files. */
const OTHER_DISK = '/dev/shm';
const hasOtherDisk = existsSync(OTHER_DISK) && statSync(OTHER_DISK).dev !== statSync(tmpdir()).dev;

test('a ledger on a disk of its own is restored there', { skip: !hasOtherDisk }, async (context) => {
  const { live, restore, before, after } = await backedUp(context);
  const elsewhere = mkdtempSync(join(OTHER_DISK, 'registry-test-'));
  context.after(() => rmSync(elsewhere, { recursive: true }));
  rmSync(live.ledgerFolder, { recursive: true });
  symlinkSync(elsewhere, live.ledgerFolder);
  assert.deepEqual((await restore()).ledger, { added: 2, differing: [], faults: [] });
  for (const receipt of before) assert.ok(findReceipt(live, receipt).entry, receipt);
  assert.equal(findReceipt(live, after[0]).entry, undefined);
  assert.deepEqual(verifyIn(live).faults, []);
  assert.equal(statSync(join(elsewhere, ledgerNames(live)[0] as string)).mode & 0o777, 0o600);
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
  assert.match(next, /^1-/, 'a restore closes the open file');
  assert.equal((await command(['check', '--db', db])).status, 0);
});

test('two copies that went on apart with one chain are both kept, and this is said', async (context) => {
  const { live, restore, backUp, folder, after } = await backedUp(context);
  const { folder: newer } = JSON.parse((await backUp()).out);
  // The copy is put in place by hand, and opened again.
  const { ledgerFile } = live;
  for (const end of ['', '-wal', '-shm']) rmSync(ledgerFile + end, { force: true });
  copyFileSync(ledgerPlaceIn(folder).ledgerFile, ledgerFile);
  const file = new Database(ledgerFile);
  file.exec('UPDATE ledger_part SET last_sequence = NULL, last_hash = NULL');
  file.close();
  const apart = await openCommandLedger(live.databaseFile).record([reading({ status: 404 })]);
  const { status, ledger } = await restore(live, newer);
  assert.deepEqual([status, ledger.added, ledger.differing.length], [0, 2, 1]);
  for (const receipt of [...after, ...apart]) assert.ok(findReceipt(live, receipt).entry, receipt);
  assert.equal(allEntries(live).length, 5, 'those before the fork count once');
  assert.deepEqual(verifyIn(live).faults, []);
  assert.deepEqual((await restore(live, newer)).ledger, { added: 0, differing: [], faults: [] });
  assert.equal(allEntries(live).length, 5);
});

test('a file that is the beginning of the one in a backup is replaced by it, and never the other way', async (context) => {
  const { root, restore, backUp, folder, after, before } = await backedUp(context);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  await restore(other);
  assert.equal(allEntries(other).length, 2);
  const { folder: newer } = JSON.parse((await backUp()).out);
  assert.deepEqual((await restore(other, newer)).ledger, { added: 2, differing: [], faults: [] });
  assert.deepEqual([allEntries(other).length, ledgerNames(other).length], [4, 1]);
  assert.deepEqual((await restore(other, folder)).ledger, { added: 0, differing: [], faults: [] });
  for (const receipt of [...before, ...after]) assert.ok(findReceipt(other, receipt).entry, receipt);
  assert.deepEqual(verifyIn(other).faults, []);
});

test('a damaged file stops no backup: it is copied as it is and named, the others are sound, status 3', async (context) => {
  const { root, db, live, backUp } = await backedUp(context);
  const ledger = openCommandLedger(live.databaseFile);
  for (let i = 0; i < 30; i++) await ledger.record(MANY);
  const next = await ledger.record([reading({ timeMs: NOON + 40 * 24 * 3_600_000 })]);
  const [damaged = ''] = ledgerNames(live);
  damage(join(live.ledgerFolder, damaged));
  const { status, out, err } = await backUp('--verify');
  assert.equal(status, 3, err);
  assert.match(err, new RegExp(`The access ledger is NOT sound: .*${damaged}`));
  assert.doesNotMatch(err, /\.\.|docs.*docs/);
  const { folder, kept } = JSON.parse(out);
  assert.equal(kept, 2);
  const shown = JSON.parse((await command(['status', '--json', '--db', db])).out);
  assert.match(shown.last_backup.fault, new RegExp(damaged));
  assert.deepEqual(
    readFileSync(join(folder, 'registry.ledger', damaged)),
    readFileSync(join(live.ledgerFolder, damaged)),
  );
  assert.ok(findReceipt(ledgerPlaceIn(folder), next[0] as string).entry);
  assert.equal(readdirSync(join(root, 'backups')).length, 2);
});

test('a backup names a file that it has copied damaged, also when it does not verify itself', async (context) => {
  const { live, backUp } = await backedUp(context);
  const ledger = openCommandLedger(live.databaseFile);
  for (let i = 0; i < 30; i++) await ledger.record(MANY);
  await ledger.record([reading({ timeMs: NOON + 40 * 24 * 3_600_000 })]);
  const [damaged = ''] = ledgerNames(live);
  damage(join(live.ledgerFolder, damaged));
  const { status, err } = await backUp();
  assert.equal(status, 3);
  assert.match(err, new RegExp(`NOT sound: ${damaged}: it cannot be read: .*[^.]\\. See docs`));
});

test('of a file that the system cannot read, a backup has nothing and counts as complete', async (context) => {
  const { live, backUp } = await backedUp(context);
  mkdirSync(join(live.ledgerFolder, '2020-01-a0000000-0001.db'));
  const { status, out, err } = await backUp();
  assert.equal(status, 3, err);
  assert.match(err, /2020-01-a0000000-0001\.db: it cannot be read/);
  assert.equal(JSON.parse(out).kept, 2);
});

test('a restore passes over a file of the ledger that the system cannot read', async (context) => {
  const { root, restore, folder } = await backedUp(context);
  const { ledgerFile } = ledgerPlaceIn(folder);
  rmSync(ledgerFile);
  // Reading a folder fails as reading a broken disk does.
  mkdirSync(ledgerFile);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  const { status, ledger } = await restore(other);
  assert.deepEqual([status, ledger.added], [3, 0]);
  assert.match(
    ledger.faults.join(),
    new RegExp(`^registry\\.ledger/${basename(ledgerFile)}: it cannot be read: EISDIR.*[^.]\\.$`),
  );
  assert.deepEqual(ledgerNames(other), []);
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

test('a restore goes on where a file of the ledger is not even a database, and leaves it', async (context) => {
  const { live, restore, backUp, before } = await backedUp(context);
  const { ledgerFile } = live;
  writeFileSync(ledgerFile, 'in the way');
  assert.match((await backUp()).err, /: file is not a database\. See docs\/ledger\.md#damage\.\n$/);
  const restored = await restore();
  assert.deepEqual([restored.status, restored.ledger.added], [3, 2], restored.err);
  assert.equal(readFileSync(ledgerFile, 'utf8'), 'in the way');
  assert.ok(findReceipt(live, before[0]).entry);
  assert.equal((await openCommandLedger(live.databaseFile).record([reading()])).length, 1);
  const { status, err } = await command(['ledger', 'person', NID, '--db', live.databaseFile]);
  assert.equal(status, 0);
  assert.match(
    err,
    new RegExp(`${basename(ledgerFile)} of the access ledger cannot be read, and was passed over`),
  );
});

test('a backup of 1.0.0 brings its ledger, and one that is there already adds nothing', async (context) => {
  const { root, db, live, restore } = await backedUp(context);
  const { receipts } = writeOldLedger(live);
  const folder = join(root, 'old');
  assert.equal((await command(['backup', folder, '--db', db])).status, 0);
  assert.equal(ledgerNames(live).length, 2);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  assert.deepEqual((await restore(other, folder)).ledger.added, 4 + receipts.length);
  for (const receipt of receipts) assert.ok(findReceipt(other, receipt).entry, receipt);
  assert.deepEqual((await restore(other, folder)).ledger.added, 0);
  assert.deepEqual(verifyIn(other).faults, []);
});

test('a ledger of 1.0.0 that cannot be read is named in full, as no national ID', async (context) => {
  const { db, live, backUp } = await backedUp(context);
  writeFileSync(db.replace(/\.db$/, '.ledger.db'), 'no database');
  const { status, err } = await backUp();
  assert.match(err, new RegExp(`${ledgerNames(live)[0]}: it cannot be read`));
  assert.equal(status, 3);
});

test('while a process has the ledger of 1.0.0 open, a backup and a restore name it and leave nothing behind', async (context) => {
  const { root, db, live, folder } = await backedUp(context);
  writeOldLedger(live);
  const old = join(root, 'live', 'registry.ledger.db');
  const other = new Database(old);
  const release = () => other.close();
  context.after(release);
  other.exec('BEGIN; SELECT count(*) FROM ledger_batches');
  for (const words of [
    ['backup', join(root, 'more')],
    ['restore', folder, '--replace'],
  ]) {
    const { status, err } = await command([...words, '--db', db]);
    assert.equal(status, 1);
    assert.match(err, /registry\.ledger\.db/);
  }
  assert.deepEqual(
    readdirSync(join(root, 'live')).filter((name) => name.includes('restoring')),
    [],
  );
  release();
  assert.equal((await command(['backup', join(root, 'more'), '--db', db])).status, 0);
});

test('a file without entries is not taken for the beginning of another one', async (context) => {
  const { root, restore, before } = await backedUp(context);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  mkdirSync(other.ledgerFolder, { recursive: true });
  const writer = new LedgerWriter(other.databaseFile, 1_000);
  writer.start(NOON);
  writer.close();
  const [empty] = ledgerNames(other);
  assert.equal((await restore(other)).ledger.added, 2);
  assert.equal(ledgerNames(other).length, 2);
  assert.ok(ledgerNames(other).includes(empty as string));
  for (const receipt of before) assert.ok(findReceipt(other, receipt).entry, receipt);
  await other.openLedger().record([reading()]);
  assert.deepEqual(verifyIn(other).faults, []);
});

test('a damaged file stands for no intact copy: a restore adds that, and each entry is read once', async (context) => {
  const { live, backUp, restore } = await backedUp(context);
  const ledger = openCommandLedger(live.databaseFile);
  for (let i = 0; i < 30; i++) await ledger.record(MANY);
  const all = allEntries(live).map(({ receipt }) => receipt);
  const { folder } = JSON.parse((await backUp()).out);
  damage(live.ledgerFile);
  const { length: readable } = allEntries(live);
  assert.ok(readable < all.length);
  const { ledger: restored } = await restore(live, folder);
  assert.deepEqual(restored, { added: all.length - readable, differing: [], faults: [] });
  const [first = '', second = ''] = ledgerNames(live).map((name) => join(live.ledgerFolder, name));
  const readAll = () => allEntries(live).map(({ receipt }) => receipt);
  assert.deepEqual(readAll(), all);
  assert.equal(verifyIn(live).entries, all.length);
  // The order of the two files changes nothing.
  renameSync(first, `${first}.aside`);
  renameSync(second, first);
  renameSync(`${first}.aside`, second);
  assert.deepEqual(readAll(), all);
  assert.equal(verifyIn(live).entries, all.length);
  assert.deepEqual((await restore(live, folder)).ledger.added, 0);
  assert.equal(ledgerNames(live).length, 2);
});

test('a file of a backup that is damaged in the middle is added as it is, once', async (context) => {
  const { root, live, backUp, restore, folder: before } = await backedUp(context);
  const ledger = openCommandLedger(live.databaseFile);
  for (let i = 0; i < 30; i++) await ledger.record(MANY);
  await ledger.record([reading({ timeMs: NOON + 40 * 24 * 3_600_000 })]);
  const [damaged = ''] = ledgerNames(live);
  damage(join(live.ledgerFolder, damaged));
  const { length: readable } = allEntries(live);
  const { folder } = JSON.parse((await backUp()).out);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  const first = await restore(other, folder);
  assert.deepEqual([first.status, first.ledger.added], [3, readable]);
  assert.deepEqual(first.ledger.faults, [`${damaged} of the backup cannot be read: it was added as it is.`]);
  assert.deepEqual((await restore(other, folder)).ledger.added, 0);
  assert.equal(ledgerNames(other).length, 2);
  // A file with the beginning of the damaged one is not replaced by it.
  const third = ledgerPlaceIn(join(root, 'third'));
  await restore(third, before);
  assert.deepEqual((await restore(third, folder)).ledger.added, readable - 2);
  assert.equal(ledgerNames(third).length, 3);
});

test('a damaged file larger than a buffer can be is added as it is', async (context) => {
  const root = temporaryFolder(context);
  const [copies, place] = ['copies', 'place'].map((name) => {
    const made = ledgerPlaceIn(join(root, name));
    mkdirSync(made.ledgerFolder, { recursive: true });
    const file = join(made.ledgerFolder, '2026-11-a0000000-0000.db');
    writeFileSync(file, name.padEnd(8));
    // Sparse: it takes no room.
    truncateSync(file, 2 ** 31 + 1);
    return made;
  }) as [LedgerPlace, LedgerPlace];
  const { faults } = await restoreLedger(place.databaseFile, dirname(copies.databaseFile));
  assert.match(faults.join(), /was added as it is/);
  assert.equal(ledgerNames(place).length, 2);
});

test('a batch whose entries make no sense is passed over, and read from an intact copy', async (context) => {
  const { root, live, restore, folder } = await backedUp(context);
  const other = ledgerPlaceIn(join(root, 'elsewhere'));
  await restore(other);
  const file = new Database(other.ledgerFile);
  file.exec(`UPDATE ledger_batches SET entries = replace(entries, '"status":', '"status"')`);
  file.close();
  const [name = ''] = ledgerNames(other);
  for (const what of [['person', NID], ['key', '7'], ['export']]) {
    const { status, err } = await command(['ledger', ...what, '--db', other.databaseFile]);
    assert.equal(status, 0, err);
    assert.match(err, new RegExp(`${name} of the access ledger cannot be read, and was passed over`));
  }
  assert.equal(allEntries(other).length, 3, 'what the commands have read');
  await restore(other, folder);
  assert.equal(allEntries(other).length, 5);
  assert.equal(allEntries(live).length, 4);
});

/** Commits to a file as often as the disk allows, in a thread, until the test ends. */
async function commitAlways(context: TestContext, file: string): Promise<void> {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const db = new (require('better-sqlite3'))(workerData);
     db.pragma('synchronous = OFF');
     const commit = db.prepare("INSERT OR REPLACE INTO ledger_reserve VALUES (1000, randomblob(10))");
     commit.run();
     parentPort.postMessage('');
     setInterval(() => commit.run(), 1);`,
    { eval: true, workerData: file },
  );
  context.after(() => worker.terminate());
  await once(worker, 'message');
}

test('a copy of the open file ends although others commit all the time, and is ended by its signal', async (context) => {
  const place = ledgerPlaceIn(temporaryFolder(context));
  await place.openLedger().record([reading()]);
  const { ledgerFile } = place;
  const file = new Database(ledgerFile);
  // Large enough that others commit during the copy.
  for (let i = 1; i <= 64; i++) file.exec(`INSERT INTO ledger_reserve VALUES (${i}, zeroblob(1048576))`);
  file.close();
  await commitAlways(context, ledgerFile);
  const copyTo = (name: string, signal?: AbortSignal) => {
    const folder = join(temporaryFolder(context), name);
    mkdirSync(folder);
    return copyLedger(place.databaseFile, folder, signal);
  };
  const tooLong = sleep(10_000, 'too long', { ref: false });
  const copied = await Promise.race([copyTo('whole'), tooLong]);
  assert.deepEqual(copied, { names: [`registry.ledger/${basename(ledgerFile)}`], faults: [] });
  const aborting = new AbortController();
  const ended = copyTo('aborted', aborting.signal);
  aborting.abort(new Error('ended'));
  await assert.rejects(Promise.race([ended, tooLong]), /ended/);
});

/** Accesses that the thread of a service and commands record, and that are read back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { AccessLedger } from '../../../../src/access/access-ledger.ts';
import { closeOpenFile } from '../../../../src/ledger/ledger-writer.ts';
import { readMonthKeys } from '../../../../src/ledger/month-keys.ts';
import { openCommandLedger, readLedgerStatus } from '../../../../src/ledger/open-ledger.ts';
import { openServiceLedger } from '../../../../src/ledger/service-ledger.ts';
import { RegistryError } from '../../../../src/values/errors.ts';
import { NOON, testClock } from '../../../support/app.ts';
import {
  allEntries,
  findReceipt,
  type LedgerPlace,
  ledgerNames,
  ledgerPlace,
  NID,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';
import { writeOldLedger } from '../../../support/sqlite-old-ledger.ts';

interface Opened {
  readonly ledger: AccessLedger;
  readonly notes: string[];
  /** The thread that writes, once there is one. */
  readonly worker: Promise<Worker>;
}

function openService(context: TestContext, { databaseFile }: LedgerPlace): Opened {
  const notes: string[] = [];
  const worker = once(process, 'worker').then(([started]) => started as Worker);
  const note = (message: string) => void notes.push(message);
  const ledger = openServiceLedger(databaseFile, { clock: testClock(), days: 730, note });
  context.after(() => ledger.close());
  return { ledger, notes, worker };
}

test('each reading is recorded with its receipt, and holds no national ID', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = openService(context, place);
  const all = { asOfSequence: 91, cooperativeIds: [3, 4] };
  const receipts = await ledger.record([
    reading(),
    reading({
      reader: { user: 'alice' },
      subject: { all },
      address: null,
      purpose: 'crédit',
      endUser: 'Bob',
      isPage: true,
    }),
  ]);
  const more = await ledger.record([reading({ status: 404, subject: { identityCards: [NID] } })]);
  const entries = allEntries(place);
  assert.deepEqual(
    entries.map(({ receipt }) => receipt),
    [...receipts, ...more],
  );
  assert.match(receipts[0] ?? '', /^1-[0-9a-f]{32}$/);
  assert.deepEqual(
    entries.map(({ sequence }) => sequence),
    [1, 2, 3],
  );
  const [hashPerson] = readMonthKeys(place.keysFile).values();
  const { receipt: _, origin, ...first } = entries[0] as (typeof entries)[0];
  assert.match(origin, /^[0-9a-f]{32}$/);
  assert.deepEqual(first, {
    chain: 1,
    sequence: 1,
    time: '2025-06-15T10:00:00.000Z',
    request_id: 'request-1',
    key_id: 7,
    route: 'GET /members/{identity_card}',
    fields: ['identity', 'contact'],
    status: 200,
    address: '127.0.0.1',
    persons: [hashPerson?.(NID)],
    members: [12],
  });
  const { user, purpose, end_user: endUser, all: stored, ...others } = entries[1] as (typeof entries)[0];
  assert.deepEqual([user, purpose, endUser], ['alice', 'crédit', 'Bob']);
  assert.deepEqual([others.address, others.page], [undefined, true]);
  assert.deepEqual(stored, { as_of: 91, cooperatives: [3, 4] });
  const folder = join(place.databaseFile, '..');
  assert.equal(statSync(place.ledgerFolder).mode & 0o777, 0o700);
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    if (statSync(join(folder, name)).isDirectory()) continue;
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    assert.ok(!readFileSync(join(folder, name), 'latin1').includes(NID), name);
  }
});

test('any value is recorded as one value', async (context) => {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place.databaseFile);
  const identityCards = ['1\x1d2', NID, 'é'.repeat(30), NID];
  await ledger.record([
    reading({ endUser: 'a\x1e1\x1fb\nc', purpose: '"a" \\b é 😀', fields: [], subject: { identityCards } }),
  ]);
  const [entry, ...more] = allEntries(place);
  const { end_user: endUser, purpose, fields, persons } = entry ?? {};
  assert.deepEqual([endUser, purpose, fields, more], ['a 1 b c', '"a" \\b é 😀', [], []]);
  const [hashPerson] = readMonthKeys(place.keysFile).values();
  assert.deepEqual(
    persons,
    ['1 2', ...identityCards.slice(1)].map((each) => hashPerson?.(each)),
  );
  assert.deepEqual(verifyIn(place).faults, []);
});

test('a service and commands add to one chain, and what is given before the end is recorded', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = openService(context, place);
  const command = openCommandLedger(place.databaseFile);
  const receipts: (readonly string[])[] = [];
  for (const each of [ledger, command, ledger, command]) receipts.push(await each.record([reading()]));
  const given = [ledger.record([reading()]), ledger.record([reading(), reading()])];
  await ledger.close();
  receipts.push(...(await Promise.all(given)));
  const entries = allEntries(place);
  assert.deepEqual(
    entries.map(({ receipt }) => receipt),
    receipts.flat(),
  );
  assert.deepEqual(
    entries.map(({ chain, sequence }) => [chain, sequence]),
    [1, 2, 3, 4, 5, 6, 7].map((sequence) => [1, sequence]),
  );
  assert.deepEqual(verifyIn(place).faults, []);
});

test('each month has a key of its own, which all chains of that month share', async (context) => {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place.databaseFile);
  for (const day of ['2026-01-31', '2026-02-01', '2026-02-28'])
    await ledger.record([reading({ timeMs: Date.parse(day) })]);
  const hashes = allEntries(place).map(({ persons }) => persons?.[0]);
  assert.notEqual(hashes[0], hashes[1]);
  assert.equal(hashes[1], hashes[2]);
  assert.equal(readMonthKeys(place.keysFile).size, 2);
});

test('each month has a file of its own, which goes on with the chain of the one before', async (context) => {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place.databaseFile);
  const receipts: string[] = [];
  for (const day of ['2026-01-31', '2026-02-01', '2026-02-28', '2026-01-15'])
    receipts.push(...(await ledger.record([reading({ timeMs: Date.parse(day) })])));
  const [origin = ''] = allEntries(place).map((entry) => entry.origin.slice(0, 8));
  assert.deepEqual(ledgerNames(place), [
    `2026-01-${origin}-0001.db`,
    `2026-02-${origin}-0002.db`,
    `2026-01-${origin}-0003.db`,
  ]);
  assert.deepEqual(
    allEntries(place).map(({ receipt }) => receipt),
    receipts,
  );
  const { entries, chains, faults } = verifyIn(place);
  assert.deepEqual([entries, chains.length, faults], [4, 1, []]);
});

test('late readings of the month before go into the present file, whatever the order', async (context) => {
  const place = ledgerPlace(context);
  const ledger = openCommandLedger(place.databaseFile);
  for (const time of ['2025-12-31T23:59', '2026-01-01T00:01', '2025-12-31T23:58', '2026-01-01T00:02'])
    await ledger.record([reading({ timeMs: Date.parse(`${time}Z`) })]);
  assert.equal(ledgerNames(place).length, 2);
  assert.deepEqual([verifyIn(place).entries, verifyIn(place).faults], [4, []]);
});

test('looking at the newest file writes nothing to it when it is closed', async (context) => {
  const place = ledgerPlace(context);
  await place.openLedger().record([reading()]);
  closeOpenFile(place.databaseFile);
  const { ledgerFile } = place;
  const bytes = readFileSync(ledgerFile);
  closeOpenFile(place.databaseFile);
  assert.deepEqual(readFileSync(ledgerFile), bytes);
  await place.openLedger().record([reading()]);
  assert.equal(ledgerNames(place).length, 2);
  assert.deepEqual(readFileSync(ledgerFile), bytes);
});

test('a closed file is never written again, and needs nothing beside it', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = openService(context, place);
  await ledger.record([reading({ timeMs: Date.parse('2026-01-31') })]);
  await ledger.record([reading({ timeMs: Date.parse('2026-02-01') })]);
  const [closed = ''] = ledgerNames(place);
  const path = join(place.ledgerFolder, closed);
  const bytes = readFileSync(path);
  assert.ok(bytes.length < 1_000_000, 'its reserve was given back');
  for (const each of [ledger, openCommandLedger(place.databaseFile)])
    await each.record([reading({ timeMs: Date.parse('2026-02-02') })]);
  assert.deepEqual(readFileSync(path), bytes);
  assert.ok(!existsSync(`${path}-wal`));
});

test('processes that find the month changed at once begin one file', async (context) => {
  const place = ledgerPlace(context);
  const { ledger } = openService(context, place);
  await ledger.record([reading({ timeMs: Date.parse('2026-01-31') })]);
  const both = [ledger, openCommandLedger(place.databaseFile), openService(context, place).ledger];
  await Promise.all(both.map((each) => each.record([reading({ timeMs: Date.parse('2026-02-01') })])));
  const begun = ledgerNames(place).filter((name) => name.startsWith('2026-02'));
  assert.equal(begun.length, 1, begun.join());
  const { entries, chains, faults } = verifyIn(place);
  assert.deepEqual([entries, chains.length, faults], [4, 1, []]);
});

test('when the thread has ended, what it had is refused, and the next reading starts it again', async (context) => {
  const place = ledgerPlace(context);
  const { ledger, worker, notes } = openService(context, place);
  await ledger.record([reading()]);
  const ended = (await worker).terminate();
  const waiting = ledger.record([reading()]);
  await assert.rejects(waiting, (error) => error instanceof RegistryError && error.reason === 'ledger');
  await ended;
  const [receipt = ''] = await ledger.record([reading()]);
  assert.equal(allEntries(place).at(-1)?.receipt, receipt);
  assert.deepEqual(notes, [
    'access ledger: The service is stopping.',
    'access ledger: readings are recorded again',
  ]);
});

/** Ways in which a file cannot be used any more. */
const DAMAGES: { readonly [name: string]: (file: string) => void } = {
  'was taken away': (file) => renameSync(file, `${file}.away`),
  'is not a database any more': (file) => {
    writeFileSync(file, 'in the way');
    rmSync(`${file}-wal`, { force: true });
    rmSync(`${file}-shm`, { force: true });
  },
  'is empty': (file) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    truncateSync(file);
  },
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`a file that ${what} is left; readings go on at once in a new one, of a service`, async (context) => {
    const place = ledgerPlace(context);
    const first = openService(context, place);
    const [before = ''] = await first.ledger.record([reading()]);
    const { ledgerFile } = place;
    // While a service has the file open, SQLite would use the pages that it has in memory.
    if (what !== 'was taken away') await first.ledger.close();
    damage(ledgerFile);
    const { ledger, notes } = what === 'was taken away' ? first : openService(context, place);
    const [after = ''] = await ledger.record([reading()]);
    assert.match(after, /^1-/, 'a new chain');
    assert.equal(ledgerNames(place).at(-1)?.slice(-7), '0002.db');
    assert.match(notes.join('\n'), /cannot be used .*; recording continues in a new file/);
    await ledger.record([reading()]);
    assert.equal(notes.length, 1);
    assert.equal(ledger.state?.().replacedFiles, 1);
    assert.equal(findReceipt(place, after).entry?.receipt, after);
    assert.equal(findReceipt(place, before).entry, undefined);
    assert.match(verifyIn(place).faults.join('\n'), /0001\.db (is missing|cannot be read)/);
    const { unreadable = [] } = readLedgerStatus(place.databaseFile, { nowMs: NOON, days: 730 }) ?? {};
    assert.equal(unreadable.length, existsSync(ledgerFile) ? 1 : 0);
  });

  test(`a file that ${what} is left; readings go on at once in a new one, of commands`, async (context) => {
    const place = ledgerPlace(context);
    await place.openLedger().record([reading()]);
    damage(place.ledgerFile);
    const receipts = [
      ...(await place.openLedger().record([reading()])),
      ...(await place.openLedger().record([reading()])),
    ];
    assert.equal(receipts.length, 2);
    for (const receipt of receipts) assert.equal(findReceipt(place, receipt).entry?.receipt, receipt);
  });
}

test('a page that is damaged at the end of the open file ends the file, not the service', async (context) => {
  const place = ledgerPlace(context);
  const large = Array.from({ length: 40 }, () => reading({ endUser: 'x'.repeat(200) }));
  for (let i = 0; i < 40; i++) await place.openLedger().record(large);
  const { ledgerFile } = place;
  const db = new Database(ledgerFile);
  db.pragma('wal_checkpoint(TRUNCATE)');
  // The page with the last batches.
  const { pageno } = db
    .prepare(
      "SELECT pageno FROM dbstat WHERE name = 'ledger_batches' AND pagetype = 'leaf' ORDER BY path DESC",
    )
    .get() as { pageno: number };
  db.close();
  const handle = openSync(ledgerFile, 'r+');
  writeSync(handle, Buffer.alloc(4096, 7), 0, 4096, (pageno - 1) * 4096);
  closeSync(handle);
  const { ledger, notes } = openService(context, place);
  const [receipt = ''] = await ledger.record([reading()]);
  assert.match(receipt, /^1-/);
  assert.equal(notes.length, 1, notes.join('\n'));
  assert.match(verifyIn(place).faults.join('\n'), /0001\.db cannot be read|Chain 1, after/);
});

test('a service that finds no file of its ledger, but keys of its months, says so and begins one', async (context) => {
  const place = ledgerPlace(context);
  assert.deepEqual(openService(context, place).notes, []);
  rmSync(place.ledgerFolder, { recursive: true });
  const { ledger, notes } = openService(context, place);
  const message = 'all files are missing, but hashing keys of its months still exist; a new file begins';
  assert.deepEqual(notes, [`access ledger: ${message}`]);
  assert.equal((await ledger.record([reading()])).length, 1);
  assert.equal(notes.length, 1);
});

test('a key that is lost ends the file: nobody could be found in it', async (context) => {
  const place = ledgerPlace(context);
  await place.openLedger().record([reading()]);
  const db = new Database(place.keysFile);
  db.exec('DELETE FROM ledger_keys');
  db.close();
  await place.openLedger().record([reading()]);
  const hashes = allEntries(place).map(({ persons }) => persons?.[0]);
  assert.notEqual(hashes[0], hashes[1]);
  assert.equal(ledgerNames(place).length, 2);
  assert.equal(verifyIn(place).faults.length, 1);
});

test('a ledger of 1.0.0 becomes the first closed file, with its chains, keys and receipts', async (context) => {
  const place = ledgerPlace(context);
  const folder = join(place.databaseFile, '..');
  const { receipts, entries } = writeOldLedger(place);
  assert.equal(allEntries(place).length, entries, 'before anybody has written');
  const [receipt = ''] = await place.openLedger().record([reading()]);
  assert.ok(!existsSync(join(folder, 'registry.ledger.db')));
  assert.match(ledgerNames(place)[0] ?? '', /^2025-07-[0-9a-f]{8}-0000\.db$/);
  for (const each of [...receipts, receipt]) assert.equal(findReceipt(place, each).entry?.receipt, each);
  const verified = verifyIn(place);
  assert.deepEqual([verified.entries, verified.faults], [entries + 1, []]);
});

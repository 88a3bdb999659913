/** What is recorded, by the thread of a service and by commands, and read back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { RegistryError } from '../../../../src/domain/values/errors.ts';
import type { AccessLedger } from '../../../../src/store/contract/access-ledger.ts';
import { StorageError } from '../../../../src/store/contract/storage-error.ts';
import { openCommandLedger } from '../../../../src/store/sqlite/ledger/command-ledger.ts';
import { readMonthKeys } from '../../../../src/store/sqlite/ledger/month-keys.ts';
import { openServiceLedger } from '../../../../src/store/sqlite/ledger/service-ledger.ts';
import { testClock } from '../../../support/app.ts';
import {
  allEntries,
  type LedgerPlace,
  ledgerPlace,
  NID,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';

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
  for (const name of readdirSync(folder)) {
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

test('a file that was taken away takes nothing more: nobody would find it', async (context) => {
  const place = ledgerPlace(context);
  const { ledger, notes } = openService(context, place);
  await ledger.record([reading()]);
  renameSync(place.ledgerFile, `${place.ledgerFile}.away`);
  await assert.rejects(ledger.record([reading()]), { code: 'unavailable', reason: 'ledger' });
  assert.match(notes.join(), /was taken away/);
});

test('the folder of an earlier ledger is refused, with what to do about it', async (context) => {
  const place = ledgerPlace(context);
  mkdirSync(join(place.databaseFile, '..', 'registry.ledger'));
  const recorded = openCommandLedger(place.databaseFile).record([reading()]);
  await assert.rejects(
    recorded,
    (error) => error instanceof StorageError && /Move the folder/.test(error.message),
  );
  assert.ok(!existsSync(place.ledgerFile));
});

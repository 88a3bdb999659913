/** A disk that does not answer: accesses are refused in time, and the service can end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openCommandLedger, readLedgerStatus } from '../../../../src/ledger/open-ledger.ts';
import { MAX_RECORD_MS, openServiceLedger } from '../../../../src/ledger/service-ledger.ts';
import { openDatabase } from '../../../../src/sqlite/open-database.ts';
import { NOON, testClock } from '../../../support/app.ts';
import { ledgerPlace, reading } from '../../../support/sqlite-ledger.ts';

/** Error with the reason that clients and probes see. */
const REFUSED = { code: 'unavailable', reason: 'ledger' };

function openStalling(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const notes: string[] = [];
  const module = new URL('./stalling-thread.ts', import.meta.url);
  const options = { clock: testClock(), days: 730, note: (text: string) => void notes.push(text) };
  const place = ledgerPlace(context);
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const ledger = openServiceLedger(place.databaseFile, options, { module, flag });
  /** Lets the disk answer this number of times. */
  const answer = (times = 1_000) => {
    Atomics.add(flag, 0, times);
    Atomics.notify(flag, 0);
  };
  return { ledger, notes, answer, timers: context.mock.timers };
}

test('a reading that is not on disk after 5 s is refused, and so are others until the disk answers', async (context) => {
  const { ledger, notes, answer, timers } = openStalling(context);
  const first = ledger.record([reading()]);
  const second = ledger.record([reading()]);
  timers.tick(MAX_RECORD_MS - 1);
  assert.equal(ledger.isRecording(), true);
  timers.tick(1);
  await assert.rejects(first, REFUSED);
  await assert.rejects(second, REFUSED);
  assert.equal(ledger.isRecording(), false);
  await assert.rejects(ledger.record([reading()]), REFUSED);
  answer();
  while (!ledger.isRecording()) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await ledger.record([reading()])).length, 1);
  assert.deepEqual(notes, [
    'access ledger: the disk has not answered for 5 s',
    'access ledger: readings are recorded again',
  ]);
  await ledger.close();
});

test('the 5 s of a reading begin when it comes, not when the batch before it is on disk', async (context) => {
  const { ledger, answer, timers } = openStalling(context);
  const first = ledger.record([reading()]);
  timers.tick(1_000);
  const late = assert.rejects(ledger.record([reading()]), REFUSED);
  timers.tick(3_000);
  answer(1);
  assert.equal((await first).length, 1);
  // The thread has the second one now, and does not answer.
  timers.tick(MAX_RECORD_MS - 3_000 - 1);
  assert.equal(ledger.isRecording(), true);
  timers.tick(1);
  await late;
  answer();
  await ledger.close();
});

test('a ledger whose disk does not answer can be closed', async (context) => {
  const { ledger, timers } = openStalling(context);
  const given = ledger.record([reading()]);
  const closed = ledger.close();
  timers.tick(MAX_RECORD_MS);
  await assert.rejects(given, REFUSED);
  await new Promise((resolve) => setImmediate(resolve));
  timers.tick(1_000);
  await closed;
  assert.equal(ledger.isRecording(), false);
});

test('status finds a ledger that takes no entries', async (context) => {
  const place = ledgerPlace(context);
  const { databaseFile } = place;
  await openCommandLedger(databaseFile).record([reading()]);
  const readFault = () => readLedgerStatus(databaseFile, { nowMs: NOON, days: 730 })?.fault;
  assert.equal(readFault(), null);
  const other = openDatabase(place.ledgerFile, { waitMs: 0, secureDelete: 'FAST' });
  other.transaction.immediate(() => assert.equal(readFault(), 'does not answer'));
  other.close();
});

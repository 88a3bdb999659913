/** What is removed from the ledger when its time is over, and what the clock has no say in. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AccessLedger } from '../../../../src/store/contract/access-ledger.ts';
import { openCommandLedger } from '../../../../src/store/sqlite/ledger/command-ledger.ts';
import { readLedgerCondition } from '../../../../src/store/sqlite/ledger/condition.ts';
import { LedgerWriter } from '../../../../src/store/sqlite/ledger/ledger-writer.ts';
import { readMonthKeys } from '../../../../src/store/sqlite/ledger/month-keys.ts';
import { openServiceLedger } from '../../../../src/store/sqlite/ledger/service-ledger.ts';
import { NOON } from '../../../support/app.ts';
import {
  allEntries,
  findReceipt,
  type LedgerPlace,
  ledgerPlace,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';

const DAY = 24 * 3600 * 1000;

/** A batch for each time, in this order. @returns their receipts */
async function write({ databaseFile }: LedgerPlace, ...times: readonly number[]): Promise<string[]> {
  const ledger = openCommandLedger(databaseFile);
  const receipts: string[] = [];
  for (const timeMs of times) receipts.push(...(await ledger.record([reading({ timeMs })])));
  return receipts;
}

/** Removes all that is older than 730 days. @returns how many readings that were */
function remove({ databaseFile }: LedgerPlace, nowMs: number): number {
  const writer = new LedgerWriter(databaseFile, 1_000);
  try {
    let removed = 0;
    for (let part = -1; part !== 0; removed += part)
      part = writer.removeOld({ nowMs, beforeMs: nowMs - 730 * DAY });
    return removed;
  } finally {
    writer.close();
  }
}

const sequences = (place: LedgerPlace) => allEntries(place).map(({ sequence }) => sequence);

test('what is old goes from the beginning with the keys of its months, and the rest is sound', async (context) => {
  const place = ledgerPlace(context);
  const now = NOON + 800 * DAY;
  const receipts = await write(place, NOON, NOON + 1, NOON + 40 * DAY, NOON + 100 * DAY, now);
  assert.equal(remove(place, now), 3);
  assert.deepEqual(sequences(place), [4, 5]);
  assert.deepEqual(verifyIn(place).faults, []);
  assert.equal(readMonthKeys(place.keysFile).size, 2);
  assert.match(findReceipt(place, receipts[0] as string).message, /was removed when its time was over/);
  assert.notEqual(findReceipt(place, receipts[3] as string).entry, undefined);
  const { removed, removedAtMs, entries } = readLedgerCondition(place.databaseFile) ?? {};
  assert.deepEqual([removed, removedAtMs, entries], [3, now, 2]);
  await write(place, now);
  assert.deepEqual(sequences(place), [4, 5, 6]);
});

test('a chain that is emptied goes on with the number after its last one', async (context) => {
  const place = ledgerPlace(context);
  await write(place, NOON, NOON);
  assert.equal(remove(place, NOON + 800 * DAY), 2);
  await write(place, NOON + 800 * DAY);
  assert.deepEqual(sequences(place), [3]);
  assert.deepEqual(verifyIn(place).faults, []);
});

test('an entry from the future keeps nothing alive, and goes with those around it', async (context) => {
  const place = ledgerPlace(context);
  const [future, now] = [NOON + 73 * 365 * DAY, NOON + 800 * DAY];
  await write(place, NOON, future, NOON + DAY, now);
  assert.equal(remove(place, now), 3);
  assert.deepEqual(sequences(place), [4]);
});

test('a clock that stepped back removes nothing before what is not old', async (context) => {
  const place = ledgerPlace(context);
  const now = NOON + 800 * DAY;
  await write(place, now - DAY, NOON, now);
  assert.equal(remove(place, now), 0);
  assert.deepEqual(sequences(place), [1, 2, 3]);
});

interface Ticking {
  readonly ledger: AccessLedger;
  readonly notes: readonly string[];
  /** Both clocks go on by so much; the wall clock steps by so much more. */
  pass(ms: number, stepMs?: number): void;
}

function openTicking(context: TestContext, { databaseFile }: LedgerPlace, startMs: number): Ticking {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let [wallMs, monotonicMs] = [startMs, 0];
  const clock = { now: () => wallMs, monotonicMs: () => monotonicMs };
  const notes: string[] = [];
  const ledger = openServiceLedger(databaseFile, { clock, days: 730, note: (text) => void notes.push(text) });
  return {
    ledger,
    notes,
    pass(ms, stepMs = 0) {
      [wallMs, monotonicMs] = [wallMs + ms + stepMs, monotonicMs + ms];
      context.mock.timers.tick(ms);
    },
  };
}

test('a service removes what is old a day after its start, and says so', async (context) => {
  const place = ledgerPlace(context);
  await write(place, NOON, NOON);
  const { ledger, notes, pass } = openTicking(context, place, NOON + 800 * DAY);
  pass(DAY - 1);
  await ledger.record([reading({ timeMs: NOON + 801 * DAY })]);
  assert.equal(allEntries(place).length, 3);
  pass(1);
  while (notes.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await ledger.close();
  assert.deepEqual(sequences(place), [3]);
  assert.match(notes.join(), /^access ledger: removed 2 readings from before 2025-/);
});

for (const [what, stepMs] of [
  ['73 years ahead', 73 * 365 * DAY],
  ['an hour back', -3_600_000],
] as const)
  test(`a clock that was set, ${what}, removes nothing that day`, async (context) => {
    const place = ledgerPlace(context);
    await write(place, NOON, NOON + 800 * DAY);
    const { ledger, notes, pass } = openTicking(context, place, NOON + 800 * DAY);
    pass(DAY, stepMs);
    await ledger.close();
    assert.equal(allEntries(place).length, 2);
    assert.match(notes.join(), /the clock was set/);
  });

test('a start with a clock that is 73 years ahead removes nothing', async (context) => {
  const place = ledgerPlace(context);
  await write(place, NOON);
  const { ledger, notes } = openTicking(context, place, NOON + 73 * 365 * DAY);
  await ledger.record([reading({ timeMs: NOON + 73 * 365 * DAY })]);
  await ledger.close();
  assert.equal(allEntries(place).length, 2);
  assert.deepEqual(notes, []);
});

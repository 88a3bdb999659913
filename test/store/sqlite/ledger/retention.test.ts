/** Removal of files from the ledger after the retention period, even with a wrong clock. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { encodeAccesses } from '../../../../src/ledger/ledger-entries.ts';
import { LedgerWriter } from '../../../../src/ledger/ledger-writer.ts';
import { readMonthKeys } from '../../../../src/ledger/month-keys.ts';
import { pruneLedger, readLedgerStatus } from '../../../../src/ledger/open-ledger.ts';
import { openServiceLedger } from '../../../../src/ledger/service-ledger.ts';
import { temporaryFolder } from '../../../support/app.ts';
import { quickOrLong } from '../../../support/quick-or-long.ts';
import {
  allEntries,
  findReceipt,
  type LedgerPlace,
  ledgerNames,
  ledgerPlace,
  ledgerPlaceIn,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';

const DAY = 24 * 3600 * 1000;

/** The middle of the n-th month. */
const month = (n: number): number => Date.UTC(2020, n, 15);

/** Records an access in each month, in this order. @returns the receipts */
async function write(place: LedgerPlace, months: readonly number[]): Promise<string[]> {
  const receipts: string[] = [];
  for (const n of months)
    receipts.push(...(await place.openLedger().record([reading({ timeMs: month(n) })])));
  return receipts;
}

const upTo = (n: number): number[] => Array.from({ length: n + 1 }, (_, i) => i);

/** About six months. */
const DAYS = 183;
const prune = ({ databaseFile }: LedgerPlace, nowMs: number, inspectedNames: readonly string[] = []) =>
  pruneLedger(databaseFile, { nowMs, days: DAYS, inspectedNames });

const tooOld = ({ databaseFile }: LedgerPlace, nowMs: number) =>
  readLedgerStatus(databaseFile, { nowMs, days: DAYS })?.tooOld;

test('files that are old go with the keys of their months, and the rest is sound', async (context) => {
  const place = ledgerPlace(context);
  const receipts = await write(place, upTo(9));
  const before = ledgerNames(place);
  const { names, entries } = prune(place, month(9));
  assert.deepEqual([names, entries], [before.slice(0, 3), 3]);
  assert.deepEqual(ledgerNames(place), before.slice(3));
  assert.equal(readMonthKeys(place.keysFile).size, 7);
  assert.deepEqual(verifyIn(place).faults, []);
  assert.match(findReceipt(place, receipts[0] as string).message, /was older than the retention period/);
  assert.equal(findReceipt(place, receipts[3] as string).entry?.receipt, receipts[3]);
  const { removed, removedAtMs } =
    readLedgerStatus(place.databaseFile, { nowMs: month(9), days: DAYS }) ?? {};
  assert.deepEqual([removed, removedAtMs], [3, month(9)]);
  assert.deepEqual(prune(place, month(9)).names, []);
});

for (const [what, aheadMs] of [
  ['an hour', 3_600_000],
  ['a year', 365 * DAY],
  ['73 years', 73 * 365 * DAY],
] as const)
  test(`a clock that is ${what} ahead, for however long, removes as many files as it adds`, async (context) => {
    const place = ledgerPlace(context);
    await write(place, upTo(8));
    prune(place, month(8));
    const left = ledgerNames(place).length;
    for (let i = 0; i < 5; i++) {
      const nowMs = month(8) + aheadMs + i * 40 * DAY;
      await place.openLedger().record([reading({ timeMs: nowMs })]);
      prune(place, nowMs);
      assert.ok(ledgerNames(place).length >= left, `after ${i}`);
    }
    assert.equal(ledgerNames(place).length >= left, true);
  });

test('a clock that is decades behind removes as many files as it adds', async (context) => {
  const place = ledgerPlace(context);
  await write(place, upTo(8));
  prune(place, month(8));
  const before = ledgerNames(place);
  await place.openLedger().record([reading({ timeMs: Date.parse('1971-01-01') })]);
  prune(place, Date.parse('1971-01-01'));
  await write(place, [8]);
  prune(place, month(8));
  const lost = before.filter((name) => !ledgerNames(place).includes(name));
  assert.ok(lost.length <= 1, lost.join());
});

test('a file of a clock that was ahead keeps nothing alive once later months have files', async (context) => {
  const place = ledgerPlace(context);
  await write(place, [0, 900, ...upTo(9).slice(1)]);
  const { names } = prune(place, month(9));
  assert.deepEqual(
    names.map((name) => name.slice(0, 7)),
    ['2020-01', '2095-01', '2020-02', '2020-03'],
  );
});

test('a file that is too old while later months are missing waits for somebody to look', async (context) => {
  const place = ledgerPlace(context);
  await write(place, [0, 1, 30]);
  const [first = '', second = ''] = ledgerNames(place);
  assert.deepEqual(prune(place, month(30)).names, []);
  assert.deepEqual(tooOld(place, month(30)), [first, second]);
  assert.deepEqual(prune(place, month(30), [first, second]).names, [first, second]);
  assert.deepEqual([tooOld(place, month(30)), verifyIn(place).faults], [[], []]);
});

test('a file of a clock that was decades behind makes no earlier file look too old', async (context) => {
  const place = ledgerPlace(context);
  await write(place, [4, 5, 6, 7, 8]);
  await place.openLedger().record([reading({ timeMs: Date.parse('1971-01-01') })]);
  await write(place, [8]);
  const before = ledgerNames(place);
  assert.equal(before.length, 7);
  assert.deepEqual(tooOld(place, month(8)), []);
  assert.deepEqual(prune(place, month(8), before).names, []);
});

test('a file that cannot be read goes with the key of its month, unless another file may need that', async (context) => {
  const place = ledgerPlace(context);
  await write(place, upTo(9));
  const months = () => {
    const db = new Database(place.keysFile, { readonly: true });
    const found = db.prepare('SELECT month FROM ledger_keys ORDER BY month').pluck().all();
    db.close();
    return found;
  };
  const all = months();
  const [first = '', second = ''] = ledgerNames(place).map((name) => join(place.ledgerFolder, name));
  writeFileSync(first, 'in the way');
  writeFileSync(second, 'in the way');
  // The clock goes back to the second month once more.
  await write(place, [1]);
  assert.equal(prune(place, month(9)).names.length, 3);
  assert.deepEqual(months(), [all[1], ...all.slice(3)]);
});

test('a service that has stood still names what it removes in the newest file', async (context) => {
  const place = ledgerPlace(context);
  await write(place, [0, 1]);
  const idle = new LedgerWriter(place.databaseFile, 1_000);
  context.after(() => idle.close());
  idle.append(encodeAccesses([reading({ timeMs: month(2) })]));
  await write(place, upTo(12).slice(3));
  const names = ledgerNames(place);
  assert.deepEqual(idle.removeOld({ nowMs: month(12), days: DAYS }).names, names.slice(0, 7));
  assert.deepEqual(verifyIn(place).faults, []);
  assert.equal(readLedgerStatus(place.databaseFile, { nowMs: month(12), days: DAYS })?.removed, 7);
});

test('whether a file was removed in time cannot be known while the one that would say so is damaged', async (context) => {
  const place = ledgerPlace(context);
  await write(place, upTo(9));
  const [, , third = ''] = ledgerNames(place);
  prune(place, month(9));
  await write(place, [10]);
  const damaged = ledgerNames(place).at(-2) ?? '';
  writeFileSync(join(place.ledgerFolder, damaged), 'in the way');
  const faults = verifyIn(place).faults.join('\n');
  const unknown = `is missing. Whether its time was over or it was taken away cannot be known, as ${damaged}`;
  assert.ok(faults.includes(`${third} ${unknown}`), faults);
  assert.doesNotMatch(faults, /is missing, with/);
});

test('how many readings were removed is a total', async (context) => {
  const place = ledgerPlace(context);
  const removedAt = (nowMs: number) => readLedgerStatus(place.databaseFile, { nowMs, days: DAYS })?.removed;
  await write(place, upTo(9));
  prune(place, month(9));
  await write(place, upTo(20).slice(10));
  const { entries } = prune(place, month(20));
  assert.deepEqual([entries, removedAt(month(20))], [12, 15]);
});

test('the newest file stays however old it is', async (context) => {
  const place = ledgerPlace(context);
  await write(place, [0]);
  assert.deepEqual(prune(place, month(400), ledgerNames(place)).names, []);
});

test('a service removes what is old half a minute after its start, and says so', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const place = ledgerPlace(context);
  await write(place, upTo(9));
  const notes: string[] = [];
  const ledger = openServiceLedger(place.databaseFile, {
    clock: { now: () => month(9), monotonicMs: () => 0 },
    days: DAYS,
    note: (text) => void notes.push(text),
  });
  context.mock.timers.tick(30_000);
  while (notes.length === 0) await new Promise((resolve) => setImmediate(resolve));
  context.mock.timers.reset();
  await ledger.close();
  assert.equal(allEntries(place).length, 7);
  assert.match(notes.join(), /^access ledger: removed 3 readings older than 183 days: 2020-01-.*, 2020-03-/);
});

test('with clocks of any kind, what is removed is never newer than what is kept, and at most what is added', async (context) => {
  const root = temporaryFolder(context);
  const offsets = fc.constantFrom(
    0,
    0,
    0,
    0,
    3_600_000,
    -3_600_000,
    20 * 365 * DAY,
    -30 * 365 * DAY,
    400 * DAY,
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(offsets, { minLength: 3, maxLength: 12 }), async (steps) => {
      const place = ledgerPlaceIn(`${root}/${run++}`);
      await write(place, upTo(6));
      const real = ledgerNames(place).length;
      let wrong = 0;
      for (const [i, offset] of steps.entries()) {
        // The clock is wrong within one true month.
        const nowMs = month(6) + i * 60_000 + offset;
        if (Math.abs(offset) > 20 * DAY) wrong++;
        const before = ledgerNames(place);
        await place.openLedger().record([reading({ timeMs: nowMs })]);
        const { names } = prune(place, nowMs);
        assert.deepEqual(names, before.slice(0, names.length), 'the oldest first');
      }
      assert.ok(ledgerNames(place).length >= real - 1, `${ledgerNames(place)} after ${wrong} wrong clocks`);
      assert.deepEqual(verifyIn(place).faults, []);
      rmSync(`${root}/${run - 1}`, { recursive: true });
    }),
    { numRuns: quickOrLong(3, 15) },
  );
});

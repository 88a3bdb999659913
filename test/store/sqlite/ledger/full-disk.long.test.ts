/** Accesses while the disk is full: the open file and its log have room for some. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { encodeAccesses } from '../../../../src/ledger/ledger-entries.ts';
import { LedgerWriter } from '../../../../src/ledger/ledger-writer.ts';
import { readLedgerStatus } from '../../../../src/ledger/open-ledger.ts';
import { openServiceLedger } from '../../../../src/ledger/service-ledger.ts';
import { NOON, temporaryFolder, testClock } from '../../../support/app.ts';
import { fill, mount } from '../../../support/small-disk.ts';
import {
  allEntries,
  findReceipt,
  ledgerNames,
  ledgerPlaceIn,
  reading,
  verifyIn,
} from '../../../support/sqlite-ledger.ts';

/** Mounts a small disk. @returns its folder; undefined where nothing can be mounted */
function smallDisk(context: TestContext, sizeMb: number): string | undefined {
  let mounted: string | undefined;
  // Runs before the temporary folder is removed.
  context.after(() => mounted && execFileSync('umount', ['--lazy', mounted]));
  const folder = join(temporaryFolder(context), 'disk');
  const lacking = mount(folder, sizeMb);
  if (lacking === undefined) mounted = folder;
  else context.diagnostic(lacking);
  return mounted;
}

function openService(context: TestContext, databaseFile: string) {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const ledger = openServiceLedger(databaseFile, { clock: testClock(), days: 730, note });
  context.after(() => ledger.close());
  return { ledger, notes };
}

/** Batches of this size, as under load. */
const BATCH = Array.from({ length: 32 }, () => reading());

/** More than the 50,840 accesses of a complete reserve, so that no step is under way. */
const SETTLED = 51_700;

test('on a full disk tens of thousands of readings are recorded, with receipts that verify; then none', async (context) => {
  const folder = smallDisk(context, 128);
  if (folder === undefined) return;
  const place = ledgerPlaceIn(folder);
  const { ledger, notes } = openService(context, place.databaseFile);
  const receipts: string[] = [...(await ledger.record([reading()]))];
  // The thread adds to the reserve between accesses.
  while ((ledger.state?.().reservedAccesses ?? 0) < SETTLED)
    receipts.push(...(await ledger.record([reading()])));
  const retention = { nowMs: NOON, days: 730 };
  assert.ok((readLedgerStatus(place.databaseFile, retention)?.reservedAccesses ?? 0) >= 50_000);
  fill(folder, 0);
  const before = receipts.length;
  let refused: unknown;
  while (refused === undefined && receipts.length < 200_000)
    try {
      receipts.push(...(await ledger.record(BATCH)));
    } catch (error) {
      refused = error;
    }
  const recorded = receipts.length - before;
  context.diagnostic(`${recorded} readings on a full disk`);
  assert.ok(recorded > 60_000, String(recorded));
  assert.deepEqual((refused as { reason?: string })?.reason, 'ledger');
  const left = readLedgerStatus(place.databaseFile, retention)?.reservedAccesses ?? 0;
  assert.ok(left < 500, String(left));
  assert.match(notes.join(), /full/);
  assert.equal(ledgerNames(place).length, 1, 'a full disk is no damage');
  rmSync(join(folder, 'ballast'));
  receipts.push(...(await ledger.record([reading()])));
  assert.equal(allEntries(place).length, receipts.length);
  const { entries, faults } = verifyIn(place);
  assert.deepEqual([entries, faults], [receipts.length, []]);
  for (const receipt of [receipts[0], receipts[before], receipts.at(-2), receipts.at(-1)])
    assert.equal(findReceipt(place, receipt as string).entry?.receipt, receipt);
});

test('a writer without the thread, or one whose steps come late, uses the reserve as well', async (context) => {
  const folder = smallDisk(context, 128);
  if (folder === undefined) return;
  const place = ledgerPlaceIn(folder);
  const { ledger } = openService(context, place.databaseFile);
  while ((ledger.state?.().reservedAccesses ?? 0) < SETTLED) await ledger.record([reading()]);
  const writer = new LedgerWriter(place.databaseFile, 1_000);
  context.after(() => writer.close());
  let recorded = 0;
  const append = () => {
    writer.append(encodeAccesses(BATCH));
    recorded += BATCH.length;
  };
  append();
  await ledger.close();
  fill(folder, 0);
  assert.throws(() => {
    while (recorded < 200_000) append();
  }, /full/);
  assert.ok(recorded > 60_000, String(recorded));
});

test('the reserve is not taken while the disk could be full before it is on the disk', async (context) => {
  const folder = smallDisk(context, 128);
  if (folder === undefined) return;
  fill(folder, 60);
  const { ledger } = openService(context, ledgerPlaceIn(folder).databaseFile);
  for (let i = 0; i < 20; i++) assert.equal((await ledger.record([reading()])).length, 1);
  assert.ok((ledger.state?.().reservedAccesses ?? 0) < 1_000);
  rmSync(join(folder, 'ballast'));
  while ((ledger.state?.().reservedAccesses ?? 0) < SETTLED) await ledger.record([reading()]);
});

test('a month that changes on a full disk goes on in the file of the month before', async (context) => {
  const folder = smallDisk(context, 128);
  if (folder === undefined) return;
  const place = ledgerPlaceIn(folder);
  const { ledger } = openService(context, place.databaseFile);
  while ((ledger.state?.().reservedAccesses ?? 0) < SETTLED) await ledger.record([reading()]);
  fill(folder, 0);
  const next = () => ledger.record([reading({ timeMs: NOON + 40 * 24 * 3_600_000 })]);
  assert.equal((await next()).length, 1);
  assert.equal(ledgerNames(place).length, 1);
  rmSync(join(folder, 'ballast'));
  await next();
  assert.equal(ledgerNames(place).length, 2);
  assert.deepEqual(verifyIn(place).faults, []);
});

const LIMITED = fileURLToPath(new URL('./limited-files.ts', import.meta.url));

test('a file that the system lets grow no more is replaced, and a batch that fits in none is refused', (context) => {
  const place = ledgerPlaceIn(temporaryFolder(context));
  // About a megabyte, as shells count it.
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 2048 && exec "$0" "$@"', process.execPath, LIMITED, place.databaseFile],
    { encoding: 'utf8', timeout: 60_000 },
  );
  const { receipts, refused } = JSON.parse(stdout || JSON.stringify({ receipts: [], refused: stderr }));
  assert.match(refused, /disk/);
  assert.equal(receipts.length, 400);
  assert.ok(ledgerNames(place).length > 1);
  for (const receipt of [receipts[0], receipts.at(-1)])
    assert.equal(findReceipt(place, receipt).entry?.receipt, receipt);
  assert.deepEqual(verifyIn(place).faults, []);
});

/** Disks that fail: nothing is acknowledged that is not on disk, and the chain stays sound. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemFunctions, type WritingFunctions } from '../../src/ledger/files/durable.ts';
import { HeadInDoubt } from '../../src/ledger/files/heads.ts';
import { openPersonHash } from '../../src/ledger/files/identity-hash.ts';
import { chainFolderOf, headsFileOf, keyFileOf, segmentFileOf } from '../../src/ledger/files/paths.ts';
import { encodeReadings } from '../../src/ledger/files/reading-text.ts';
import { type LedgerBatch, readLedger } from '../../src/ledger/read/read-ledger.ts';
import { verifyLedger, verifyReceipt } from '../../src/ledger/read/verify.ts';
import { ChainWriter, type Recorded } from '../../src/ledger/write/chain-writer.ts';
import { claimChain, type LedgerPlace } from '../../src/ledger/write/claim-chain.ts';
import { RESERVE_BYTES } from '../../src/ledger/write/segment-files.ts';
import { toReceipts } from '../../src/ledger/write/unrecorded.ts';
import { temporaryFolder } from '../support/app.ts';
import { allEntries, ledgerPlace, ledgerPlaceIn, NID, reading } from '../support/ledger.ts';

interface Disk {
  /** Of the file: writes beyond it fail as on a full disk. */
  fullAt: number;
  failsToSync: boolean;
  /** Called when a sync has succeeded. */
  onSync: () => void;
}

interface Opened {
  readonly disk: Disk;
  readonly ledger: string;
  readonly file: string;
  readonly writer: ChainWriter;
  append(text?: string): Recorded;
}

const error = (code: string) => Object.assign(new Error(code), { code, syscall: 'write' });

function openOn(context: TestContext, place: LedgerPlace = ledgerPlace(context)): Opened {
  const disk: Disk = { fullAt: Number.POSITIVE_INFINITY, failsToSync: false, onSync: () => undefined };
  const functions = {
    ...systemFunctions,
    writeSync(handle: number, bytes: Buffer, offset: number, length: number, position: number) {
      const room = Math.max(disk.fullAt - position, 0);
      if (room === 0) throw error('ENOSPC');
      return systemFunctions.writeSync(handle, bytes, offset, Math.min(length, room), position);
    },
    fdatasyncSync(handle: number) {
      if (disk.failsToSync) throw error('EIO');
      systemFunctions.fdatasyncSync(handle);
      disk.onSync();
    },
  } as WritingFunctions;
  const { state, lock } = claimChain(place);
  const writer = new ChainWriter(state, functions);
  context.after(() => {
    writer.close();
    lock.release();
  });
  const ledger = place.ledgerFolder;
  return {
    ...{ disk, ledger, writer, file: segmentFileOf(chainFolderOf(ledger, 1), 1) },
    append: (text = encodeReadings([reading()])) => writer.append([text]),
  };
}

test('a batch is acknowledged when it has been synced: what was on disk then has it', (context) => {
  const { disk, ledger, append } = openOn(context);
  const copies = temporaryFolder(context);
  let copy = '';
  disk.onSync = () => {
    copy = join(mkdtempSync(join(copies, 'copy-')), 'registry.ledger');
    cpSync(ledger, copy, { recursive: true, filter: (source) => !source.endsWith('.lock') });
  };
  for (let i = 0; i < 5; i++) {
    const [receipt = ''] = toReceipts(append(), 1);
    assert.equal(verifyReceipt(copy, receipt).entry?.receipt, receipt);
  }
});

test('a full disk: the reserve is used, then readings are refused, and recorded again when there is room', (context) => {
  const { disk, ledger, append } = openOn(context);
  disk.fullAt = RESERVE_BYTES;
  const text = encodeReadings(Array.from({ length: 500 }, () => reading()));
  let recorded = 0;
  assert.throws(
    () => {
      for (;;) {
        append(text);
        recorded += 500;
      }
    },
    { code: 'ENOSPC' },
  );
  assert.ok(recorded >= 10_000, `${recorded} were recorded`);
  assert.throws(() => append(text), { code: 'ENOSPC' });
  disk.fullAt = Number.POSITIVE_INFINITY;
  assert.equal(append(text).first, recorded + 1);
  assert.deepEqual(verifyLedger(ledger), {
    ...{ entries: recorded + 500, faults: [], notes: [] },
    chains: [{ chain: 1, entries: recorded + 500, fault: null, notes: [], removed: [] }],
  });
});

test('a sync that fails is not acknowledged, and the next batch takes its place, a shorter one too', (context) => {
  const { disk, ledger, append } = openOn(context);
  append();
  disk.failsToSync = true;
  const long = encodeReadings(Array.from({ length: 50 }, () => reading({ requestId: 'refused' })));
  for (let i = 0; i < 2; i++) assert.throws(() => append(long), { code: 'EIO' });
  disk.failsToSync = false;
  assert.equal(append().first, 2);
  assert.equal(append(long).first, 3);
  const { entries, faults, notes } = verifyLedger(ledger);
  assert.deepEqual([entries, faults, notes], [52, [], []]);
});

test('a segment that cannot be followed by a new one is written on, and closed when there is room', (context) => {
  const place = ledgerPlace(context);
  const { state, lock } = claimChain(place);
  context.after(() => lock.release());
  let isFull = true;
  const functions = {
    ...systemFunctions,
    writeSync(handle: number, bytes: Buffer, offset: number, length: number, position: number) {
      if (isFull && bytes[0] === 0) throw error('ENOSPC');
      return systemFunctions.writeSync(handle, bytes, offset, length, position);
    },
  } as WritingFunctions;
  const writer = new ChainWriter(state, functions, 1_000);
  context.after(() => writer.close());
  const text = encodeReadings(Array.from({ length: 500 }, () => reading()));
  for (let i = 0; i < 4; i++) writer.append([text]);
  const segments = () => new Set(segmentsOf(place)).size;
  assert.equal(segments(), 1);
  isFull = false;
  for (let i = 0; i < 4; i++) writer.append([text]);
  assert.ok(segments() > 1);
  const { segment, lines } = [...readLedger(place.ledgerFolder)].at(-1) as LedgerBatch;
  const person = openPersonHash(state.folder, segment)?.(NID) ?? '';
  assert.ok(lines.includes(person), 'the numbers of a segment are hashed with its key');
  assert.deepEqual(verifyLedger(place.ledgerFolder).faults, []);
});

const segmentsOf = (place: LedgerPlace): number[] => {
  const places: number[] = [];
  verifyLedger(place.ledgerFolder, ({ segment }) => void places.push(segment));
  return places;
};

/** Writes three batches, changes the file, and opens it as the next process does. */
function reopenAfter(context: TestContext, change: (file: string, lastBatch: number) => void) {
  const folder = temporaryFolder(context);
  const place = ledgerPlaceIn(folder);
  const { state, lock } = claimChain(place);
  const writer = new ChainWriter(state);
  const text = encodeReadings(Array.from({ length: 20 }, () => reading()));
  for (let i = 0; i < 3; i++) writer.append([text]);
  writer.close();
  lock.release();
  const file = segmentFileOf(state.folder, 1);
  change(file, readFileSync(file, 'latin1').lastIndexOf('{"first"'));
  const next = openOn(context, place);
  next.append();
  return { ...verifyLedger(place.ledgerFolder), chains: allEntries(place).map(({ chain }) => chain) };
}

const SECTOR = 512;

test('a batch that a power cut has torn is dropped, and the next one says so', (context) => {
  const { entries, faults, notes } = reopenAfter(context, (file, last) => {
    const bytes = readFileSync(file);
    bytes.fill(0, Math.ceil((last + 1_000) / SECTOR) * SECTOR, Math.ceil((last + 3_000) / SECTOR) * SECTOR);
    writeFileSync(file, bytes);
  });
  assert.deepEqual([entries, faults], [41, []]);
  assert.match(
    notes.join(),
    /^Chain 1, segment 1, batch of 41: before it, [0-9]+ bytes of a batch were dropped/,
  );
});

test('a reserve that a power cut has taken is written again', (context) => {
  const { entries, faults, notes } = reopenAfter(context, (file) => {
    const { length } = readFileSync(file, 'latin1').replace(/\0+$/, '');
    truncateSync(file, length);
  });
  assert.deepEqual([entries, faults, notes], [61, [], []]);
});

test('a chain that is damaged is left as it is, and another one is taken', (context) => {
  let [damaged, before] = ['', ''];
  const { faults, chains } = reopenAfter(context, (file) => {
    writeFileSync(file, readFileSync(file, 'latin1').replace('"key_id":7', '"key_id":8'), 'latin1');
    [damaged, before] = [file, readFileSync(file, 'latin1')];
  });
  assert.equal(readFileSync(damaged, 'latin1'), before);
  assert.match(faults.join(), /^Chain 1, segment 1, batch of 1: it was changed/);
  assert.equal(chains.at(-1), 2);
});

test('a segment that was taken away takes nothing more: nobody would find it', (context) => {
  const { file, writer, append } = openOn(context);
  append();
  rmSync(file);
  // It is looked at again after a second.
  Object.assign(writer, { placeSeenMs: Number.NEGATIVE_INFINITY });
  assert.throws(() => append(), /segment 1 was taken away/);
});

test('a head that may not be on disk ends the writer, and the next one goes on behind it', (context) => {
  const place = ledgerPlace(context);
  const { state, lock } = claimChain(place);
  let isSyncing = true;
  const functions = {
    ...systemFunctions,
    fsyncSync(handle: number) {
      if (!isSyncing && readFileSync(headsFileOf(state.folder)).length > 0) throw error('EIO');
      systemFunctions.fsyncSync(handle);
    },
  } as WritingFunctions;
  const writer = new ChainWriter(state, functions, 1);
  const text = encodeReadings([reading()]);
  const receipts = toReceipts(writer.append([text]), 1);
  isSyncing = false;
  assert.throws(() => writer.append([text]), HeadInDoubt);
  writer.close();
  lock.release();
  const next = claimChain(place);
  context.after(() => next.lock.release());
  const follower = new ChainWriter(next.state);
  receipts.push(...toReceipts(follower.append([text]), 1));
  follower.close();
  assert.deepEqual(verifyLedger(place.ledgerFolder).faults, []);
  for (const receipt of receipts)
    assert.equal(verifyReceipt(place.ledgerFolder, receipt).entry?.receipt, receipt);
});

for (const [how, damage] of [
  ['cut off', () => Buffer.alloc(0)],
  ['changed', (key: Buffer) => key.fill(1, 0, 1)],
] as const)
  test(`a chain whose key was ${how} is left as it is, and another one is taken`, (context) => {
    const place = ledgerPlace(context);
    const first = claimChain(place);
    const writer = new ChainWriter(first.state);
    writer.append([encodeReadings([reading()])]);
    writer.close();
    first.lock.release();
    const key = keyFileOf(first.state.folder, 1);
    writeFileSync(key, damage(readFileSync(key)));
    const { state, damaged, lock } = claimChain(place);
    context.after(() => lock.release());
    assert.deepEqual([state.chain, damaged], [2, [1]]);
    assert.match(verifyLedger(place.ledgerFolder).faults[0] ?? '', /segment 1: its key is damaged/);
  });
